"""Finds the columns to read from a table's file, by its header and the params."""

from __future__ import annotations

import bisect
import difflib
import math
import shlex
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from input_fns.reading import advice, number_format
from input_fns.reading.errors import DataParamError, MissingColumnError
from input_fns.reading.field import is_of, Number, Value
from input_fns.reading.header import Header, header_of, in_order
from input_fns.reading.table_file import MEMORY_SCHEME, shown
from input_fns.reading.table_params import KINDS

# Params of models that say what columns are; where one is set, columns are not prepared.
OF_UNPREPARED = ("categorical_columns", "numeric_columns", "numeric_scale")


class Table(NamedTuple):
    """The columns of a file, and which of them to read.

    Attributes:
      header: The first line, unchanged; "" if it is no header.
      width: Number of columns of a line.
      positions: Positions of the columns to read, from 0.
      names: Names of the columns to read.
      defaults: Their values for empty fields, each of the column's type; None where a field must
        not be empty; NaN for a model that prepares columns itself.
      types: Their types: int, float or str.
      delimiter: What separates the fields of a line.
      formats: The formats of the numbers that are not plain, by column; see `number_format.py`.
      truth: The words of the training files for "true" and "false", by column of texts.
    """

    header: str
    width: int
    positions: list[int]
    names: list[str]
    defaults: list[Optional[Value]]
    types: list[type]
    delimiter: str = ","
    formats: Mapping[str, str] = {}
    truth: Mapping[str, Mapping[str, str]] = {}

    def plain(self, name: str, text: str) -> str:
        """Returns the text of a column's field; a number as programs write it."""
        if name not in self.formats or isinstance(text, Number):
            return text
        return number_format.plain(text, self.formats[name])


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
    header = header_of(path, params)
    label = params["label"]
    columns = chosen(params)
    wanted = dict.fromkeys([*columns, *([label] if labelled else [])])
    missing = [name for name in wanted
               if name not in header.names and (labelled or name != label)]
    if missing:
        param = "label" if missing[0] == label else "columns"
        raise MissingColumnError(str(unknown(missing[0], header.names, path, param)), param,
                                 lacking(missing, header.names, shown(path)))
    check_features(columns, path, label)
    return table_with(header, {name: value for name, value in columns.items()
                               if labelled or name != label}, params)


def table_with(header: Header, columns: Mapping[str, Value], params: Mapping[str, Any]) -> Table:
    """Returns the columns to read of a file, all of which it has.

    Args:
      header: The names of the file's columns.
      columns: The value of an empty field, by column to read; a label must not be empty, unless
        it is read as any text.
      params: The params of `input_fns/csv.py`.
    """
    label = params["label"]
    positions = sorted(header.names.index(name) for name in columns)
    names = [header.names[position] for position in positions]
    is_any = columns.get(label) == "" and not params["label_vocabulary"]
    fills = [("" if is_any else None) if name == label else fill_of(columns[name], params)
             for name in names]
    types = [type(columns[name]) if name == label else type_of(columns[name], params)
             for name in names]
    formats = {name: form for name, form in params.get("number_formats", {}).items()
               if dict(zip(names, types)).get(name, str) is not str}
    values = {name: entry.get("values", ())
              for name, entry in (params.get("table_columns") or {}).items()}
    truth = {name: words for name in names
             if (words := truth_of(params["label_vocabulary"] if name == label else
                                   values.get(name, ())))}
    return Table(header.line, len(header.names), positions, names, fills, types, header.delimiter,
                 formats, truth)


def with_text(table: Table, header: Header, name: str) -> Table:
    """Returns the columns to read of a file with one more, as text, if the file has it."""
    if name in table.names or name not in header.names:
        return table
    position = header.names.index(name)
    place = bisect.bisect(table.positions, position)

    def inserted(values: Sequence[Any], value: Any) -> list[Any]:
        return [*values[:place], value, *values[place:]]

    return table._replace(
        positions=inserted(table.positions, position), names=inserted(table.names, name),
        defaults=inserted(table.defaults, ""), types=inserted(table.types, str))


