"""Reads JSON lines: an object a line, whose values are numbers, texts, true, false or null."""

from __future__ import annotations

import json
from typing import Any, Sequence

from pyarrow import json as arrow_json
import pyarrow as pa

from input_fns.reading import text_records
from input_fns.reading.errors import DataFileError

_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string()}


class _Number(str):
    """The characters of a number."""


class NoObjectError(Exception):
    """A line is no object of plain values; the text follows the place of the line."""


def names_of(path: str) -> list[str]:
    """Returns the keys of the first objects, in the order of their first appearance."""
    for block in text_records.blocks_of(path):
        names: dict[str, None] = {}
        for line, text in block.records():
            try:
                values = values_of(text)
            except NoObjectError as error:
                raise DataFileError(f"line {line} of {path}{error}") from error
            names.update(dict.fromkeys(values))
        return list(names)
    raise DataFileError(f"{path} has no line; expected a JSON object a line")


def values_of(text: str) -> dict[str, str]:
    """Returns the texts of an object's values, by key; missing values are empty.

    Raises:
      NoObjectError: It is no object, or a value is a list or an object.
    """
    if text.lstrip()[:1] == "[":
        raise NoObjectError(" begins a JSON array; expected an object a line. For example, with "
                            "jq: jq -c '.[]' FILE > FILE.jsonl")
    try:
        found = json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)
    except ValueError as error:
        raise NoObjectError(f" is no JSON: {error}; expected an object a line") from error
    if not isinstance(found, dict):
        raise NoObjectError(f" is {text[:50]!r}; expected a JSON object")
    return {name: _text(name, value) for name, value in found.items()}


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        raise NoObjectError(f": column {name!r} is a {type(value).__name__}; expected a number or "
                            "a text")
    return str(value)


def arrays(data: bytes, names: Sequence[str], kinds: Sequence[type]) -> list[pa.Array]:
    """Returns the columns of these names, int64, float64 or string.

    Raises:
      ArrowInvalid: A value is not of its column's type.
    """
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in zip(names, kinds)])
    table = arrow_json.read_json(
        pa.BufferReader(data), arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore",
                                newlines_in_values=False))
    return [table.column(name).combine_chunks() for name in names]
