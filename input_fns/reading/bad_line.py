"""Finds what is wrong with a line of a CSV file."""

from __future__ import annotations

import csv
import json
from typing import Any, Mapping

from input_fns.reading import labels
from input_fns.reading.column import bad_value, empty_value
from input_fns.reading.field import is_of
from input_fns.reading.table import Table
from input_fns.reading.table_scan import split_problem


def line_problem(line: str, table: Table, params: Mapping[str, Any]) -> str:
    """Returns the first problem of a line, worded to follow its place; "" if there is none.

    Args:
      line: The line without its end.
      table: The columns that it should have.
      params: The params of `input_fns/csv.py`.
    """
    problem = split_problem(line, table.width, params["delimiter"])
    if problem:
        return problem
    fields, = csv.reader([line], delimiter=params["delimiter"])
    for position, name, kind, default in zip(table.positions, table.names, table.types,
                                             table.defaults):
        value = "" if fields[position] == params["na_value"] else fields[position]
        if name == params["label"]:
            problem = _label_problem(value, kind, params)
            if problem:
                return problem
        elif value and not is_of(value, kind):
            return bad_value(name, value, kind, params)
        elif not value and default is None:
            return empty_value(name)
    return ""


def _label_problem(value: str, kind: type, params: Mapping[str, Any]) -> str:
    vocabulary = params["label_vocabulary"]
    if not value:
        return f": label {params['label']!r} is missing"
    if not is_of(value, kind):
        return bad_value(params["label"], value, kind, params)
    if vocabulary:
        return "" if value in vocabulary else (
            f": label is {value!r}; expected one of {vocabulary}. Correct the line, or give them "
            f"all: --param label_vocabulary='{json.dumps([*vocabulary, value])}'")
    problem = labels.problem(int(value), params["num_classes"]) if kind is int else ""
    return problem and (f": {problem}. Correct the line, or give their number: --param num_classes="
                        f"{max(int(value), 1) + 1}; -1 if the label is no class")
