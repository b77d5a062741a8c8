"""Gradients in 16 bit on their way between processes, which halves the bytes of an all-reduce.

They are rounded before they are added and stay 32 bit everywhere else: variables, slots and what
the optimizer computes. bfloat16 keeps the range of float32 with 8 bits of precision, float16 has
11 bits and overflows above 65,504.
"""

from __future__ import annotations

from typing import Any, Iterable

import tensorflow as tf


def compress(strategy: tf.distribute.Strategy, dtype: tf.DType) -> tf.distribute.Strategy:
    """Makes a strategy send dense float32 gradients as `dtype`.

    Every optimizer of TensorFlow hands its gradients to `StrategyExtended.batch_reduce_to`.

    Returns:
      The same strategy.
    """
    extended = strategy.extended
    # Its class, since a copy of the strategy trains.
    extended.__class__ = _compressing(type(extended), dtype)
    return strategy


def _compressing(kind: type, dtype: tf.DType) -> type:
    """Returns a subclass of a kind of StrategyExtended."""

    class Compressing(kind):
        """Casts what it reduces."""

        def batch_reduce_to(self, reduce_op: tf.distribute.ReduceOp,
                            value_destination_pairs: Iterable[Any], options: Any = None) -> Any:
            values, destinations = zip(*value_destination_pairs)
            small = self._cast_each(values, tf.float32, dtype)
            reduced = super().batch_reduce_to(
                reduce_op, list(zip(small, destinations)), options)
            return self._cast_each(reduced, dtype, tf.float32)

        def _cast_each(self, values: Iterable[Any], given: tf.DType, wanted: tf.DType) -> Any:
            def of_replica(values: list[Any]) -> list[Any]:
                return [tf.cast(value, wanted)
                        if isinstance(value, tf.Tensor) and value.dtype == given else value
                        for value in values]

            return self.call_for_each_replica(of_replica, args=(list(values),))

    return Compressing
