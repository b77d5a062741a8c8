"""Predictions as they are written: a JSON object or a row of a table for each instance."""

import base64
import csv
import io
import json
import math
import re
from typing import Any, Mapping, Sequence

import numpy as np

from estimator_trainer import errors
from estimator_trainer.estimator.passthrough import Answer

_DIGITS = 6
# The names of predictions that are numbers of classes, here and in canned Estimators.
_CLASSES = ("classes", "class_ids", "class_id")
# A canned Estimator predicts these beside its answer.
_OF_CANNED = {"class_ids", "classes", "all_class_ids"}
_BESIDE_CLASS = {"logits", "logistic", "class_ids", "classes", "all_class_ids", "all_classes"}
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


class PredictionWriter:
    """Makes the text of predictions; for a table, with a header first."""

    def __init__(self, class_names: Sequence[str] = (), is_table: bool = False,
                 has_key: bool = True, is_typed: bool = False, is_all: bool = False):
        """Starts with the first instance.

        `is_table`: CSV in place of JSON lines; `has_key`: each instance gets its position as `key`;
        `is_typed`: numbers with all digits, for `next_row`; `is_all`: all that the model predicts.
        """
        self._class_names, self._is_table, self._has_key = tuple(class_names), is_table, has_key
        self._digits, self._is_all = 0 if is_typed else _DIGITS, is_all
        self._as_it_came = _with_type if is_typed else _as_it_came
        self._header: list[str] = []
        self.count = 0

    def next_line(self, answer: Answer, has_inputs: bool = False) -> str:
        """Returns the line of the next instance; the first line of a table follows its header."""
        entry = self.next_entry(answer, has_inputs)
        if not self._is_table:
            return json.dumps(entry) + "\n"
        row = self._row(entry)
        header = "" if self._header else _line(row)
        self._header = self._header or list(row)
        check_columns(row, self._header, self.count - 1)
        return header + _line(row.values())

    def next_row(self, answer: Answer, has_inputs: bool = False) -> dict[str, Any]:
        """Returns the next instance as a row of a table, each of whose columns has one type."""
        row = self._row(self.next_entry(answer, has_inputs))
        label = row.get("label")
        if "label_class" in row:
            row["label"] = None if label is None else str(label)  # Others are names of classes.
        elif type(label) is int and not any(key in answer.predictions for key in _CLASSES):
            row["label"] = float(label)  # Another label may not be whole.
        return row

    def next_entry(self, answer: Answer, has_inputs: bool = False) -> dict[str, Any]:
        """Returns the next instance as JSON; `has_inputs`: with `inputs`, even if it has none."""
        entry: dict[str, Any] = {"key": self.count} if self._has_key else {}
        self.count += 1
        if has_inputs:
            entry["inputs"] = {name: self._as_it_came(value)
                               for name, value in answer.inputs.items()}
        else:
            # Features that tell instances apart, such as an id.
            entry.update({name: self._as_it_came(value) for name, value in answer.inputs.items()})
        name = self._name_of_class(answer.predictions)
        left_out = self._left_out(answer.predictions, name is not None)
        entry.update({key: plain(value, self._digits)
                      for key, value in answer.predictions.items() if key not in left_out})
        if name is not None:
            entry.setdefault("class", name)
        if answer.label is not None:
            for key, value in self._of_label(plain(answer.label, 0)).items():
                entry.setdefault(key, value)
        return entry

    def _name_of_class(self, predictions: Mapping[str, Any]) -> Any:
        """Returns the name of the predicted class, which the model may know; or None."""
        if "class" in predictions:
            return plain(predictions["class"], self._digits)
        numbers = (np.asarray(predictions.get(key)) for key in _CLASSES)
        number = next((value.item() for value in numbers
                       if value.size == 1 and value.dtype.kind in "iu"), None)
        text = np.asarray(predictions.get("classes")).ravel()
        if predictions.keys() >= _OF_CANNED and text.dtype.kind in "OS" and text.size == 1:
            # A canned Estimator whose labels are texts.
            name = plain(text[0])
            return self._name(number) if name == str(number) else name
        return self._name(number)

    def _left_out(self, predictions: Mapping[str, Any], has_name: bool) -> set[str]:
        """Returns the predictions that are not written, or elsewhere."""
        # An export has its outputs in another order than a checkpoint.
        found = {"class"} if has_name and self._class_names else set()
        if self._is_all or not predictions.keys() >= _OF_CANNED:
            return found
        return found | _BESIDE_CLASS - (set() if has_name else {"class_ids"})

    def _name(self, number: Any) -> str | None:
        is_known = isinstance(number, int) and 0 <= number < len(self._class_names)
        return self._class_names[number] if is_known else None

    def _of_label(self, label: Any) -> dict[str, Any]:
        """Returns the label, and the name of its class, which is the label if it is known.

        A text that is a number becomes one.
        """
        while isinstance(label, list) and len(label) == 1:
            label = label[0]
        if isinstance(label, str):
            if label in self._class_names:
                return {"label": label, "label_class": label}
            if not label or _NUMBER.fullmatch(label):
                label = json.loads(label or "null")
        name = self._name(label)
        if name is None and self._class_names and not isinstance(label, (list, float)):
            # Every row of a table has the same columns.
            return {"label": label, "label_class": None}
        return {"label": label} if name is None else {"label": name, "label_class": name}

    def _row(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for name, value in entry.items():
            if name == "inputs":
                row.update({f"input_{each}" if each in entry else each: _cell(inner)
                            for each, inner in value.items()})
            else:
                row.update(self._cells(name, value))
        return row

    def _cells(self, name: str, value: Any) -> dict[str, Any]:
        """Returns the columns of one prediction; a list has one for each element."""
        if not isinstance(value, list):
            return {name: _cell(value)}
        if len(value) == 1:
            return self._cells(name, value[0])
        has_names = name == "probabilities" and len(value) == len(self._class_names)
        cells = {}
        for i, inner in enumerate(value):
            cells.update(self._cells(
                f"probability_{self._class_names[i]}" if has_names else f"{name}_{i}", inner))
        return cells


def check_columns(row: Mapping[str, Any], names: Sequence[str], number: int) -> None:
    """Raises TrainerError if the row of this number does not have the columns of a table."""
    if list(row) != list(names):
        raise differs(number, (sorted(set(row) ^ set(names)) or list(row))[0])


def differs(number: int, name: str) -> errors.TrainerError:
    """Returns the error of a row of which a column does not fit a table that began otherwise."""
    return errors.TrainerError(
        f"the prediction with key {number} differs in {name!r} from the first, so a table cannot"
        " hold both; expected JSON lines. For example:"
        f" {errors.Setting('output', 'predictions.jsonl')}")


def plain(value: Any, digits: int = _DIGITS) -> Any:
    """Returns a value as JSON; bytes that are not text become {"b64": ...}, as in TF Serving.

    `digits` are the most significant digits of a float; 0: all that are needed.
    """
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, np.ndarray):
        return [plain(item, digits) for item in value] if value.ndim else plain(value[()], digits)
    if isinstance(value, (float, np.floating)):
        return float(f"{float(value):.{digits}g}") if digits else float(str(value))
    return value.item() if isinstance(value, np.generic) else value


def _as_it_came(value: Any) -> Any:
    """Returns an input as JSON; a number of a table without `.0`, and None where it is missing.

    The tables of models that prepare columns themselves have all numbers as float64, NaN where a
    field is empty.
    """
    if isinstance(value, (np.float64, np.ndarray)) and value.dtype == np.float64 and not value.ndim:
        number = float(value)
        if math.isnan(number):
            return None
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    return plain(value, 0)


def _with_type(value: Any) -> Any:
    """Returns an input as a value of a typed column; None where it is missing."""
    made = plain(value, 0)
    return None if isinstance(made, float) and math.isnan(made) else made


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _line(cells: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
