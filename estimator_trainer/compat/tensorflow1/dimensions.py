"""Sizes and shapes as TensorFlow 1.15 had them.

Sizes may be whole floats, as `units / 2` is in Python 3. Two shapes with an unknown size are not
equal, so that a program's `if x.shape == y.shape` takes the same way.
"""

from __future__ import annotations

import functools
import numbers
import sys
from typing import Any

import tensorflow as tf

# Packages that compare shapes by the rules of TensorFlow 2.
_NEWER = ("tensorflow", "keras", "tf_keras", "tensorflow_estimator", "tensorflow_probability",
          "tf_slim", "estimator_trainer")


def accept_floats() -> None:
    """Makes shapes take whole floats; another float is a ValueError, as in TensorFlow 1.15."""
    kind: Any = tf.compat.v1.Dimension
    strict = kind.__init__
    if hasattr(strict, "is_strict"):
        return

    @functools.wraps(strict)
    def accept(self: Any, value: Any) -> None:
        value = int(value) if isinstance(value, str) else value
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
            if not float(value).is_integer():
                raise ValueError(f"Ambiguous dimension: {value}")
            value = int(float(value))
        strict(self, value)

    accept.is_strict = False  # type: ignore[attr-defined]
    kind.__init__ = accept


def compare_as_before() -> None:
    """Makes programs, and not TensorFlow, find shapes with an unknown size unequal."""
    kind: Any = tf.TensorShape
    newer = kind.__eq__
    if hasattr(newer, "is_newer"):
        return

    def _is_same(shape: Any, other: Any) -> Any:
        found = newer(shape, other)
        if found is True and shape is not other and not shape.is_fully_defined():
            caller = sys._getframe(2).f_globals.get("__name__", "")
            return shape.rank is None or caller.partition(".")[0] in _NEWER
        return found

    @functools.wraps(newer)
    def __eq__(self: Any, other: Any) -> Any:
        return _is_same(self, other)

    @functools.wraps(kind.__ne__)
    def __ne__(self: Any, other: Any) -> Any:
        found = _is_same(self, other)
        return found if found is NotImplemented else not found

    __eq__.is_newer = False  # type: ignore[attr-defined]
    kind.__eq__, kind.__ne__ = __eq__, __ne__
