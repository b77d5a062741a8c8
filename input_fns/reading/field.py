"""Tells which texts of a table are numbers that TensorFlow reads too."""

from __future__ import annotations

from typing import Optional, Sequence, Union

import numpy as np

Value = Union[int, float, str]

# TensorFlow 2.15 reads no "+5" as an integer; no TensorFlow reads "1_000", or digits of other
# scripts, which Python does.
_INT_CHARACTERS = frozenset("0123456789- \t")
_FLOAT_CHARACTERS = frozenset("0123456789-+.eE \t")
_MOST = np.finfo(np.float32).max
_INT64 = np.iinfo(np.int64)


def is_of(value: str, kind: type) -> bool:
    """Returns whether the text of a field can be read as int, float or str."""
    if kind is str:
        return True
    # Most texts show by their first character that they are no number.
    return value[:1] in _FLOAT_CHARACTERS and numbers_of([value], kind) is not None


def numbers_of(values: Sequence[str], kind: type) -> Optional[np.ndarray]:
    """Returns the numbers, int64 or float64 [values]; None if a value is not of the kind.

    What is no finite number of float32, such as `nan`, `inf` and `1e39`, is of neither kind: one
    of them would make the loss NaN.

    Args:
      values: The texts of fields.
      kind: int or float.
    """
    # Joined, so that no loop of Python's goes through the values.
    if not set("\t".join(values)) <= (_INT_CHARACTERS if kind is int else _FLOAT_CHARACTERS):
        return None
    try:
        numbers = list(map(kind, values))
    except ValueError:
        return None
    if kind is int:
        is_small = not numbers or _INT64.min <= min(numbers) and max(numbers) <= _INT64.max
        return np.array(numbers, np.int64) if is_small else None
    array = np.array(numbers, np.float64)
    return array if (np.abs(array) <= _MOST).all() else None
