"""Makes checked rows of a table's blocks: columns of one type are the columns of one matrix."""

from __future__ import annotations

import math
from typing import Any, Mapping, NamedTuple, Optional, Sequence

import numpy as np
from pyarrow import compute
import pyarrow as pa

from input_fns.reading import bad_line, number_format
from input_fns.reading.errors import RecordError
from input_fns.reading.field import MOST, numbers_of, Value
from input_fns.reading.table import is_unprepared, Table
from input_fns.reading.table_blocks import Block
from input_fns.reading.table_params import leaves_out

# Matrices [rows, columns] of floats, integers and texts, and the labels [rows]; see Layout.
Rows = tuple[np.ndarray, ...]


class Layout(NamedTuple):
    """Where the columns of a table are in its rows.

    Attributes:
      floats: The columns in the matrix of floats.
      integers: The columns in the matrix of integers.
      texts: The columns in the matrix of texts.
      label: The column that is the label; "" for none.
      float_dtype: The dtype of the floats.
      label_dtype: The dtype of the labels: int64, float32, or object for texts.
    """

    floats: tuple[str, ...]
    integers: tuple[str, ...]
    texts: tuple[str, ...]
    label: str
    float_dtype: type
    label_dtype: type

    def empty(self) -> Rows:
        """Returns no rows."""
        return (np.empty((0, len(self.floats)), self.float_dtype),
                np.empty((0, len(self.integers)), np.int64),
                np.empty((0, len(self.texts)), object), np.empty(0, self.label_dtype))


def layout_of(table: Table, params: Mapping[str, Any]) -> Layout:
    """Returns where the columns are; the names of each type in the order of the file."""
    label = params["label"] if params["label"] in table.names else ""
    features = {name: kind for name, kind in zip(table.names, table.types) if name != label}
    floats, integers, texts = (tuple(name for name, each in features.items() if each is kind)
                               for kind in (float, int, str))
    label_kind = dict(zip(table.names, table.types)).get(label, int)
    if label_kind is str:
        label_dtype: type = np.int64 if params["label_vocabulary"] else object
    else:
        label_dtype = np.int64 if label_kind is int else np.float32
    return Layout(floats, integers, texts, label,
                  np.float64 if is_unprepared(params) else np.float32, label_dtype)


def rows_of(block: Block, chosen: np.ndarray, table: Table, layout: Layout,
            params: Mapping[str, Any]) -> Rows:
    """Returns the chosen rows of a block, converted and checked.

    Args:
      block: The records.
      chosen: Positions of records in the block, ascending.
      table: The columns to read of the block's file.
      layout: Where to put them, by their names.
      params: The params of `input_fns/csv.py`.

    Raises:
      RecordError: A record cannot be used.
    """
    try:
        formats = {name: form for name, form in table.formats.items() if not block.is_typed(name)}
        kinds = [str if name in formats else kind for name, kind in zip(table.names, table.types)]
        columns = dict(zip(table.names, block.arrays(table, kinds)))
        is_all = len(chosen) == len(next(iter(columns.values())))
        if not is_all:
            wanted = pa.array(chosen)
            columns = {name: column.take(wanted) for name, column in columns.items()}
        if _leaves_out(layout, params):
            has_label = _has_value(columns[layout.label])
            columns = {name: column.filter(has_label) for name, column in columns.items()}
        for name, form in formats.items():
            columns[name] = _plain(columns[name], form, dict(zip(table.names, table.types))[name])
        return _converted(columns, table, layout, params)
    except (pa.ArrowException, ValueError):
        # The texts show which record is wrong; if none is, Arrow reads less than it should.
        return _of_texts(block, chosen, table, layout, params)


def _leaves_out(layout: Layout, params: Mapping[str, Any]) -> bool:
    """Returns whether rows without a label are left out; not where it is only shown, as text."""
    return bool(layout.label) and layout.label_dtype is not object and leaves_out(params)


def _has_value(column: pa.Array) -> pa.Array:
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    if pa.types.is_binary(column.type):
        return compute.not_equal(column.fill_null(b""), b"")
    return column.is_valid()


def _plain(texts: pa.Array, form: str, kind: type) -> pa.Array:
    """Returns the numbers of a format; raises ValueError if a text is none."""
    if not isinstance(texts, pa.DictionaryArray):
        texts = texts.dictionary_encode()
    different = [text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
                 for text in texts.dictionary.to_pylist()]
    found = numbers_of([number_format.plain(text, form) for text in different if text], kind)
    if found is None:
        raise ValueError("a number has another format")
    return _array(different, kind, found).take(texts.indices)


def _converted(columns: Mapping[str, pa.Array], table: Table, layout: Layout,
               params: Mapping[str, Any]) -> Rows:
    """Returns the rows; raises ValueError if a value cannot be used."""
    count = len(next(iter(columns.values())))
    fills = dict(zip(table.names, table.defaults))
    floats: np.ndarray = np.empty((count, len(layout.floats)), layout.float_dtype)
    integers = np.empty((count, len(layout.integers)), np.int64)
    texts = np.empty((count, len(layout.texts)), object)
    for i, name in enumerate(layout.floats):
        floats[:, i] = _numbers(columns[name], fills[name])
    for i, name in enumerate(layout.integers):
        integers[:, i] = _integers(columns[name], fills[name])
    for i, name in enumerate(layout.texts):
        texts[:, i] = _texts(columns[name], fills[name])
    label = np.zeros(count, np.int64) if not layout.label else _labels(
        columns[layout.label], layout, params)
    return floats, integers, texts, label


