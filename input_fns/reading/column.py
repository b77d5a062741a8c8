"""Learns the type of a table's column from its values, and measures its numbers."""

from __future__ import annotations

import math
from typing import Any, Mapping, NamedTuple, Optional

from absl import logging
import numpy as np
import pyarrow as pa

from input_fns.reading import advice
from input_fns.reading.errors import DataFileError
from input_fns.reading.field import is_of, numbers_of
from input_fns.reading.table_scan import Scan

EXPECTED = {int: "an integer", float: "a number", str: "text"}
# A column of which fewer values in ten are numbers is text.
_NUMBERS_OF_TEN = 9
_DIGITS = 6
_PLURALS = {int: "integers", float: "numbers"}
_SHOWN_CHARS, _SHOWN = 60, 3


class Column(NamedTuple):
    """Facts about a column.

    Attributes:
      kind: int, float or str.
      num_empty: Number of empty fields in all lines.
      numbers: The numbers in all fields that are not empty; None for text.
      training: The numbers in the training lines alone; None for text.
      mean: Mean of the numbers in the training lines; 0 for text.
      deviation: Their standard deviation; 1 if all are equal, and for text.
    """

    kind: type
    num_empty: int
    numbers: Optional[np.ndarray] = None
    training: Optional[np.ndarray] = None
    mean: float = 0.0
    deviation: float = 1.0


def column_of(name: str, scan: Scan, kind: Optional[type], params: Mapping[str, Any]) -> Column:
    """Returns the facts about a column that follow from the lines.

    Args:
      name: The column.
      scan: The lines.
      kind: The type that the user has set, or None.
      params: The params of `input_fns/csv.py`.

    Raises:
      DataFileError: A value in a column of numbers is not one, or no line has a value.
    """
    values = scan.columns[name]
    is_full = ~values.is_any_of(("", params["na_value"]))
    num_empty = len(values) - int(is_full.sum())
    _check_empty(name, scan, is_full, kind, params)
    if kind is str:
        return Column(str, num_empty)
    kind, numbers = _numbers(name, scan, np.flatnonzero(is_full), kind, params)
    if numbers is None:
        return Column(str, num_empty)
    if kind is not str and num_empty and params["empty_numbers"] == "error":
        raise DataFileError(f"{scan.place(int(np.argmin(is_full)))}{empty_value(name)}")
    training = numbers[scan.is_training[is_full]]
    return Column(kind, num_empty, numbers, training, *measured(training))


def measured(numbers: np.ndarray) -> tuple[float, float]:
    """Returns mean and standard deviation, rounded to float32."""
    if not len(numbers) or numbers.min() == numbers.max():
        return float(numbers[0]) if len(numbers) else 0.0, 1.0
    mean = float(np.mean(numbers, dtype=np.float64))
    deviation = float(f"{np.std(numbers, dtype=np.float64):.{_DIGITS}g}")
    if not deviation:
        return mean, 1.0
    return round(mean, _DIGITS - math.ceil(math.log10(deviation))), deviation


def bad_value(name: str, value: str, kind: type, params: Mapping[str, Any],
              among: str = "", is_alone: bool = True) -> str:
    """Returns what is wrong with a value and how to mend it, worded to follow its place.

    Args:
      name: The column.
      value: The text of the field.
      kind: The column's type.
      params: The params of `input_fns/csv.py`.
      among: Words on the other values.
      is_alone: Whether no other text of the column is known that is not of the type.
    """
    is_label = name == params["label"]
    remedies = ["Correct or delete the line"]
    if kind is int and is_of(value, float):
        remedies.append(f"read the column as float: {advice.of_type(name, 'float', params)}")
    elif "\0" not in value:
        if is_alone and not params["na_value"]:
            remedies.append("let this text stand for an empty field: "
                            + advice.typed("na_value", value)
                            + " --param empty_labels=leave_out" * is_label)
        if not is_label:
            remedies.append(f"read the column as text: {advice.of_type(name, 'text', params)}")
    return (f": {'label' if is_label else 'column'} {name!r} is {_shortened(value)!r}{among}; "
            f"expected {EXPECTED[kind]}. {', or '.join(remedies)}")


def empty_value(name: str) -> str:
    """Returns the problem of an empty number, worded to follow its place."""
    return (f": column {name!r} is empty, and empty_numbers is 'error'; expected a number. Correct "
            "the line, or let it be filled: --param empty_numbers=mean")


def empty_label(name: str, others: str = "") -> str:
    """Returns the problem of a missing label, worded to follow its place."""
    return (f": label {name!r} is missing{others}. Correct the line, or leave such lines out: "
            "--param empty_labels=leave_out")


def _check_empty(name: str, scan: Scan, is_full: np.ndarray, kind: Optional[type],
                 params: Mapping[str, Any]) -> None:
    """Raises DataFileError if a label is missing, or no line to train on has a value."""
    if name == params["label"] and not is_full.all():
        raise DataFileError(scan.place(int(np.argmin(is_full))) + empty_label(
            name, f", as in {int((~is_full).sum()):,} of {scan.extent}"))
    is_needed = kind is not str and name not in params["columns"]
    if is_needed and not (is_full & scan.is_training).any():
        raise DataFileError(
            f"column {name!r} is empty in {scan.extent} of the training files; expected values, or "
            f"the column left out. For example: {advice.dropped(name, params)}")


def _numbers(name: str, scan: Scan, lines: np.ndarray, kind: Optional[type],
             params: Mapping[str, Any]) -> tuple[type, Optional[np.ndarray]]:
    """Returns the type of a column and its numbers, None for text.

    Args:
      name: The column.
      scan: The lines.
      lines: The indices of the lines that have a value in the column.
      kind: int, float, or None if it is not known.
      params: The params of `input_fns/csv.py`.
    """
    texts = scan.columns[name].arrow
    if len(lines) < len(texts):
        texts = texts.take(pa.array(lines))
    for candidate in (kind,) if kind else (int, float):
        numbers = numbers_of(texts, candidate)
        if numbers is not None:
            return candidate, numbers
    different, counts = texts.value_counts().flatten()
    good = [is_of(value, kind or float) for value in different.to_pylist()]
    count, bad = int(counts.to_numpy()[good].sum()), different[good.index(False)]
    first, total = texts.index(bad).as_py(), len(texts)
    if kind is None and 10 * count < _NUMBERS_OF_TEN * total:
        if 2 * count > total:
            logging.warning("column %r is text: %s of its %s values are numbers, and the first "
                            "other one is %r, %s", name, f"{count:,}", f"{total:,}", bad.as_py(),
                            scan.place(int(lines[first])))
        return str, None
    among = f", and {count:,} of the {total:,} values are {_PLURALS[kind or float]}"
    others = [value for value, is_good in zip(different.to_pylist(), good)
              if not is_good and value != bad.as_py()]
    if others:
        among += f", others {', '.join(repr(_shortened(value)) for value in others[:_SHOWN])}"
        among += ", ..." * (len(others) > _SHOWN)
    raise DataFileError(scan.place(int(lines[first])) + bad_value(
        name, bad.as_py(), kind or float, params, among, is_alone=not others))


def _shortened(value: str) -> str:
    return value if len(value) <= _SHOWN_CHARS else f"{value[:_SHOWN_CHARS]}..."
