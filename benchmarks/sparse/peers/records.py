"""Writes the records, and reads them as a dataset.

The texts of a column follow a power law, as those of clicks do: a few are in most examples.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from benchmarks.sparse.peers import work

_TEXTS = 1000  # of a column
_POWER = 1.3
_SHUFFLED = 5000
_PARALLEL_CALLS = 2


def write(todo: work.Work, examples: int) -> None:
    """Writes the records and the .npz of a number of columns."""
    random = np.random.default_rng(0)
    weights = random.normal(scale=0.15, size=[todo.columns, _TEXTS]) * np.sqrt(26 / todo.columns)
    numbers = random.normal(size=[examples, work.NUMBERS]).astype(np.float32)
    texts = random.zipf(_POWER, [examples, todo.columns]) % _TEXTS
    logits = weights[np.arange(todo.columns), texts].sum(axis=1) + numbers[:, 0]
    labels = (random.uniform(size=examples) < 1 / (1 + np.exp(-logits))).astype(np.float32)
    todo.data.mkdir(parents=True, exist_ok=True)
    hashed = tf.strings.to_hash_bucket_fast([f"v{i}" for i in range(_TEXTS)], work.BUCKETS)
    np.savez(todo.npz, ids=hashed.numpy()[texts], numbers=numbers, label=labels)
    with tf.io.TFRecordWriter(str(todo.records)) as writer:
        for row in zip(numbers, texts, labels):
            writer.write(_example(todo, *row).SerializeToString())


def _example(todo: work.Work, numbers: np.ndarray, texts: np.ndarray,
             label: float) -> tf.train.Example:
    example = tf.train.Example()
    feature = example.features.feature
    feature["label"].float_list.value.append(label)
    feature["numbers"].float_list.value.extend(numbers)
    for name, text in zip(todo.names, texts):
        feature[name].bytes_list.value.append(b"v%d" % text)
    return example


def batches(todo: work.Work) -> tf.data.Dataset:
    """Returns shuffled batches without end, for training.

    Each has the features, float32 `numbers` [batch, 13] and a string [batch, 1] for each name,
    and the labels, float32 [batch, 1].
    """
    features = {"label": tf.io.FixedLenFeature([1], tf.float32),
                "numbers": tf.io.FixedLenFeature([work.NUMBERS], tf.float32),
                **{name: tf.io.FixedLenFeature([1], tf.string) for name in todo.names}}

    def parse(serialized: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        parsed = tf.io.parse_example(serialized, features)
        label = parsed.pop("label")
        return parsed, label

    return (tf.data.TFRecordDataset(str(todo.records)).shuffle(_SHUFFLED).repeat()
            .batch(todo.batch, drop_remainder=True)
            .map(parse, num_parallel_calls=_PARALLEL_CALLS).prefetch(2))


def hashed_batches(todo: work.Work) -> tf.data.Dataset:
    """Returns the batches with all texts hashed at once.

    Each has int64 ids [columns, batch], float32 numbers [batch, 13] and labels [batch, 1].
    """
    def hashed(features: dict[str, tf.Tensor], label: tf.Tensor) -> tuple[tf.Tensor, ...]:
        texts = tf.stack([features[name][:, 0] for name in todo.names])
        return tf.strings.to_hash_bucket_fast(texts, work.BUCKETS), features["numbers"], label

    return batches(todo).map(hashed, num_parallel_calls=_PARALLEL_CALLS).prefetch(2)
