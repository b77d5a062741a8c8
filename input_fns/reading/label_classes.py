"""Learns from a label's values whether they are classes, and which ones."""

from __future__ import annotations

import json
from typing import Any, Mapping, NamedTuple, Sequence

from absl import logging
import numpy as np

from input_fns.reading import table_file
from input_fns.reading.column import Column
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.table import wants_kinds
from input_fns.reading.table_scan import Scan

NO_CLASSES = -1
_MOST_CLASSES = 1000
# More classes than these need rows to learn each from; otherwise the label is a count, or a price.
_FEW_CLASSES = 50
_ROWS_OF_A_CLASS = 20
MOST_IN_HINT = 50
_SHOWN = 5


class LabelClasses(NamedTuple):
    """Facts about a label.

    Attributes:
      kind: int, float or str.
      facts: The number of classes, -1 if the label is not a class, and the texts of a text label.
      text: The words for the label in the log.
    """

    kind: type
    facts: dict[str, Any]
    text: str


def learned(scan: Scan, column: Column, params: Mapping[str, Any]) -> LabelClasses:
    """Returns the facts about the label that follow from all lines and the params.

    Raises:
      DataFileError: The label is text but not a class, or has only one value.
      DataParamError: The label is text, but num_classes is -1: not a class.
    """
    if column.kind is str:
        return _of_texts(scan, params)
    label = params["label"]
    if params["num_classes"]:
        return _of_numbers(column, params["num_classes"], label)
    assert column.numbers is not None  # The label is not text.
    values = np.unique(column.numbers)
    if column.kind is int and are_numbered(values, len(column.numbers)):
        return _of_numbers(column, len(values), label)
    if wants_kinds(params) and _are_written_classes(scan.columns[label], values):
        return _of_texts(scan, params)
    if column.kind is int and len(values) <= MOST_IN_HINT:
        vocabulary = json.dumps([str(value) for value in values])
        logging.info("label %s has %d values, but not all of 0 to %d: it is taken as a number. If"
                     " they are classes: --param label_vocabulary='%s'", label, len(values),
                     max(values.max(), 1), vocabulary)
    return _of_numbers(column, NO_CLASSES, label)


def are_numbered(values: np.ndarray, rows: int) -> bool:
    """Returns whether labels are classes 0, 1, 2 and so on, with enough rows to learn each.

    Args:
      values: The different labels, ascending.
      rows: The number of labels.
    """
    count = len(values)
    is_few = count <= _FEW_CLASSES or rows >= _ROWS_OF_A_CLASS * count
    return 2 <= count <= _MOST_CLASSES and is_few and np.array_equal(values, np.arange(count))


def check_texts(label: str, texts: Sequence[str], extent: str, first: str, column: str) -> None:
    """Raises DataFileError if the different texts of a label are too many for classes, or one.

    Args:
      label: The label's name.
      texts: Its different texts.
      extent: Where they are, in words, such as "1,000 lines".
      first: A text to show.
      column: What else a label may be, in a word.
    """
    if len(texts) > _MOST_CLASSES:
        raise DataFileError(
            f"label {label!r} has {len(texts):,} different texts in {extent}, and the first "
            f"is {first!r}; expected a number, or at most {_MOST_CLASSES:,} classes. For example, "
            f"another {column}: --param label=NAME")
    if len(texts) < 2:
        raise DataFileError(
            f"label {label!r} is {texts[0]!r} in {extent}; expected two values or more, or all of "
            "them from you. For example: --param label_vocabulary="
            f"'{json.dumps([*texts, 'other'])}'")


def shown(texts: Sequence[str]) -> str:
    """Returns the first of some texts, for the log."""
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")


def _are_written_classes(texts: Sequence[str], values: np.ndarray) -> bool:
    """Returns whether numbers are names of classes: any two, or 0.0, 1.0, 2.0 and so on."""
    is_whole = bool((values == np.round(values)).all())
    is_range = np.array_equal(values, np.arange(len(values)))
    return is_whole and 2 <= len(values) <= (_FEW_CLASSES if is_range else 2) and (
        len(set(texts)) == len(values))


def _of_numbers(column: Column, num_classes: int, label: str) -> LabelClasses:
    what = f"classes 0 to {num_classes - 1}" if num_classes > 0 else "a number, no class"
    return LabelClasses(column.kind, {"num_classes": num_classes},
                        f"{label} {'int64' if column.kind is int else 'float32'}, {what}")


def _of_texts(scan: Scan, params: Mapping[str, Any]) -> LabelClasses:
    label = params["label"]
    texts = params["label_vocabulary"] or sorted(set(scan.columns[label]))
    if params["num_classes"] == NO_CLASSES:
        raise DataParamError(
            f"num_classes is -1, as where the label is no class, and label {label!r} is text; "
            "expected a column of numbers. For example: --param num_classes=0")
    bad = next((i for i, text in enumerate(scan.columns[label])
                if table_file.NO_TEXT in text), None)
    if bad is not None:
        raise DataFileError(f"{scan.place(bad)}: label {label!r} is {scan.columns[label][bad]!r}, "
                            "which has bytes that are no UTF-8; "
                            + table_file.as_utf8(scan.places[bad][0]))
    check_texts(label, texts, scan.extent, scan.columns[label][0], "column")
    num_classes = params["num_classes"] or len(texts)
    if num_classes < len(texts):
        raise DataParamError(
            f"num_classes is {num_classes}, and label {label!r} has {len(texts)} texts; expected "
            f"as many. For example: --param num_classes={len(texts)}")
    return LabelClasses(str, {"label_vocabulary": texts, "num_classes": num_classes},
                        f"{label}, {len(texts)} classes ({shown(texts)})")
