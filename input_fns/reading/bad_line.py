"""Finds what is wrong with a record of a table."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from input_fns.reading import advice, labels
from input_fns.reading.column import bad_value, empty_label, empty_value
from input_fns.reading.field import is_finite, is_of
from input_fns.reading.table import Table

_SIGN = "a record cannot be used"
_MOST_CLASSES = 1000


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
        return bad_value(params["label"], value, kind, params, is_alone=False)
    if vocabulary:
        return "" if value in vocabulary else (
            f": label is {value!r}; expected one of {vocabulary}. Correct the line, or give them "
            "all: " + advice.typed("label_vocabulary", [*vocabulary, value]))
    problem = labels.problem(int(value), params["num_classes"]) if kind is int else ""
    if not problem:
        return ""
    remedies = [f"if the label is a number and no class: {advice.as_number(params)}"]
    if 0 <= int(value) < _MOST_CLASSES:
        remedies.insert(0, f"give their number: --param num_classes={int(value) + 1}")
    return f": {problem}. Correct the line, or {'; or, '.join(remedies)}"
