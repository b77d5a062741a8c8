"""Decides which texts of a table are numbers, as TensorFlow reads them."""

from __future__ import annotations

from typing import Optional, Sequence, Union

import numpy as np
from pyarrow import compute
import pyarrow as pa

Value = Union[int, float, str]


class Number(str):
    """The text of a value that is a number already, and so in no format of people."""


# Unlike Python, TensorFlow 2.15 does not read "+5" as an integer, and no TensorFlow reads "1_000"
# or the digits of other scripts.
_INT_CHARACTERS = frozenset("0123456789- \t")
_FLOAT_CHARACTERS = frozenset("0123456789-+.eE \t")
# Fewer values are not worth a conversion to Arrow's.
_MANY = 100
MOST = float(np.finfo(np.float32).max)
_INT64 = np.iinfo(np.int64)


def is_of(value: str, kind: type) -> bool:
    """Returns whether the text of a field can be read as int, float or str."""
    if kind is str:
        return True
    # The first character of most texts shows that they are no numbers.
    return value[:1] in _FLOAT_CHARACTERS and numbers_of([value], kind) is not None


def numbers_of(values: Union[Sequence[str], pa.ChunkedArray], kind: type
               ) -> Optional[np.ndarray]:
    """Returns the numbers, int64 or float64 [values]; None if a value is not of the kind.

    A number that is not finite in float32 (`nan`, `inf`, `1e39`) is of neither kind: it would make
    the loss NaN.

    Args:
      values: The texts of fields.
      kind: int or float.
    """
    if len(values) >= _MANY:
        if not is_of(str(values[0]), kind):
            return None
        found = _converted(values, kind)
        if found is not None:
            return found
    if isinstance(values, pa.ChunkedArray):
        values = values.to_pylist()
    # Joined, so that the match does not need a Python loop over the values.
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
    return array if (np.abs(array) <= MOST).all() else None


def _converted(values: Union[Sequence[str], pa.ChunkedArray], kind: type) -> Optional[np.ndarray]:
    """Returns the numbers as Arrow reads them; None if one of them needs a closer look."""
    try:
        texts = values if isinstance(values, pa.ChunkedArray) else pa.array(values, pa.string())
        if kind is int:
            integers: np.ndarray = texts.cast(pa.int64()).to_numpy()
            # Arrow reads hexadecimal integers.
            has_x = any(compute.any(compute.match_substring(texts, x)).as_py() for x in "xX")
            return None if has_x else integers
        array: np.ndarray = texts.cast(pa.float64()).to_numpy()
        return array if (np.abs(array) <= MOST).all() else None
    except (pa.ArrowException, ValueError):
        return None


def is_finite(value: str) -> bool:
    """Returns whether the text of a field is no number that is `nan` or infinite."""
    try:
        return bool(abs(float(value)) <= MOST)
    except ValueError:
        return True
