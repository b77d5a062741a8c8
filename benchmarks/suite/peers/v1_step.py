"""Makes the training step of a case in a graph of TensorFlow 1."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.suite.peers import keras_layers


def optimizer(case: str) -> tf.compat.v1.train.Optimizer:
    """Returns the optimizer of a case."""
    train = tf.compat.v1.train
    return train.GradientDescentOptimizer(0.01) if case == "cnn" else train.AdamOptimizer(0.001)


def build(case: str, image: tf.Tensor, label: tf.Tensor) -> tuple[tf.Operation, tf.Tensor]:
    """Builds a case's network for a batch.

    Args:
      case: The case of the suite.
      image: float32 [batch, height, width, channels].
      label: int64 [batch], classes from 0.

    Returns:
      The operation that makes the step, and counts it in the global step; the mean loss, a scalar.
    """
    logits = keras_layers.network(case)(image)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits))
    step = tf.compat.v1.train.get_or_create_global_step()
    return optimizer(case).minimize(loss, step), loss
