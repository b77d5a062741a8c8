"""Reads and decodes a data set that fits in memory once, and gathers its batches from there.

A batch costs one gather per feature, however slow a record is to read. The order of an epoch is a
permutation of the whole set, computed when needed instead of stored: a block cipher on the
records' numbers (the op of `tf.random.experimental.index_shuffle`).
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple, Optional
import zlib

import numpy as np
import tensorflow as tf

# TFDS has the same limit for encoded files, but decoded images are many times larger.
LIMIT_BYTES = 250 * 1024**2
# AutoGraph has nothing to convert here.
_plain = tf.autograph.experimental.do_not_convert
# More batches than a training has, and less than an int64 holds of records.
_ENDLESS = 2**40
_MOST_AT_A_TIME, _LEAST_REQUESTS = 16, 128


class Order(NamedTuple):
    """The order of a training on records that have a number.

    Attributes:
      batch_size: Number of records in a batch.
      seeds: The two seeds of the order; None for the order of the numbers.
    """

    batch_size: int
    seeds: Optional[tuple[int, int]]

    def positions(self, number: tf.Tensor) -> tf.Tensor:
        """Returns the places of a batch's records in the training, int64 [batch]."""
        return number * self.batch_size + tf.range(self.batch_size, dtype=tf.int64)

    def rows(self, number: tf.Tensor, total: Any) -> tf.Tensor:
        """Returns the numbers of a batch's records among `total` ones, int64 [batch]."""
        positions = self.positions(number)
        rows = positions % total
        if self.seeds is None:
            return rows
        return _permuted(rows, positions // total, tf.cast(total, tf.int64), self.seeds)

    def gathered(self, number: tf.Tensor, everything: Any) -> Any:
        """Returns a batch of all records."""
        rows = self.rows(number, _count(everything))
        return tf.nest.map_structure(lambda tensor: tf.gather(tensor, rows), everything)


def order_of(batch_size: int, seed: Optional[int]) -> Order:
    """Returns the order that a seed decides, together with the graph's; see `training_batches`."""
    return Order(batch_size, None if seed is None else tf.compat.v1.get_seed(seed))


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
    order = order_of(batch_size, seed)
    whole = whole.cache()

    # Only with a repeat does tf.data know that a dataset has no end.
    numbers = tf.data.Dataset.range(2**62).repeat()
    numbered = tf.data.Dataset.zip((numbers, whole.repeat()))
    if epochs:
        numbered = numbered.take_while(
            lambda number, everything: (number + 1) * batch_size <= _count(everything) * epochs)
    return numbered.map(lambda number, everything: finish(order.gathered(number, everything)),
                        num_parallel_calls=tf.data.AUTOTUNE)


@_plain
def handed_out_batches(
    whole: tf.data.Dataset,
    most: int,
    order: Order,
    epochs: int,
    finish: Callable[[tf.Tensor, Any], Any],
) -> tf.data.Dataset:
    """Returns the same batches as `training_batches`, for processes that divide the dataset.

    The source of the dataset is a range of the batches' numbers, of which each process takes other
    ones. Each process reads `whole` once.

    Args:
      whole: As for `training_batches`, with one record or more.
      most: Number of records, or an upper bound.
      order: The order of the records.
      epochs: As for `training_batches`.
      finish: As for `training_batches`, of the batch's number, an int64 scalar, and the batch.
    """
    whole = whole.cache()
    last = most * epochs // order.batch_size if epochs else _ENDLESS
    # A process requests several numbers at a time; a slow one has to leave some to the others.
    at_a_time = max(1, min(_MOST_AT_A_TIME, last // _LEAST_REQUESTS))

    def numbered(start: tf.Tensor) -> tf.data.Dataset:
        everything = tf.data.experimental.get_single_element(whole)
        end = tf.minimum(start + at_a_time, last)
        if epochs:
            end = tf.minimum(end, _count(everything) * epochs // order.batch_size)
        return tf.data.Dataset.zip((tf.data.Dataset.range(start, end),
                                    tf.data.Dataset.from_tensors(everything).repeat()))

    dataset = tf.data.Dataset.range(0, last, at_a_time).flat_map(numbered).map(
        lambda number, everything: finish(number, order.gathered(number, everything)),
        num_parallel_calls=tf.data.AUTOTUNE)
    return dataset if epochs else endless(dataset)


def checksum(arrays: Iterable[np.ndarray]) -> int:
    """Returns a number by which two processes recognize that they have read the same arrays.

    Floats do not count: a mean that replaces a missing one may differ between two machines.
    """
    found = 0
    for array in arrays:
        found = zlib.crc32(repr((array.shape, array.dtype.str)).encode(), found)
        if array.dtype.kind != "f":
            found = zlib.crc32(b"\0".join(array.ravel().tolist()) if array.dtype == object else
                               np.ascontiguousarray(array), found)
    return found


@_plain
def handed_out_rows(records: int, order: Order, epochs: int) -> tf.data.Dataset:
    """Returns the records of full batches, for processes that divide the dataset.

    An element is a pair of int64 scalars: a record's place in the training, and its number among
    `records`. The source is a range of the batches' numbers.
    """
    def batch(number: tf.Tensor) -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(
            (order.positions(number), order.rows(number, records)))

    last = records * epochs // order.batch_size if epochs else _ENDLESS
    dataset = tf.data.Dataset.range(last).flat_map(batch)
    return dataset if epochs else endless(dataset)


def endless(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns the dataset, of which tf.data then knows that it has no end."""
    return dataset.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))


def _count(everything: Any) -> tf.Tensor:
    return tf.shape(tf.nest.flatten(everything)[0], tf.int64)[0]


def _permuted(rows: tf.Tensor, epochs: tf.Tensor, total: tf.Tensor,
              seeds: tuple[int, int]) -> tf.Tensor:
    """Returns the rows' positions, int64 [batch], in the order of their epochs."""
    size = tf.size(rows)
    seed = tf.stack([tf.fill([size], tf.constant((value or 0) % 2**32, tf.uint32))
                     for value in seeds] + [tf.cast(epochs, tf.uint32)], axis=1)
    # `index_shuffle` itself fails on a seed for each index, and with its 4 rounds consecutive
    # epochs are similar; tf.data's own global shuffling uses 8.
    return tf.raw_ops.RandomIndexShuffle(index=rows, seed=seed, max_index=total - 1, rounds=8)
