"""Trains on words: a vocabulary column with an embedding, and a table that gives words a weight."""

from __future__ import annotations

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import numpy as np
import tensorflow as tf

from benchmarks.kinds.scripts import job

_EXAMPLES, _COLUMNS, _BATCH = 20_000, 4, 128
_WORDS = [f"word{i}" for i in range(1000)]


def input_fn() -> tf.data.Dataset:
    """Returns shuffled batches of one word for each column; the label follows from the first."""
    numbers = np.random.RandomState(0).randint(0, len(_WORDS), (_EXAMPLES, _COLUMNS))
    features = {f"c{i}": np.array(_WORDS)[numbers[:, i]] for i in range(_COLUMNS)}
    labels = (numbers[:, 0] % 3 == 0).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    return dataset.shuffle(_EXAMPLES).repeat().batch(_BATCH).prefetch(2)


def _model_fn(features, labels, mode):
    columns = [tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_vocabulary_list(f"c{i}", _WORDS), 16)
        for i in range(_COLUMNS)]
    weights = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        _WORDS, [1.0 + i % 2 for i in range(len(_WORDS))]), 1.0)
    inputs = tf.compat.v1.feature_column.input_layer(features, columns)
    hidden = tf.compat.v1.layers.dense(inputs, 64, tf.nn.relu)
    logits = tf.compat.v1.layers.dense(hidden, 1)[:, 0]
    loss = tf.compat.v1.losses.sigmoid_cross_entropy(
        labels, logits, weights.lookup(features["c0"]))
    return job.spec(mode, loss, tf.compat.v1.train.AdagradOptimizer(0.05))


def main() -> None:
    """Trains."""
    options = job.flags()
    job.train(tf.estimator.Estimator(_model_fn, config=job.run_config(options)), input_fn, options)


if __name__ == "__main__":
    main()
