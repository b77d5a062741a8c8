"""Finds the names of a table's columns, in the first line of a CSV file or in what else it is."""

from __future__ import annotations

import csv
import itertools
import shlex
from typing import Any, Mapping, NamedTuple, Sequence

from absl import logging

from input_fns.reading import advice, arrow_file, json_lines, other_file, table_file, text_records
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.field import is_of

_SHOWN_CHARS = 2000
_DELIMITERS = ",;\t|"
# Characters that may separate fields too, where the param names one.
_OTHER_DELIMITERS = ":^~#!/\x01"
# People type these for a tab.
_TYPED = {"\\t": "\t", "tab": "\t"}
_MOST_NAMED, _LINE_CHARS = 30, 60
# Lines that have to agree on a delimiter.
_LINES_TO_SPLIT = 10


class Header(NamedTuple):
    """The names of a file's columns.

    Attributes:
      line: The first line, unchanged; "" if it is no header.
      names: The name of each column, in order; "" for a column without a name.
      delimiter: What separates the fields of a line; "" in a file that is not CSV.
    """

    line: str
    names: list[str]
    delimiter: str


def header_of(path: str, params: Mapping[str, Any]) -> Header:
    """Returns the names of a file's columns.

    Args:
      path: The file.
      params: The params of `input_fns/csv.py`; `columns` may name the columns of a file without
        a header, in their order.

    Raises:
      DataFileError: A name is missing or repeated, the first line holds data and not names, or is
        not text.
    """
    kind = table_file.kind_of(path)
    if kind in (table_file.CSV, table_file.JSON):
        other_file.check(path)
    if kind == table_file.CSV:
        return _csv_header(path, params)
    names = json_lines.names_of(path) if kind == table_file.JSON else arrow_file.names_of(path)
    return Header("", names, "")


def _csv_header(path: str, params: Mapping[str, Any]) -> Header:
    records = _first_records(path)
    lines = [text for _, text in records]
    line = lines[0] if lines else ""
    _check_text(path, line)
    delimiter = _TYPED.get(params["delimiter"], params["delimiter"]) or _detected_delimiter(lines)
    try:
        names = text_records.split(line, delimiter) if line else []
    except text_records.UnquotedError as error:
        raise DataFileError(
            f"line 1 of {path} has a quote inside of a name, or a blank before one; expected names "
            "in quotes from their first character on, with each quote in them twice") from error
    except (csv.Error, ValueError) as error:
        raise DataFileError(f"line 1 of {path} cannot be split into names: {error}") from error
    if len(names) == 1 and "\0" not in line:
        _check_one_column(path, records, delimiter, params)
    in_order = _names_in_order(len(names), names, params)
    if in_order:
        return Header("", in_order, delimiter)
    _check_names(path, names, delimiter, params)
    return Header(line, names, delimiter)


def _names_in_order(width: int, first: list[str], params: Mapping[str, Any]) -> list[str]:
    """Returns the names that the param `columns` gives a file without a header; [] to none."""
    columns = list(params["columns"])
    if any(name in first for name in columns):
        return []
    # New data may have no label.
    unlabelled = [name for name in columns if name != params["label"]]
    return next((names for names in (columns, unlabelled) if names and len(names) == width), [])


def _check_one_column(path: str, records: Sequence[tuple[int, str]], delimiter: str,
                      params: Mapping[str, Any]) -> None:
    """Raises an error if a first line of one name stands before, or in, a table of more columns."""
    lines = [text for _, text in records]
    first = f"line {records[0][0]} of {path}"
    if params["delimiter"]:
        found = _detected_delimiter(lines)
        if delimiter not in lines[0] and _columns(lines, found) > 1:
            raise DataParamError(
                f"delimiter is {params['delimiter']!r}, and {first} has none: "
                f"{lines[0][:_SHOWN_CHARS]!r}, with {found!r} between the names. For example: "
                + advice.typed("delimiter", "tab" if found == "\t" else found))
        return
    other = max(_OTHER_DELIMITERS, key=lambda each: _columns(lines, each))
    if len(lines) > 2 and _columns(lines, other) > 1 and not any(
            each in lines[0] for each in params["columns"]):
        raise DataParamError(
            f"{first} has one name, {lines[0][:_SHOWN_CHARS]!r}, where "
            f"{other!r} may be between the names. For example: {advice.typed('delimiter', other)}")
    for start in range(1, len(lines) - 1):
        found = _detected_delimiter(lines[start:])
        width = _columns(lines[start:], found)
        if width > 1:
            number = records[start][0]
            raise DataFileError(
                f"{first} is {lines[0][:_LINE_CHARS]!r}, and the lines from line "
                f"{number} on have {width} columns; expected the names of the columns in the first "
                f"line. For example: tail -n +{number} {shlex.quote(path)} > new.csv")


