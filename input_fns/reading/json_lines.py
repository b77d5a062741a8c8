"""Reads JSON lines: an object a line, whose values are numbers, texts, true, false or null."""

from __future__ import annotations

import json
from typing import Any, Sequence

from absl import logging
from pyarrow import json as arrow_json
import pyarrow as pa

from input_fns.reading import text_records
from input_fns.reading.errors import DataFileError
from input_fns.reading.field import Number

_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string()}


class Nested(str):
    """Stands for a list or an object, which no column of a table holds; the text is its type."""


class NoObjectError(Exception):
    """A line is no object of plain values; the text follows the place of the line."""


def names_of(path: str) -> list[str]:
    """Returns the keys of the first objects, in the order of their first appearance.

    Keys of lists and other nested values are left out.
    """
    for block in text_records.blocks_of(path):
        names: dict[str, bool] = {}
        for line, text in block.records():
            try:
                values = values_of(text)
            except NoObjectError as error:
                raise DataFileError(f"line {line} of {path}{error}") from error
            for name, value in values.items():
                names[name] = names.get(name, False) or isinstance(value, Nested)
        nested = [name for name, is_nested in names.items() if is_nested]
        if nested:
            logging.warning("%s: columns of lists and other nested values are left out: %s", path,
                            ", ".join(nested))
        return [name for name in names if name not in nested]
    raise DataFileError(f"{path} has no line; expected a JSON object a line")


def values_of(text: str) -> dict[str, str]:
    """Returns the texts of an object's values, by key; missing values are empty.

    Raises:
      NoObjectError: It is no object.
    """
    if text.lstrip()[:1] == "[":
        raise NoObjectError(" begins a JSON array; expected an object a line. For example, with "
                            "jq: jq -c '.[]' FILE > FILE.jsonl")
    try:
        found = json.loads(text, parse_float=Number, parse_int=Number, parse_constant=Number)
    except ValueError as error:
        raise NoObjectError(f" is no JSON: {error}; expected an object a line") from error
    if not isinstance(found, dict):
        raise NoObjectError(f" is {text[:50]!r}; expected a JSON object")
    return {name: _text(value) for name, value in found.items()}


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return Nested(type(value).__name__)
    return value


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
