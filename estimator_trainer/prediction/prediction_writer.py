"""What is told of one prediction: a JSON object of numbers and text, or a row of a table."""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import json
import os
import posixpath
import re
import sys
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf

from estimator_trainer import errors, storage
from estimator_trainer.estimator.passthrough import Answer

_DIGITS = 6
# The predictions that are numbers of classes, in model_fns of any kind and in canned Estimators.
_CLASSES = ("classes", "class_ids", "class_id")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


class Records:
    """Makes the text of predictions; for a table, with a header first."""

    def __init__(self, class_names: Sequence[str] = (), is_table: bool = False,
                 has_key: bool = True):
        """Begins with the first instance.

        Args:
          class_names: Names of the classes in their order; none if not known.
          is_table: Whether to make CSV in place of JSON lines.
          has_key: Whether each instance gets its position as `key`.
        """
        self._class_names, self._is_table, self._has_key = tuple(class_names), is_table, has_key
        self._header: list[str] = []
        self.count = 0

    def text(self, answer: Answer, has_inputs: bool = False) -> str:
        """Returns the line of one instance, the header before that of the first."""
        record = self.record(answer, has_inputs)
        if not self._is_table:
            return json.dumps(record) + "\n"
        row = self._row(record)
        first = not self._header
        if first:
            self._header = list(row)
        if list(row) != self._header:
            odd = sorted(set(row) ^ set(self._header)) or list(row)
            raise errors.TrainerError(
                f"the prediction with key {self.count - 1} differs in {odd[0]!r} from the first,"
                " so a table cannot hold both; expected JSON lines. For example:"
                " --output=predictions.jsonl")
        return (_line(self._header) if first else "") + _line(row.values())

    def record(self, answer: Answer, has_inputs: bool = False) -> dict[str, Any]:
        """Returns what is told of the next instance.

        Args:
          answer: The instance.
          has_inputs: Whether to tell its inputs, even if there are none.
        """
        told: dict[str, Any] = {"key": self.count} if self._has_key else {}
        self.count += 1
        if has_inputs:
            told["inputs"] = {name: plain(value, 0) for name, value in answer.inputs.items()}
        told.update({name: plain(value) for name, value in answer.predictions.items()})
        name = self._name_of_class(answer.predictions)
        if name is not None:
            told.setdefault("class", name)
        if answer.label is not None:
            for key, value in self._of_label(plain(answer.label, 0)).items():
                told.setdefault(key, value)
        return told

    def _name_of_class(self, predictions: Mapping[str, Any]) -> str | None:
        for key in _CLASSES:
            value = np.asarray(predictions.get(key))
            if value.size == 1 and value.dtype.kind in "iu":
                return self._name(value.item())
        return None

    def _name(self, number: Any) -> str | None:
        is_known = isinstance(number, int) and 0 <= number < len(self._class_names)
        return self._class_names[number] if is_known else None

    def _of_label(self, label: Any) -> dict[str, Any]:
        """Returns the label, with the name of its class; a text of digits as a number."""
        while isinstance(label, list) and len(label) == 1:
            label = label[0]
        if isinstance(label, str):
            if label in self._class_names:
                return {"label": self._class_names.index(label), "label_class": label}
            if not label or _NUMBER.fullmatch(label):
                label = json.loads(label or "null")
        name = self._name(label)
        if name is None and self._class_names and not isinstance(label, (list, float)):
            # Every row of a table has the same columns.
            return {"label": label, "label_class": None}
        return {"label": label} if name is None else {"label": label, "label_class": name}

    def _row(self, record: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for name, value in record.items():
            if name == "inputs":
                row.update({f"input_{each}" if each in record else each: _cell(inner)
                            for each, inner in value.items()})
            else:
                row.update(self._cells(name, value))
        return row

    def _cells(self, name: str, value: Any) -> dict[str, Any]:
        """Returns the columns of one prediction: of a list, one for each of its entries."""
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


def plain(value: Any, digits: int = _DIGITS) -> Any:
    """Makes a value JSON; bytes that are no text become {"b64": ...}, as in TF Serving.

    Args:
      value: An array, a scalar or bytes, as a session returns it.
      digits: Significant digits of a float at most; 0: as few as tell it from its neighbours.
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


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _line(cells: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


Write = Callable[[str], Any]


@contextlib.contextmanager
def opened(output: str, is_stream: bool = False) -> Iterator[Write]:
    """Opens the output; yields what writes text to it.

    Args:
      output: A file of any file system that TensorFlow reads, or "" for standard output.
      is_stream: Whether each text is to be seen at once.

    Raises:
      ConfigError: if the file cannot be written, before anything else is done.
    """
    if not output:
        with _standard_output() as write:
            yield write
        return
    path = output if storage.scheme(output) else os.path.realpath(output)
    if not storage.scheme(path) and os.path.exists(path) and not os.path.isdir(path) and (
            not os.path.isfile(path)):
        # A pipe or a device such as /dev/null is no file that another could replace.
        with open(path, "w", encoding="utf-8") as device:
            yield lambda text: _write_now(device, text)
        return
    new = f"{path}.new"
    _check(output, path, new)
    try:
        with tf.io.gfile.GFile(new, "w") as file:
            def write(text: str) -> None:
                file.write(text)
                # Each flush of an object in a bucket would upload all of it.
                if is_stream and not storage.is_object_store(path):
                    file.flush()
            yield write
        tf.io.gfile.rename(new, path, overwrite=True)
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(new)
        raise


@contextlib.contextmanager
def _standard_output() -> Iterator[Write]:
    """Yields what writes to standard output; whoever closes it, such as `head`, has enough."""
    try:
        yield lambda text: _write_now(sys.stdout, text)
    except BrokenPipeError:
        # What Python still holds would be written at its end, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_now(file: Any, text: str) -> None:
    file.write(text)
    file.flush()


def _check(output: str, path: str, new: str) -> None:
    """Raises ConfigError if the file cannot be written; leaves an empty one of the new name."""
    given = f"output is {output!r} (from --output)"
    folder = posixpath.dirname(path)
    example = f" For example: --output=/tmp/{posixpath.basename(path) or 'predictions.jsonl'}"
    if output.endswith("/") or tf.io.gfile.isdir(path):
        raise errors.ConfigError(
            f"{given}, which is a folder; expected a file. For example:"
            f" --output={output.rstrip('/')}/predictions.jsonl")
    if not storage.is_object_store(path) and not tf.io.gfile.isdir(folder):
        raise errors.ConfigError(
            f"{given}, and there is no folder {folder!r}; expected a file in a folder that"
            f" exists.{example}")
    try:
        with tf.io.gfile.GFile(new, "w") as file:
            file.write("")
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            f"{given}, and {folder!r} cannot be written to: {errors.first_line(error)}; expected"
            f" a folder with the right to write.{example}") from error
