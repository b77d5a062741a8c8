"""Checks of the arguments of the integrators."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def times(t: Any) -> Any:
    """Returns times as a tensor, float64 where nothing says otherwise."""
    return v1.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")


def check_types(y0: Any, t: Any, dt: Any = None) -> None:
    """Raises a TypeError unless all are floats; `y0` may be complex."""
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    if not t.dtype.is_floating:
        raise TypeError("`t` must have a floating point dtype")
    if dt is not None and not dt.dtype.is_floating:
        raise TypeError("`dt` must have a floating point dtype")


def increasing(t: Any) -> Any:
    """Returns the context in which operations wait for times to be increasing."""
    return tf.control_dependencies([v1.debugging.Assert(
        tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])])
