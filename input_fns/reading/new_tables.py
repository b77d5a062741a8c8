"""Finds the columns of CSV files to predict, whose headers may differ from the training files'."""

from __future__ import annotations

import difflib
import itertools
from typing import Any, Mapping, NamedTuple

from input_fns.reading import table_facts, table_params
from input_fns.reading.errors import DataFileError
from input_fns.reading.field import Value
from input_fns.reading.files import matched
from input_fns.reading.table import fill_of, header_of, Table, type_of

_PARAM = "predict_files"


class NewTables(NamedTuple):
    """Files that have the same header.

    Attributes:
      files: Paths of the files, in order.
      table: The columns to read of each file.
    """

    files: tuple[str, ...]
    table: Table


def found(params: Mapping[str, Any]) -> list[NewTables]:
    """Returns the files to predict, in order, with the columns to read.

    The label is among the columns, as text, if every file has it.

    Args:
      params: The params of `input_fns/csv.py`. With `columns` set, no other file is opened.

    Raises:
      DataParamError: A param names nothing, or cannot work.
      DataFileError: A file is missing, or lacks a column.
    """
    files = matched(_PARAM, params[_PARAM])
    table_params.check(params)
    headers = {path: header_of(path, params["delimiter"]) for path in files}
    columns = dict(_columns(params))
    label = params["label"]
    if all(label in names for _, names in headers.values()):
        columns[label] = ""
    groups = [tuple(group) for _, group in itertools.groupby(files, key=lambda p: headers[p][0])]
    return [NewTables(group, _table(group[0], *headers[group[0]], columns, params))
            for group in groups]


def as_text(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the params with which any label is read, as text."""
    return {**params, "label_vocabulary": [], "num_classes": 0}


def _columns(params: Mapping[str, Any]) -> dict[str, Value]:
    """Returns the value of an empty field, by column that the model was trained on."""
    columns: dict[str, Value] = table_facts.completed(params, labelled=False)["columns"]
    return {name: value for name, value in columns.items()
            if name != params["label"] and name not in params["drop"]}


def _table(path: str, header: str, names: list[str], columns: Mapping[str, Value],
           params: Mapping[str, Any]) -> Table:
    missing = [name for name in columns if name not in names]
    if missing:
        near = difflib.get_close_matches(missing[0], names, n=1)
        raise DataFileError(
            f"{path} (--data) lacks {'the columns' if missing[1:] else 'the column'} "
            f"{', '.join(missing)}, which the model was trained on; it has {', '.join(names)}."
            + (f" Did you mean {near[0]!r}? Rename it." if near else ""))
    positions, read = zip(*sorted((names.index(name), name) for name in columns))
    return Table(header, len(names), list(positions), list(read),
                 [fill_of(columns[name], params) for name in read],
                 [str if name == params["label"] else type_of(columns[name], params)
                  for name in read])
