"""Checks of arguments that distributions and bijectors share; they run with the values."""

from __future__ import annotations

import functools
from typing import Any, Iterable, Optional

import tensorflow as tf


def after(assertions: Iterable[Any], value: Any) -> Any:
    """Returns a tensor that has a value once assertions hold."""
    assertions = [each for each in assertions if each is not None]
    if not assertions:
        return value
    with tf.control_dependencies(assertions):
        return tf.identity(value)


def size(shape: Any, axis: int) -> Optional[int]:
    """Returns the size of a dimension of a TensorShape, None if that is not known."""
    if shape.rank is None:
        return None
    known: Optional[int] = tf.compat.dimension_value(shape[axis])
    return known


def static_shape(tensors: Iterable[Any]) -> Any:
    """Returns the TensorShape to which tensors are broadcast."""
    return functools.reduce(tf.broadcast_static_shape, [each.shape for each in tensors])


def dynamic_shape(tensors: Iterable[Any]) -> Any:
    """Returns the shape to which tensors are broadcast, int32 of shape [rank]."""
    return functools.reduce(tf.broadcast_dynamic_shape, [tf.shape(each) for each in tensors])


def same_float_dtype(*tensors: Any) -> None:
    """Raises a ValueError unless all tensors have one floating type."""
    tf.debugging.assert_same_float_dtype([each for each in tensors if each is not None])
