"""Reads and decodes a data set that fits in memory once, and gathers its batches from there.

A batch costs one gather per feature, however slow a record is to read. The order of an epoch is a
permutation of the whole set, computed when needed instead of stored: a block cipher on the
records' numbers (the op of `tf.random.experimental.index_shuffle`).
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

# TFDS has the same limit for encoded files, but decoded images are many times larger.
LIMIT_BYTES = 250 * 1024**2


def record_bytes(records: tf.data.Dataset) -> Optional[int]:
    """Returns the size of a record, strings not counted; None if not all are of one shape."""
    total = 0
    for spec in tf.nest.flatten(records.element_spec):
        if not isinstance(spec, tf.TensorSpec) or not spec.shape.is_fully_defined():
            return None
        total += spec.shape.num_elements() * (0 if spec.dtype == tf.string else spec.dtype.size)
    return total


def training_batches(
    whole: tf.data.Dataset,
    batch_size: int,
    epochs: int,
    seed: Optional[int],
    finish: Callable[[Any], Any],
) -> tf.data.Dataset:
    """Returns full batches of all records, epoch after epoch; a batch may span two.

    Args:
      whole: One element, with all records as dense tensors [records, ...] in an order that never
        changes; none if there is no record. `batch` makes it of records, with an upper bound of
        their number, for which memory may be reserved.
      batch_size: Number of records in a batch.
      epochs: Number of passes over the records; 0: without end.
      seed: Seed of the order, together with the graph's; None keeps the order of `whole`.
      finish: A function from a batch, structured as a record of tensors [batch, ...], to what the
        dataset yields.
    """
    seeds = None if seed is None else tf.compat.v1.get_seed(seed)
    whole = whole.cache()

    def count(everything: Any) -> tf.Tensor:
        return tf.shape(tf.nest.flatten(everything)[0], tf.int64)[0]

    def gather(number: tf.Tensor, everything: Any) -> Any:
        total = count(everything)
        position = number * batch_size + tf.range(batch_size, dtype=tf.int64)
        rows = position % total
        if seeds is not None:
            rows = _permuted(rows, position // total, total, seeds)
        return finish(tf.nest.map_structure(lambda tensor: tf.gather(tensor, rows), everything))

    # Only with a repeat does tf.data know that a dataset has no end.
    numbers = tf.data.Dataset.range(2**62).repeat()
    numbered = tf.data.Dataset.zip((numbers, whole.repeat()))
    if epochs:
        numbered = numbered.take_while(
            lambda number, everything: (number + 1) * batch_size <= count(everything) * epochs)
    return numbered.map(gather, num_parallel_calls=tf.data.AUTOTUNE)


def _permuted(rows: tf.Tensor, epochs: tf.Tensor, total: tf.Tensor,
              seeds: tuple[int, int]) -> tf.Tensor:
    """Returns the rows' positions, int64 [batch], in the order of their epochs."""
    size = tf.size(rows)
    seed = tf.stack([tf.fill([size], tf.constant((value or 0) % 2**32, tf.uint32))
                     for value in seeds] + [tf.cast(epochs, tf.uint32)], axis=1)
    # `index_shuffle` itself fails on a seed for each index, and with its 4 rounds consecutive
    # epochs are similar; tf.data's own global shuffling uses 8.
    return tf.raw_ops.RandomIndexShuffle(index=rows, seed=seed, max_index=total - 1, rounds=8)
