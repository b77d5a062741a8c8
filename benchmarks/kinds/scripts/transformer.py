"""Trains a small encoder like BERT: two layers of attention, on sequences of 32 tokens."""

from __future__ import annotations

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import numpy as np
import tensorflow as tf

from benchmarks.kinds.scripts import job

_EXAMPLES, _LENGTH, _TOKENS, _BATCH = 4000, 32, 2000, 8
_WIDTH, _HEADS, _LAYERS, _DROPOUT = 64, 4, 2, 0.1


def input_fn() -> tf.data.Dataset:
    """Returns shuffled batches of tokens with padding; the label follows from the first token."""
    random = np.random.RandomState(0)
    tokens = random.randint(1, _TOKENS, (_EXAMPLES, _LENGTH))
    mask = np.arange(_LENGTH) < random.randint(8, _LENGTH + 1, (_EXAMPLES, 1))
    dataset = tf.data.Dataset.from_tensor_slices((
        {"tokens": tokens * mask, "mask": mask.astype(np.float32)}, tokens[:, 0] % 2))
    return dataset.shuffle(_EXAMPLES).repeat().batch(_BATCH).prefetch(2)


def _normalized(x, name):
    with tf.compat.v1.variable_scope(name):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        scale = tf.compat.v1.get_variable("scale", [_WIDTH], initializer=tf.ones_initializer())
        shift = tf.compat.v1.get_variable("shift", [_WIDTH], initializer=tf.zeros_initializer())
        return (x - mean) * tf.math.rsqrt(variance + 1e-12) * scale + shift


def _attended(x, mask, rate):
    def heads(name):
        made = tf.reshape(tf.compat.v1.layers.dense(x, _WIDTH, name=name),
                          [-1, _LENGTH, _HEADS, _WIDTH // _HEADS])
        return tf.transpose(made, [0, 2, 1, 3])

    scores = tf.matmul(heads("query"), heads("key"), transpose_b=True)
    scores = scores / (_WIDTH // _HEADS) ** 0.5 - 1e4 * (1 - mask[:, None, None, :])
    mixed = tf.matmul(tf.nn.dropout(tf.nn.softmax(scores), rate=rate), heads("value"))
    return tf.compat.v1.layers.dense(
        tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, _LENGTH, _WIDTH]), _WIDTH, name="mix")


def _model_fn(features, labels, mode):
    dense = tf.compat.v1.layers.dense
    rate = _DROPOUT if mode == tf.estimator.ModeKeys.TRAIN else 0.0
    words = tf.compat.v1.get_variable("words", [_TOKENS, _WIDTH])
    places = tf.compat.v1.get_variable("places", [_LENGTH, _WIDTH])
    x = _normalized(tf.nn.embedding_lookup(words, features["tokens"]) + places, "embeddings")
    for layer in range(_LAYERS):
        with tf.compat.v1.variable_scope(f"layer{layer}"):
            x = _normalized(
                x + tf.nn.dropout(_attended(x, features["mask"], rate), rate=rate), "attention")
            hidden = dense(dense(x, 4 * _WIDTH, tf.nn.gelu, name="wide"), _WIDTH, name="narrow")
            x = _normalized(x + tf.nn.dropout(hidden, rate=rate), "output")
    logits = dense(dense(x[:, 0], _WIDTH, tf.tanh, name="pooled"), 2, name="logits")
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    return job.spec(mode, loss, tf.compat.v1.train.AdamOptimizer(1e-4))


def main() -> None:
    """Trains."""
    options = job.flags()
    job.train(tf.estimator.Estimator(_model_fn, config=job.run_config(options)), input_fn, options)


if __name__ == "__main__":
    main()
