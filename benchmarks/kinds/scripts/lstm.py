"""Trains an LSTM on sequences of several lengths, in padded batches."""

from __future__ import annotations

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import numpy as np
import tensorflow as tf

from benchmarks.kinds.scripts import job

_EXAMPLES, _TOKENS, _BATCH, _UNITS = 4000, 1000, 32, 32
_LENGTHS = (5, 25)


def input_fn() -> tf.data.Dataset:
    """Returns shuffled batches of tokens, as long as the longest sequence of a batch."""
    random = np.random.RandomState(0)
    lengths = random.randint(*_LENGTHS, _EXAMPLES)
    tokens = random.randint(1, _TOKENS, (_EXAMPLES, _LENGTHS[1]))
    dataset = tf.data.Dataset.from_tensor_slices((tokens, lengths)).map(
        lambda row, length: ({"tokens": row[:length], "length": length}, row[0] % 2))
    return dataset.shuffle(_EXAMPLES).repeat().padded_batch(_BATCH).prefetch(2)


def _model_fn(features, labels, mode):
    words = tf.compat.v1.get_variable("words", [_TOKENS, _UNITS])
    inputs = tf.nn.embedding_lookup(words, features["tokens"])
    mask = tf.sequence_mask(features["length"], tf.shape(features["tokens"])[1])
    state = tf.keras.layers.LSTM(_UNITS)(inputs, mask=mask)
    logits = tf.compat.v1.layers.dense(state, 2)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    return job.spec(mode, loss, tf.compat.v1.train.AdamOptimizer(1e-3))


def main() -> None:
    """Trains."""
    options = job.flags()
    job.train(tf.estimator.Estimator(_model_fn, config=job.run_config(options)), input_fn, options)


if __name__ == "__main__":
    main()
