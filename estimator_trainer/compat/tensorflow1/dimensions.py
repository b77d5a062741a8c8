"""Sizes that are whole floats, which TensorFlow 1.15 took: `units / 2` is one in Python 3."""

from __future__ import annotations

import functools
import numbers
from typing import Any

import tensorflow as tf


def accept_floats() -> None:
    """Makes shapes take whole floats; another float is a ValueError, as in TensorFlow 1.15."""
    kind: Any = tf.compat.v1.Dimension
    strict = kind.__init__
    if hasattr(strict, "is_strict"):
        return

    @functools.wraps(strict)
    def accept(self: Any, value: Any) -> None:
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
            if not float(value).is_integer():
                raise ValueError(f"Ambiguous dimension: {value}")
            value = int(float(value))
        strict(self, value)

    accept.is_strict = False  # type: ignore[attr-defined]
    kind.__init__ = accept
