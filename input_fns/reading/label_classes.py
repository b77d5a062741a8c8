"""Learns from a label's values whether they are classes, and which ones."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

from absl import logging
import numpy as np

from input_fns.reading import advice, table_file
from input_fns.reading.advice import MOST_CLASSES
from input_fns.reading.column import Column
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.table import wants_kinds
from input_fns.reading.table_scan import Scan

NO_CLASSES = -1
_MOST_TEXTS = 1000
# More classes than MOST_CLASSES need rows to learn each from; otherwise the label is a count.
_ROWS_OF_A_CLASS = 20
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
      DataParamError: The label is text, but num_classes is -1: not a class; or a number, where the
        params or the model want classes.
    """
    if column.kind is str:
        return _of_texts(scan, params)
    label = params["label"]
    assert column.numbers is not None  # The label is not text.
    values = np.unique(column.numbers)
    if params["num_classes"]:
        _check_numbers(scan, column, values, params)
        return _of_numbers(column, params["num_classes"], label)
    if column.kind is int and are_numbered(values, len(column.numbers)):
        return _of_numbers(column, len(values), label)
    if wants_kinds(params) and _are_written_classes(scan.columns[label], values):
        return _of_texts(scan, params)
    texts = _class_texts(scan, values, label)
    wanted = wanted_classes(params)
    if wanted:
        raise DataParamError(
            f"label {label!r} is a number, with {len(values):,} different values in {scan.extent}, "
            f"and {wanted}; expected a regression model. For example: {advice.as_number(params)}"
            + (f"; or, if the values are classes: {advice.as_classes(texts, params)}"
               if texts else ""))
    if column.kind is int and texts:
        logging.info("label %s has %d values, but not all of 0 to %d: it is taken as a number. If"
                     " they are classes: %s", label, len(values), max(values.max(), 1),
                     advice.as_classes(texts, params))
    return _of_numbers(column, NO_CLASSES, label)


def are_numbered(values: np.ndarray, rows: int) -> bool:
    """Returns whether labels are classes 0, 1, 2 and so on, with enough rows to learn each.

    Args:
      values: The different labels, ascending.
      rows: The number of labels.
    """
    count = len(values)
    is_few = count <= MOST_CLASSES or rows >= _ROWS_OF_A_CLASS * count
    return 2 <= count <= _MOST_TEXTS and is_few and np.array_equal(values, np.arange(count))


def check_texts(label: str, texts: Sequence[str], extent: str, first: str, column: str) -> None:
    """Raises DataFileError if the different texts of a label are too many for classes, or one.

    Args:
      label: The label's name.
      texts: Its different texts.
      extent: Where they are, in words, such as "1,000 lines".
      first: A text to show.
      column: What else a label may be, in a word.
    """
    if len(texts) > _MOST_TEXTS:
        raise DataFileError(
            f"label {label!r} has {len(texts):,} different texts in {extent}, and the first "
            f"is {first!r}; expected a number, or at most {_MOST_TEXTS:,} classes. For example, "
            f"another {column}: --param label=NAME")
    if len(texts) < 2:
        raise DataFileError(
            f"label {label!r} is {texts[0]!r} in {extent}; expected two values or more, or all of "
            "them from you. For example: "
            + advice.typed("label_vocabulary", [*texts, "other"]))


def wanted_classes(params: Mapping[str, Any]) -> str:
    """Returns why the model learns classes and no numbers, as a clause; "" if it learns both."""
    estimator = str(params.get("estimator", ""))
    if estimator.endswith("Classifier"):
        return f"estimator is {estimator!r}"
    return "this model_fn learns classes alone" * advice.learns_classes_alone(params)


def are_classes(params: Mapping[str, Any]) -> bool:
    """Returns whether the model learns classes, if the labels can be classes.

    The models of this program that do have one of these params. The labels of any other model_fn
    are its own affair, and a model_dir of before has `prepare_columns=false`.
    """
    return advice.learns_classes_alone(params) or bool(params.get("prepare_columns"))


def shown(texts: Sequence[str]) -> str:
    """Returns the first of some texts, for the log."""
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")


def _check_numbers(scan: Scan, column: Column, values: np.ndarray,
                   params: Mapping[str, Any]) -> None:
    """Raises DataParamError if numbers are not the classes that num_classes says they are."""
    label, num_classes = params["label"], params["num_classes"]
    is_wrong = values != np.round(values)
    if column.kind is int:
        is_wrong = (values < 0) | (values >= num_classes)
    elif are_classes(params) and not is_wrong.any():
        is_wrong[:] = True  # 1.0 is no text of a class.
    if num_classes < 1 or not is_wrong.any() or not (are_classes(params) or column.kind is int):
        return
    assert column.numbers is not None
    first = int(np.flatnonzero(np.isin(column.numbers, values[is_wrong]))[0])
    texts = _class_texts(scan, values, label)
    remedies = [f"if the label is a number and no class: {advice.as_number(params)}"]
    if texts:
        remedies.insert(0, f"if its values are classes: {advice.as_classes(texts, params)}")
    raise DataParamError(
        f"{scan.place(first)}: label {label!r} is {scan.columns[label][first]}, and num_classes is "
        f"{num_classes}; expected an integer, 0 to {num_classes - 1}. There are {len(values):,} "
        f"different values in {scan.extent}: {', or '.join(remedies)}")


def _class_texts(scan: Scan, values: np.ndarray, label: str) -> list[str]:
    """Returns the texts of a label's numbers in order; [] if they are no names of classes."""
    if not 2 <= len(values) <= MOST_CLASSES or (values != np.round(values)).any():
        return []
    return sorted(set(scan.columns[label]), key=float)


def _are_written_classes(texts: Sequence[str], values: np.ndarray) -> bool:
    """Returns whether numbers are names of classes: any two, or 0.0, 1.0, 2.0 and so on."""
    is_whole = bool((values == np.round(values)).all())
    is_range = np.array_equal(values, np.arange(len(values)))
    return is_whole and 2 <= len(values) <= (MOST_CLASSES if is_range else 2) and (
        len(set(texts)) == len(values))


def _of_numbers(column: Column, num_classes: int, label: str) -> LabelClasses:
    what = f"classes 0 to {num_classes - 1}" if num_classes > 0 else "a number, no class"
    return LabelClasses(column.kind, {"num_classes": num_classes},
                        f"{label} {'int64' if column.kind is int else 'float32'}, {what}")


def _of_texts(scan: Scan, params: Mapping[str, Any]) -> LabelClasses:
    label = params["label"]
    texts = params["label_vocabulary"] or sorted(set(scan.columns[label]))
    estimator = str(params.get("estimator", ""))
    if estimator.endswith("Regressor") and len(texts) > 2:
        classifier = estimator.removesuffix("Regressor") + "Classifier"
        raise DataParamError(
            f"label {label!r} is text, with {len(texts):,} different values in {scan.extent}, and "
            f"estimator is {estimator!r}; expected a classifier. For example: "
            + advice.typed("estimator", classifier))
    if params["num_classes"] == NO_CLASSES:
        raise DataParamError(
            f"num_classes is -1, as where the label is no class, and label {label!r} is text; "
            "expected a column of numbers, or classes. For example: "
            + advice.typed("num_classes", len(texts)))
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
