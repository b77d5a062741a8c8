"""Batches for replicas: an evaluation's batches, split so that every replica gets a part of each.

Left to itself, a strategy in a graph gives replica i of n the batches i, i + n and so on, and ends
when a replica has none left: what the others compute in that step is counted or lost by chance.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def split(dataset: tf.data.Dataset, num_replicas: int) -> tf.data.Dataset:
    """Splits every batch into `num_replicas` parts, whose sizes differ by one at most.

    No part may be empty, since the mean loss of no examples is NaN; so a last batch of fewer
    examples than replicas joins the one before.

    Args:
      dataset: Batches: a structure of dense or sparse tensors, the batch dimension first.
      num_replicas: 2 or more.

    Returns:
      The parts in order, `num_replicas` a batch; reading them raises InvalidArgumentError if
      there are fewer examples than replicas.
    """

    def parts(wrapped: dict[str, Any]) -> tf.data.Dataset:
        size = _size(wrapped)
        tf.debugging.Assert(size >= num_replicas, [
            f"the evaluation set has fewer examples than {num_replicas} replicas"])
        return tf.data.Dataset.range(num_replicas).map(
            lambda i: _part(wrapped, i * size // num_replicas, (i + 1) * size // num_replicas))

    # Wrapped, a batch is one argument whatever its structure: tuples would be unpacked.
    wrapped = dataset.map(lambda *batch: {"batch": batch if len(batch) > 1 else batch[0]})
    return _joined(wrapped, num_replicas).flat_map(parts).map(lambda part: part["batch"])


def _joined(dataset: tf.data.Dataset, least: int) -> tf.data.Dataset:
    """Joins every batch of fewer than `least` examples to the one before."""

    def hold_back(held: Any, batch: Any) -> Any:
        is_small = tf.logical_and(_size(batch) > 0, _size(batch) < least)
        return tf.cond(is_small, lambda: (_concat(held, batch), _nothing(dataset.element_spec)),
                       lambda: (batch, held))

    nothing = _nothing(dataset.element_spec)
    # What is held back at the end comes out when the empty batch goes in.
    return (dataset.concatenate(tf.data.Dataset.from_tensors(nothing))
            .scan(nothing, hold_back).filter(lambda batch: _size(batch) > 0))


def _size(batch: Any) -> tf.Tensor:
    first = tf.nest.flatten(batch)[0]
    is_sparse = isinstance(first, tf.SparseTensor)
    return first.dense_shape[0] if is_sparse else tf.shape(first, out_type=tf.int64)[0]


def _part(batch: Any, start: tf.Tensor, end: tf.Tensor) -> Any:
    def cut(tensor: Any) -> Any:
        if not isinstance(tensor, tf.SparseTensor):
            return tensor[start:end]
        shape = tensor.dense_shape
        return tf.sparse.slice(tensor, tf.concat([[start], tf.zeros_like(shape[1:])], 0),
                               tf.concat([[end - start], shape[1:]], 0))

    return tf.nest.map_structure(cut, batch)


def _concat(first: Any, second: Any) -> Any:
    def join(a: Any, b: Any) -> Any:
        if isinstance(a, tf.SparseTensor):
            return tf.sparse.concat(0, [a, b])
        return tf.concat([a, b], 0)

    return tf.nest.map_structure(join, first, second)


def _nothing(spec: Any) -> Any:
    """Returns a batch of no examples."""

    def empty(tensor: Any) -> Any:
        shape = [0, *(size or 0 for size in tensor.shape[1:])]
        if isinstance(tensor, tf.SparseTensorSpec):
            return tf.SparseTensor(tf.zeros([0, len(shape)], tf.int64), tf.zeros([0], tensor.dtype),
                                   shape)
        return tf.zeros(shape, tensor.dtype)

    return tf.nest.map_structure(empty, spec)