def _numbers(column: pa.Array, fill: Optional[Value]) -> np.ndarray:
    """Returns a column of floats; raises ValueError if one is not finite, or may not be empty."""
    values: np.ndarray = column.to_numpy(zero_copy_only=False)
    if column.null_count and fill is None:
        raise ValueError("a number is empty")
    _check_finite(values, column.null_count)
    if not column.null_count or math.isnan(fill):  # type: ignore[arg-type]
        return values
    return np.where(np.isnan(values), fill, values)


def _check_finite(values: np.ndarray, num_empty: int) -> None:
    # NaN is not less than anything, so that an empty field is not counted.
    if np.count_nonzero(np.abs(values) <= MOST) + num_empty != values.size:
        raise ValueError("a number is nan or infinite")


def _integers(column: pa.Array, fill: Optional[Value]) -> np.ndarray:
    if not column.null_count:
        return column.to_numpy()
    if fill is None:
        raise ValueError("a number is empty")
    return column.fill_null(int(fill)).to_numpy(zero_copy_only=False)


def _texts(column: pa.Array, fill: Optional[Value]) -> np.ndarray:
    """Returns a column of bytes, object [rows]."""
    empty = str(fill or "").encode()
    if not isinstance(column, pa.DictionaryArray):
        if column.null_count:
            column = column.fill_null(empty)
        if not pa.types.is_binary(column.type):
            column = column.cast(pa.binary())
        values = column.to_numpy(zero_copy_only=False)
        return np.where(values == b"", empty, values) if empty else values
    different = np.array([*column.dictionary.to_pylist(), empty], object)
    places = column.indices.fill_null(len(different) - 1).to_numpy(zero_copy_only=False)
    return different[places]


def _labels(column: pa.Array, layout: Layout, params: Mapping[str, Any]) -> np.ndarray:
    """Returns the labels [rows]; raises ValueError if one cannot be used."""
    if layout.label_dtype is object:
        return _texts(column, "")
    if column.null_count:
        raise ValueError("a label is missing")
    if layout.label_dtype is np.float32:
        numbers = column.to_numpy(zero_copy_only=False)
        _check_finite(numbers, 0)
        return numbers.astype(np.float32)
    if params["label_vocabulary"]:
        classes = {text.encode(): i for i, text in enumerate(params["label_vocabulary"])}
        coded = column if isinstance(column, pa.DictionaryArray) else column.cast(
            pa.binary()).dictionary_encode()
        indices = [classes.get(text, -1) for text in coded.dictionary.to_pylist()]
        found = np.array([*indices, 0], np.int64)[coded.indices.to_numpy(zero_copy_only=False)]
        num_classes = len(classes)
    else:
        found, num_classes = column.to_numpy(zero_copy_only=False), params["num_classes"]
    if num_classes > 0 and len(found) and not 0 <= found.min() <= found.max() < num_classes:
        raise ValueError("a label is out of range")
    return found


def _of_texts(block: Block, chosen: np.ndarray, table: Table, layout: Layout,
              params: Mapping[str, Any]) -> Rows:
    """Returns the rows as the texts of their fields have them, one by one.

    Raises:
      RecordError: A record cannot be used.
    """
    places, records = [], []
    label = table.names.index(layout.label) if _leaves_out(layout, params) else None
    for place, fields in block.fields(table, chosen):
        if label is None or fields[label] not in ("", params["na_value"]):
            places.append(place)
            records.append(fields)
    columns = {}
    for name, kind, column in zip(table.names, table.types, zip(*records)):
        texts = ["" if field == params["na_value"] else table.plain(name, field)
                 for field in column]
        numbers = None if kind is str else numbers_of([text for text in texts if text], kind)
        if kind is not str and numbers is None:
            _raise_first(places, records, table, params)
        columns[name] = _array(texts, kind, numbers)
    try:
        return _converted(columns, table, layout, params) if columns else layout.empty()
    except (pa.ArrowException, ValueError):
        _raise_first(places, records, table, params)
        raise


def _array(texts: Sequence[str], kind: type, numbers: Optional[np.ndarray]) -> pa.Array:
    if numbers is None:
        return pa.array([text.encode("utf-8", "surrogateescape") if text else None
                         for text in texts], pa.binary()).dictionary_encode()
    values = iter(numbers.tolist())
    return pa.array([next(values) if text else None for text in texts],
                    pa.int64() if kind is int else pa.float64())


def _raise_first(places: Sequence[str], records: Sequence[Sequence[str]], table: Table,
                 params: Mapping[str, Any]) -> None:
    """Raises RecordError for the first record that cannot be used."""
    for place, fields in zip(places, records):
        problem, sign = bad_line.fields_problem(fields, table, params)
        if problem:
            raise RecordError(place + problem, sign)