def truth_of(values: Sequence[str]) -> dict[str, str]:
    """Returns the texts among known ones that stand for "true" and "false", such as True.

    A column of booleans has no texts; Arrow and JSON write them in lower case, pandas does not.
    """
    words = {word.lower(): word for word in values if word.lower() in ("true", "false")}
    return {} if {"true", "false"} & set(values) else words


def in_file(table: Table, header: Header) -> Table:
    """Returns the columns of a table in another file, which may have them in another order."""
    return table._replace(header=header.line, width=len(header.names), delimiter=header.delimiter,
                          positions=[header.names.index(name) for name in table.names])


def wants_kinds(params: Mapping[str, Any]) -> bool:
    """Returns whether the model prepares columns itself, by what the data say of them.

    Without `table_columns`, the params that say what a model's columns are decide in its place.
    """
    if not params.get("prepare_columns") or "table_columns" not in params:
        return False
    return bool(params["table_columns"]) or not any(map(params.get, OF_UNPREPARED))


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
    """Returns the param `columns` without the columns to drop, each of the type that is set."""
    return {name: _as_kind(default, KINDS.get(params["column_types"].get(name, "")))
            for name, default in params["columns"].items() if name not in params["drop"]}


def _as_kind(default: Value, kind: Optional[type]) -> Value:
    if kind is None or isinstance(default, kind):
        return default
    value: Value = kind() if str in (kind, type(default)) else kind(default)
    return value


def check_features(names: Any, path: str, label: str) -> None:
    """Raises DataParamError if no feature is left."""
    if not set(names) - {label}:
        raise DataParamError(
            f"columns and drop leave no column of {path} but the label {label!r}; expected one "
            "or more to learn from. For example: " + advice.typed("drop", []))


def lacking(missing: Sequence[str], names: Sequence[str], place: str) -> str:
    """Returns a sentence on columns that data lack, for a model that was trained on them."""
    first = missing[0]
    near = [name for name in names if name.strip().lower() == first.strip().lower()] or (
        difflib.get_close_matches(first, names, n=1))
    return (f"{place} lacks {'the columns' if missing[1:] else 'the column'} "
            f"{', '.join(map(_quoted, missing))}, which the model was trained on; it has "
            f"{', '.join(map(_quoted, filter(None, names)))}. Add "
            f"{'them' if missing[1:] else 'it'}"
            + (f", or rename {near[0]!r}, if that is {first!r}" if near else ""))


def unknown(name: str, names: Sequence[str], path: str, param: str) -> DataParamError:
    """Returns the error that a param names no column of a file."""
    names = [each for each in names if each]
    default = " by default" if param == name == "label" else ""
    blank = [each for each in names if each.strip() == name]
    near = (blank or difflib.get_close_matches(name, names, n=1) or [""])[0]
    value: Any = {"label": near, "drop": [near], "columns": {near: 0.0},
                  "column_types": {near: "text"}}[param]
    example = advice.typed(param, value)
    if not near and len(names) == 1 and len(names[0].split()) > 1 and "<" not in names[0]:
        example = "if blanks separate the columns: --param delimiter=' '"
    elif not near and any(is_of(each, float) for each in names):
        example = ("if the first line is no header, the names of the columns in their order, each "
                   "with the value of an empty field, and the label as the last one: "
                   + in_order(names, name if param == "label" else "label"))
    elif not near and param == "label":
        # The file may be one to predict, which has no label.
        example = advice.typed("label", names[-1]) + (
            f"; or, to predict data without a label: --data={shlex.quote(path)}"
            if not path.startswith(MEMORY_SCHEME) else "")
    elif not near:
        example = example.replace("\"\"", f"\"{names[0]}\"")
    return DataParamError(
        f"{param} {'is' if param == 'label' else 'has'} {name!r}{default}, which is no column of "
        f"{path}; expected one of {', '.join(map(_quoted, names))}. For example: {example}")


def _quoted(name: str) -> str:
    """Returns a name for a message, in quotes if it begins or ends with a blank."""
    return name if name.strip() == name else repr(name)
