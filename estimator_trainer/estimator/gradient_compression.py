"""Gradients in 16 bit on their way between processes, which halves the bytes of an all-reduce.

They are rounded before they are added and stay 32 bit everywhere else: variables, slots and what
the optimizer computes. bfloat16 keeps the range of float32 with 8 bits of precision, float16 has
11 bits and overflows above 65,504.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.estimator import upstream


def compress(strategy: tf.distribute.Strategy, dtype: tf.DType) -> tf.distribute.Strategy:
    """Makes a strategy send dense float32 gradients as `dtype`; returns the same strategy."""
    upstream.convert_gradients(strategy, _cast(tf.float32, dtype), _cast(dtype, tf.float32))
    return strategy


def _cast(given: tf.DType, wanted: tf.DType) -> Callable[[list[Any]], list[Any]]:
    """Returns a function that casts the dense tensors of one dtype, and leaves the others."""

    def cast_each(values: list[Any]) -> list[Any]:
        return [tf.cast(value, wanted)
                if isinstance(value, tf.Tensor) and value.dtype == given else value
                for value in values]

    return cast_each
