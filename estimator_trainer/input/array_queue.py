"""Datasets in place of the queues of `numpy_input_fn` and `pandas_input_fn`."""

from typing import Any, Callable, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_trainer.input import batches
from estimator_trainer.patches import op_seeds

# Larger arrays are not constants, because a graph holds at most 2 GB.
_LARGEST_CONSTANT_BYTES = 64_000_000
# Operations that take a batch from a queue: the batch size is one.
_DEQUEUING = 2


class Rows(NamedTuple):
    """The rows of some columns, of which the first are the row numbers, as in a queue.

    With `is_shuffled` each epoch has an order of its own. Without `epochs` there is no end.
    """

    columns: list[np.ndarray]
    is_shuffled: bool
    epochs: int | None
    seed: int | None

    def in_batches(self, size: int, is_partial: bool) -> tf.data.Dataset:
        """Returns batches, each a tuple of tensors; `is_partial` allows a small last one.

        As in a queue, a batch may hold rows of two epochs.
        """
        count = len(self.columns[0])
        # Whole epochs are shuffled and split into batches, which is faster than row by row.
        numbers = (tf.data.Dataset.from_tensors(0).repeat(self.epochs)
                   .map(batches.as_it_is(lambda _: self._ordered(count)))
                   .rebatch(size, drop_remainder=not is_partial))
        numbers = numbers.apply(tf.data.experimental.assert_cardinality(
            tf.data.INFINITE_CARDINALITY if self.epochs is None else
            (count * self.epochs + (size - 1 if is_partial else 0)) // size))
        is_large = sum(column.nbytes for column in self.columns) > _LARGEST_CONSTANT_BYTES
        return numbers.map(batches.as_it_is(self._looked_up if is_large else self._gathered))

    def _ordered(self, count: int) -> tf.Tensor:
        numbers = tf.range(count, dtype=tf.int64)
        return tf.random.shuffle(numbers, self.seed) if self.is_shuffled else numbers

    def _gathered(self, numbers: tf.Tensor) -> tuple[tf.Tensor, ...]:
        return tuple(tf.gather(tf.constant(column), numbers) for column in self.columns)

    def _looked_up(self, numbers: tf.Tensor) -> tuple[tf.Tensor, ...]:
        dtypes = [tf.as_dtype(column.dtype) for column in self.columns]
        found = tf.numpy_function(
            lambda wanted: [column[wanted] for column in self.columns], [numbers], dtypes)
        for tensor, column in zip(found, self.columns):
            tensor.set_shape([*numbers.shape, *column.shape[1:]])
        return tuple(found)


class ArrayQueue:
    """In place of a queue of rows; `take` returns the next element of a dataset, a batch."""

    def __init__(self, content: Rows, take: Callable[[tf.data.Dataset], tuple[tf.Tensor, ...]]):
        self._content, self._take = content, take

    def dequeue_many(self, size: int) -> list[tf.Tensor]:
        """Returns a batch of `size` rows, column by column."""
        return self._taken(size, is_partial=False)

    def dequeue_up_to(self, size: int) -> list[tf.Tensor]:
        """Returns a batch of `size` rows, or of the remaining ones."""
        return self._taken(size, is_partial=True)

    def _taken(self, size: int, is_partial: bool) -> list[tf.Tensor]:
        op_seeds.count(_DEQUEUING)
        with op_seeds.uncounted():
            return list(self._take(self._content.in_batches(size, is_partial)))


def rows(data: Any, capacity: int, shuffle: bool = False, min_after_dequeue: int | None = None,
         num_threads: int = 1, seed: int | None = None, **others: Any) -> Rows | None:
    """Returns the rows that TensorFlow's `_enqueue_data` would put into a queue.

    Data other than arrays, dicts of them and DataFrames, such as a generator, give None. Rows are
    not copied, so `shuffle` is of the whole set, not of `capacity` rows. Each thread of the queue
    adds every row `num_epochs` times; `others` has that, and arguments without effect here.
    """
    if isinstance(data, dict):
        columns = list(data.values())
    elif isinstance(data, np.ndarray):
        columns = [data]
    elif hasattr(data, "columns") and hasattr(data, "index"):
        columns = [data[name].values for name in data.columns]
    else:
        return None
    # The first column is the row's number, or the index of a DataFrame.
    index = data.index.values if hasattr(data, "index") else np.arange(len(columns[0]))
    epochs = others.get("num_epochs")
    return Rows([index, *columns], shuffle, epochs and epochs * num_threads, seed)
