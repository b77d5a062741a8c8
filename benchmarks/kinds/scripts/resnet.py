"""Trains a ResNet-20 with batch norm on images of 32x32, and writes images to the summaries."""

from __future__ import annotations

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import numpy as np
import tensorflow as tf

from benchmarks.kinds.scripts import job

_EXAMPLES, _SIZE, _CLASSES, _BATCH, _BLOCKS = 2000, 32, 10, 16, 3


def input_fn() -> tf.data.Dataset:
    """Returns shuffled batches of noise, of another brightness for each class."""
    random = np.random.RandomState(0)
    labels = random.randint(0, _CLASSES, _EXAMPLES)
    images = random.rand(_EXAMPLES, _SIZE, _SIZE, 3) + labels[:, None, None, None] / _CLASSES
    dataset = tf.data.Dataset.from_tensor_slices(
        ({"image": images.astype(np.float32)}, labels))
    return dataset.shuffle(_EXAMPLES).repeat().batch(_BATCH).prefetch(2)


def _convolved(x, filters, stride, is_training, is_last=False):
    x = tf.compat.v1.layers.conv2d(x, filters, 3, stride, "same", use_bias=False)
    x = tf.compat.v1.layers.batch_normalization(x, training=is_training)
    return x if is_last else tf.nn.relu(x)


def _model_fn(features, labels, mode):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    tf.compat.v1.summary.image("image", features["image"], 3)
    x = _convolved(features["image"], 16, 1, is_training)
    for stage, filters in enumerate((16, 32, 64)):
        for block in range(_BLOCKS):
            stride = 2 if stage and not block else 1
            y = _convolved(x, filters, stride, is_training)
            y = _convolved(y, filters, 1, is_training, is_last=True)
            if stride > 1:
                x = tf.compat.v1.layers.conv2d(x, filters, 1, stride, use_bias=False)
            x = tf.nn.relu(x + y)
    logits = tf.compat.v1.layers.dense(tf.reduce_mean(x, [1, 2]), _CLASSES)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    return job.spec(mode, loss, tf.compat.v1.train.MomentumOptimizer(0.01, 0.9))


def main() -> None:
    """Trains."""
    options = job.flags()
    job.train(tf.estimator.Estimator(_model_fn, config=job.run_config(options)), input_fn, options)


if __name__ == "__main__":
    main()
