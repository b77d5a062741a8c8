"""Finds the columns to decode from a CSV file, by its header and the params."""

from __future__ import annotations

import csv
import difflib
import functools
import gzip
import math
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Sequence
import zlib

import tensorflow as tf

from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.field import Value

_BYTE_ORDER_MARK = "\ufeff"
_SHOWN_CHARS = 200


class Table(NamedTuple):
    """The columns of a file, and which of them to read.

    Attributes:
      header: The first line, unchanged.
      width: Number of columns of a line.
      positions: Positions of the columns to read, ascending, from 0.
      names: Names of the columns to read.
      defaults: Their values for empty fields, each of the column's type; None where a field must
        not be empty; NaN for a model that prepares columns itself.
      types: Their types: int, float or str.
    """

    header: str
    width: int
    positions: list[int]
    names: list[str]
    defaults: list[Optional[Value]]
    types: list[type]


def table_of(path: str, params: Mapping[str, Any], labelled: bool) -> Table:
    """Returns the columns to read of the file at `path`.

    Args:
      path: One of the files to read.
      params: The params of `input_fns/csv.py`, whose `columns` names the columns to read, and the
        label if it is read (`table_facts.completed`).
      labelled: Whether to read the label.

    Raises:
      DataParamError: A column is not in the file.
      DataFileError: The file has no header.
    """
    header, names = header_of(path, params["delimiter"])
    label = params["label"]
    columns = chosen(params)
    for name in [*columns, *([label] if labelled else [])]:
        if name not in names and (labelled or name != label):
            raise unknown(name, names, path, "label" if name == label else "columns")
    check_features(columns, path, label)
    positions = sorted(names.index(name) for name in columns if labelled or name != label)
    read = [names[position] for position in positions]
    fills = [None if name == label else fill_of(columns[name], params) for name in read]
    types = [type(columns[name]) if name == label else type_of(columns[name], params)
             for name in read]
    return Table(header, len(names), positions, read, fills, types)


def wants_kinds(params: Mapping[str, Any]) -> bool:
    """Returns whether the model prepares columns itself, by what the data say of them."""
    return bool(params.get("prepare_columns")) and "table_columns" in params


def is_unprepared(params: Mapping[str, Any]) -> bool:
    """Returns whether the model prepares columns itself, and knows what they are.

    Such a model gets all numbers as float64 that are NaN where a field is empty, and texts as they
    are.
    """
    return wants_kinds(params) and bool(params["table_columns"])


def fill_of(default: Value, params: Mapping[str, Any]) -> Optional[Value]:
    """Returns the value of a feature's empty fields; None if an empty field is an error."""
    is_number = not isinstance(default, str)
    if is_number and params["empty_numbers"] == "error":
        return None
    if is_unprepared(params):
        return math.nan if is_number else ""
    return default


def type_of(default: Value, params: Mapping[str, Any]) -> type:
    """Returns the type of a feature that has this value in empty fields."""
    is_number = not isinstance(default, str)
    return float if is_number and is_unprepared(params) else type(default)


def chosen(params: Mapping[str, Any]) -> dict[str, Value]:
    """Returns the param `columns` without the columns to drop."""
    return {name: default for name, default in params["columns"].items()
            if name not in params["drop"]}


def check_features(names: Any, path: str, label: str) -> None:
    """Raises DataParamError if no feature is left."""
    if not set(names) - {label}:
        raise DataParamError(
            f"columns and drop leave no column of {path} but the label {label!r}; expected one "
            "or more to learn from. For example: --param drop='[]'")


def header_of(path: str, delimiter: str) -> tuple[str, list[str]]:
    """Returns a file's first line, unchanged, and the names in it.

    Raises:
      DataFileError: The line has no name, an empty or a repeated one, or is not text.
    """
    line = next(lines_of(path), "")
    _check_text(path, line)
    try:
        names = next(csv.reader([line.removeprefix(_BYTE_ORDER_MARK)], delimiter=delimiter), [])
    except csv.Error as error:
        raise DataFileError(f"line 1 of {path} cannot be split into names: {error}") from error
    twice = next((name for name in names if names.count(name) > 1), None)
    if not names or twice is not None or "" in names:
        what = f"{twice!r} twice" if twice else "a column without a name" if names else "no line"
        raise DataFileError(f"{path} has {what} for a header; expected a name for each column in "
                            f"its first line, separated by {delimiter!r}")
    return line, names


def _check_text(path: str, line: str) -> None:
    """Raises DataFileError if a file's first line is not UTF-8, but UTF-16 or compressed."""
    what = {"\ufffd": "bytes that are no UTF-8", "\0": "zero bytes"}
    found = next((words for sign, words in what.items() if sign in line), "")
    if found:
        raise DataFileError(f"line 1 of {path} has {found}; expected a text file in UTF-8, or a "
                            "gzipped one whose name ends in .gz")


def header_problem(path: str, line: str, expected: tuple[str, str], delimiter: str) -> str:
    """Returns the problem of a file's first line, as one sentence; "" if there is none.

    Args:
      path: The file.
      line: Its first line.
      expected: Another file, and its first line.
      delimiter: One character.
    """
    if line == expected[1]:
        return ""
    try:
        names = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        names = [line[:_SHOWN_CHARS]]
    return (f"line 1 of {path} has the columns {', '.join(names)}; expected those of "
            f"{expected[0]}: {expected[1]}")


def lines_of(path: str) -> Iterator[str]:
    """Yields the lines without their ends, as TensorFlow reads them; `.gz` files are gzipped.

    Raises:
      DataFileError: The gzip file is truncated or damaged.
    """
    with tf.io.gfile.GFile(path, "rb") as file:
        lines = gzip.GzipFile(fileobj=file) if path.endswith(".gz") else file
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                # TensorFlow drops every carriage return, wherever it is in a line.
                yield line.replace(b"\r", b"").rstrip(b"\n").decode("utf-8", "replace")
        except (EOFError, OSError, zlib.error) as error:
            raise DataFileError(f"{path} is truncated or damaged after line {number}: "
                                f"{error}") from error


def check_whole(paths: Sequence[str]) -> None:
    """Raises DataFileError if a gzip file is truncated; TensorFlow reads it as a shorter file.

    A file that has not changed is read once per process.
    """
    for path in paths:
        if path.endswith(".gz"):
            stat = tf.io.gfile.stat(path)
            _read_whole(path, stat.length, stat.mtime_nsec)


@functools.lru_cache(maxsize=1024)
def _read_whole(path: str, length: int, changed: int) -> None:
    del length, changed  # Keys of the cache: a changed file is read again.
    for _ in lines_of(path):
        pass


def unknown(name: str, names: Sequence[str], path: str, param: str) -> DataParamError:
    """Returns the error that a param names no column of a file."""
    near = (difflib.get_close_matches(name, names, n=1) or names)[0]
    if param == "label" and not difflib.get_close_matches(name, names, n=1):
        # The file may be one to predict, which has no label.
        near = f"NAME; or, to predict data without a label: --data={path}"
    example = {"label": near, "drop": f"'[\"{near}\"]'", "columns": f"'{{\"{near}\": 0.0}}'",
               "column_types": f"'{{\"{near}\": \"text\"}}'"}[param]
    return DataParamError(
        f"{param} {'is' if param == 'label' else 'has'} {name!r}, which is no column of {path}; "
        f"expected one of {', '.join(names)}. For example: --param {param}={example}")
