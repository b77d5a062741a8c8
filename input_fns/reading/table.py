"""Finds the columns of CSV files: from a header and params to what decodes a line."""

from __future__ import annotations

import csv
import difflib
import gzip
import itertools
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Union
import zlib

import tensorflow as tf

from input_fns.reading.errors import DataFileError
from input_fns.reading.errors import DataParamError

Value = Union[int, float, str]

_INFERRED_FROM_LINES = 1000
_BYTE_ORDER_MARK = "\ufeff"


class Table(NamedTuple):
    """The columns of a file, and those to read of each line.

    Attributes:
      header: The first line, unchanged.
      width: Number of columns of a line.
      positions: Positions of the columns to read, ascending, from 0.
      names: Names of the columns to read.
      defaults: Values for empty fields of those columns, each of the column's type; None where a
        field must not be empty.
      types: Types of those columns: int, float or str.
    """

    header: str
    width: int
    positions: list[int]
    names: list[str]
    defaults: list[Optional[Value]]
    types: list[type]


def table_of(path: str, types_path: str, params: Mapping[str, Any], labelled: bool) -> Table:
    """Returns the columns to read of the file at `path`.

    Args:
      path: One of the files to read.
      types_path: The first training file, from whose first lines types are inferred.
      params: The params of `input_fns/csv.py`.
      labelled: Whether to read the label.

    Raises:
      DataParamError: A column is not in the file, or its type cannot be used.
      DataFileError: The file has no header.
    """
    header, names = header_of(path, params["delimiter"])
    label = params["label"]
    columns = _types(types_path, params)
    wanted = [*columns, label] if label not in columns else list(columns)
    for name in wanted:
        if name not in names and (labelled or name != label):
            raise _unknown(name, names, path, "label" if name == label else "columns")
    if set(wanted) == {label}:
        raise DataParamError(
            f"columns and drop leave no column of {path} but the label {label!r}; expected one "
            "or more to learn from. For example: --param drop='[]'")
    read = [(names.index(name), name) for name in wanted if labelled or name != label]
    positions, names_read = zip(*sorted(read))
    return Table(header, len(names), list(positions), list(names_read),
                 [None if name == label else columns[name] for name in names_read],
                 [type(columns[name]) for name in names_read])


def header_of(path: str, delimiter: str) -> tuple[str, list[str]]:
    """Returns a file's first line, as it is, and the names in it.

    Raises:
      DataFileError: The line has no name, an empty one, or one twice.
    """
    line = next(lines_of(path), "")
    names = next(csv.reader([line.removeprefix(_BYTE_ORDER_MARK)], delimiter=delimiter), [])
    twice = next((name for name in names if names.count(name) > 1), None)
    if not names or twice is not None or "" in names:
        what = f"{twice!r} twice" if twice else "a column without a name" if names else "no line"
        raise DataFileError(f"{path} has {what} for a header; expected a name for each column in "
                            f"its first line, separated by {delimiter!r}")
    return line, names


def lines_of(path: str) -> Iterator[str]:
    """Yields the lines without their ends, as TensorFlow has them; a path in .gz is gzipped.

    Raises:
      DataFileError: The gzip file is truncated or damaged.
    """
    with tf.io.gfile.GFile(path, "rb") as file:
        lines = gzip.GzipFile(fileobj=file) if path.endswith(".gz") else file
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                yield line.rstrip(b"\r\n").decode("utf-8", "replace")
        except (EOFError, OSError, zlib.error) as error:
            raise DataFileError(f"{path} is truncated or damaged after line {number}: "
                                f"{error}") from error


def is_of(value: str, kind: type) -> bool:
    """Returns whether the text of a field can be read as int, float or str."""
    try:
        kind(value)
    except ValueError:
        return False
    return kind is str or "_" not in value


def _types(path: str, params: Mapping[str, Any]) -> dict[str, Value]:
    """Returns a default of each column's type, by column, also for the label."""
    label = params["label"]
    columns = {name: default for name, default in params["columns"].items()
               if name not in params["drop"]}
    for name, default in columns.items():
        if type(default) not in (int, float, str):
            raise DataParamError(
                f"columns has {default!r} for {name!r}; expected the value that stands for a "
                "missing one, of the column's type: 0, 0.0 or \"\". For example: --param "
                f"columns='{{\"{name}\": 0.0}}'")
    if params["label_vocabulary"]:
        columns[label] = ""
    if params["columns"] and label in columns:
        return columns
    inferred = _inferred(path, params["delimiter"])
    if label not in inferred and label not in columns:
        raise _unknown(label, list(inferred), path, "label")
    if isinstance({**inferred, **columns}[label], str) and not params["label_vocabulary"]:
        raise DataParamError(
            f"label is {label!r}, a column of text in {path}; expected numbers, or "
            "label_vocabulary with every text there is. For example: --param "
            "label_vocabulary='[\"no\", \"yes\"]'")
    if params["columns"]:
        return {**columns, label: inferred[label]}
    for name in params["drop"]:
        if name not in inferred:
            raise _unknown(name, list(inferred), path, "drop")
    return {**{n: v for n, v in inferred.items() if n not in params["drop"]}, **columns}


def _inferred(path: str, delimiter: str) -> dict[str, Value]:
    """Returns 0, 0.0 or "" for each column: the first type that all its first values have."""
    _, names = header_of(path, delimiter)
    lines = itertools.islice(lines_of(path), 1, _INFERRED_FROM_LINES + 1)
    rows = [row for row in csv.reader(lines, delimiter=delimiter) if len(row) == len(names)]
    values = zip(*rows) if rows else [()] * len(names)
    return {name: _inferred_default([value for value in column if value])
            for name, column in zip(names, values)}


def _inferred_default(values: list[str]) -> Value:
    for kind in (int, float):
        if values and all(is_of(value, kind) for value in values):
            return kind()
    return ""


def _unknown(name: str, names: list[str], path: str, param: str) -> DataParamError:
    near = (difflib.get_close_matches(name, names, n=1) or names)[0]
    if param == "label" and not difflib.get_close_matches(name, names, n=1):
        # Any column would do for an example, and the file may be one to predict.
        near = f"NAME; or, to predict data without a label: --data={path}"
    example = {"label": near, "columns": f"'{{\"{near}\": 0.0}}'", "drop": f"'[\"{near}\"]'"}[param]
    return DataParamError(
        f"{param} {'is' if param == 'label' else 'has'} {name!r}, which is no column of {path}; "
        f"expected one of {', '.join(names)}. For example: --param {param}={example}")