def _check_names(path: str, names: list[str], delimiter: str, params: Mapping[str, Any]) -> None:
    """Raises DataFileError if the fields of a first line are no names of columns."""
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None and not is_of(twice, float):
        raise DataFileError(
            f"{path} has {twice!r} twice for a header; expected a name of its own for each column. "
            f"For example, for one of the two: {twice}_2")
    if not any(names):
        what = "no name" if names else "no line"
        raise DataFileError(f"{path} has {what} for a header; expected a name for each column in "
                            f"its first line, separated by {delimiter!r}")
    if all(is_of(name, float) for name in names) and names not in (
            [str(i) for i in range(len(names))], [str(i + 1) for i in range(len(names))]):
        raise DataFileError(
            f"line 1 of {path} has only numbers ({', '.join(names[:5])}{', ...' * (len(names) > 5)}"
            f"), so it holds data and no names; expected a header, or from you the names of the "
            f"{len(names)} columns in their order, each with the value of an empty field. For "
            f"example, if the label is the last one: {in_order(names, params['label'])}")
    if twice is not None:
        raise DataFileError(
            f"{path} has {twice!r} twice for a header; expected a header, or from you the names of "
            "the columns in their order. For example, if the label is the last one: "
            + in_order(names, params["label"]))


def in_order(fields: Sequence[str], label: str) -> str:
    """Returns the words that name the columns of a file without a header, by its first line."""
    names = [f"column{i + 1}" for i in range(len(fields) - 1)] + [label]
    fills: dict[str, Any] = {name: 0.0 if is_of(field, float) else ""
                             for name, field in zip(names, fields)}
    if is_of(fields[-1], int):
        fills[label] = 0
    if len(fields) > _MOST_NAMED:
        fills = {name: fills[name] for name in (*names[:2], label)}
        return advice.typed("columns", fills).replace(f', "{label}"', f', ..., "{label}"')
    return advice.typed("columns", fills)


def _first_records(path: str) -> list[tuple[int, str]]:
    """Returns the first records with the numbers of their lines; [] if there are none."""
    for block in text_records.blocks_of(path):
        records = list(itertools.islice(block.records(), _LINES_TO_SPLIT))
        if not records:
            return []
        return [(line, text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
                for line, text in records]
    return []


def _detected_delimiter(lines: Sequence[str]) -> str:
    """Returns the delimiter by which the first lines have the same number of columns, and most."""
    best = max(_DELIMITERS, key=lambda each: _columns(lines, each))
    if _columns(lines, best) > 1:
        return best
    # A wrong line among the first ones is told later, by its number.
    return max(_DELIMITERS, key=lines[0].count) if lines else _DELIMITERS[0]


def _columns(lines: Sequence[str], delimiter: str) -> int:
    """Returns the number of columns that a delimiter makes of each line; 0 if they differ."""
    try:
        widths = {len(text_records.split(line, delimiter)) for line in lines}
    except (csv.Error, ValueError, text_records.UnquotedError):
        return 0
    return widths.pop() if len(widths) == 1 else 0


def _check_text(path: str, line: str) -> None:
    """Raises DataFileError if a file's first line is not UTF-8."""
    if "\0" in line:
        raise DataFileError(f"line 1 of {path} has zero bytes; expected a text file in UTF-8, or "
                            "in UTF-16, which may be gzipped")
    if table_file.NO_TEXT in line:
        raise DataFileError(f"line 1 of {path} has bytes that are no UTF-8; "
                            + table_file.as_utf8(path))


def header_problem(path: str, header: Header, expected: tuple[str, Header]) -> str:
    """Returns the problem of a file's header, as one sentence; "" if there is none.

    Args:
      path: The file.
      header: Its header.
      expected: Another file, and its header.
    """
    names, wanted = set(header.names) - {""}, set(expected[1].names) - {""}
    if names == wanted if header.delimiter else names >= wanted:
        return ""
    return (f"line 1 of {path} has the columns {', '.join(header.names)[:_SHOWN_CHARS]}; expected "
            f"those of {expected[0]}: {', '.join(expected[1].names)[:_SHOWN_CHARS]}")


def log_unnamed(path: str, header: Header) -> None:
    """Logs that columns without a name are left out."""
    if "" in header.names[1:]:
        logging.info("%s: columns without a name are left out: %s of %d", path,
                     header.names.count(""), len(header.names))
    elif "" in header.names:
        logging.info("%s: the first column has no name, as where pandas wrote the rows' numbers: "
                     "it is left out", path)
