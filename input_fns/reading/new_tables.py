"""Finds the columns of tables to predict, whose headers may differ from the training files'."""

from __future__ import annotations

from typing import Any, Mapping

from input_fns.reading import table_facts, table_file, table_params
from input_fns.reading.errors import DataFileError
from input_fns.reading.field import Value
from input_fns.reading.file_names import matched_tables
from input_fns.reading.header import Header, header_of
from input_fns.reading.table import lacking, Table, table_with, truth_of

_PARAM = "predict_files"


def found(params: Mapping[str, Any]) -> dict[str, Table]:
    """Returns the columns to read of each file to predict, by path, in order.

    The label, and the columns that tell rows apart, are among the columns, as texts, if every file
    has them.

    Args:
      params: The params of `input_fns/csv.py`. With `columns` set, no other file is opened.

    Raises:
      DataParamError: A param names nothing, or cannot work.
      DataFileError: A file is missing, or lacks a column.
    """
    files = matched_tables(_PARAM, params[_PARAM])
    table_params.check(params)
    headers = {path: header_of(path, params) for path in files}
    columns = dict(_columns(params))
    for name in (params["label"], *params["identifiers"]):
        if all(name in header.names for header in headers.values()):
            columns.setdefault(name, "")
    return {path: _truth_of_label(_table(path, header, columns, as_text(params)), params)
            for path, header in headers.items()}


def as_text(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the params with which any label is read, as text."""
    return {**params, "label_vocabulary": [], "num_classes": 0}


def _columns(params: Mapping[str, Any]) -> dict[str, Value]:
    """Returns the value of an empty field, by column that the model was trained on."""
    columns: dict[str, Value] = table_facts.completed(params, labelled=False)["columns"]
    return {name: value for name, value in columns.items()
            if name != params["label"] and name not in params["drop"]}


def _table(path: str, header: Header, columns: Mapping[str, Value],
           params: Mapping[str, Any]) -> Table:
    missing = [name for name in columns if name not in header.names]
    if missing:
        raise DataFileError(lacking(missing, header.names, f"{table_file.shown(path)} (--data)"))
    return table_with(header, columns, params)


def _truth_of_label(table: Table, params: Mapping[str, Any]) -> Table:
    """Returns the table, whose label has the words of training for "true" and "false"."""
    words = truth_of(params["label_vocabulary"])
    return table._replace(truth={**table.truth, params["label"]: words}) if words else table
