"""Finds what is wrong with a record of a table."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

from input_fns.reading import labels
from input_fns.reading.column import bad_value, empty_label, empty_value
from input_fns.reading.field import is_finite, is_of
from input_fns.reading.table import Table

_SIGN = "a record cannot be used"


def fields_problem(fields: Sequence[str], table: Table,
                   params: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the first problem of a record, worded to follow its place, and what kind it is.

    Args:
      fields: The texts of the columns to read.
      table: The columns.
      params: The params of `input_fns/csv.py`.
    """
    for field, name, kind, default in zip(fields, table.names, table.types, table.defaults):
        value = "" if field == params["na_value"] else table.plain(name, field)
        if name == params["label"] and default is None:
            problem = _label_problem(value, kind, params)
            if problem:
                return problem, _SIGN
        elif value and not is_of(value, kind):
            return bad_value(name, value, kind, params), (
                _SIGN if is_finite(value) else "a number is nan or infinite")
        elif not value and default is None:
            return empty_value(name), _SIGN
    return "", ""


def _label_problem(value: str, kind: type, params: Mapping[str, Any]) -> str:
    vocabulary = params["label_vocabulary"]
    if not value:
        return empty_label(params["label"])
    if not is_of(value, kind):
        return bad_value(params["label"], value, kind, params)
    if vocabulary:
        return "" if value in vocabulary else (
            f": label is {value!r}; expected one of {vocabulary}. Correct the line, or give them "
            f"all: --param label_vocabulary='{json.dumps([*vocabulary, value])}'")
    problem = labels.problem(int(value), params["num_classes"]) if kind is int else ""
    return problem and (f": {problem}. Correct the line, or give their number: --param num_classes="
                        f"{max(int(value), 1) + 1}; -1 if the label is no class")
