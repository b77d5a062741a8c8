"""Finds what is wrong with a line of a CSV file."""

from __future__ import annotations

import csv
from typing import Any, Mapping

from input_fns.reading import labels
from input_fns.reading.table import is_of
from input_fns.reading.table import Table

_TYPES = {int: "an integer", float: "a number", str: "text"}


def line_problem(line: str, table: Table, params: Mapping[str, Any]) -> str:
    """Returns the first thing wrong with a line, to follow its place; "" if nothing is.

    Args:
      line: The line without its end.
      table: The columns that it should have.
      params: The params of `input_fns/csv.py`.
    """
    try:
        fields, = csv.reader([line], delimiter=params["delimiter"], strict=True)
    except (csv.Error, ValueError) as error:
        return f" cannot be split into columns: {error}"
    if len(fields) != table.width:
        return f" has {len(fields)} columns; expected {table.width}"
    for position, name, kind in zip(table.positions, table.names, table.types):
        is_label = name == params["label"]
        what = "label" if is_label else "column"
        value = fields[position]
        if value and not is_of(value, kind):
            return f": {what} {name!r} is {value!r}; expected {_TYPES[kind]}"
        reason = _label_problem(value, kind, params) if is_label else ""
        if reason:
            return f": {reason}"
    return ""


def _label_problem(value: str, kind: type, params: Mapping[str, Any]) -> str:
    vocabulary = params["label_vocabulary"]
    if not value:
        return f"label {params['label']!r} is missing"
    if vocabulary:
        return "" if value in vocabulary else f"label is {value!r}; expected one of {vocabulary}"
    return labels.problem(int(value), params["num_classes"]) if kind is int else ""
