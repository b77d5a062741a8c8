"""Reads tables that Arrow has types for: Parquet and Feather files, and tables in memory."""

from __future__ import annotations

import functools
import hashlib
import io
from typing import Any, Iterator, Mapping, Sequence
import weakref

from absl import logging
import numpy as np
from pyarrow import compute, ipc
import pyarrow as pa

from input_fns.reading import file_system, table_file
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.field import Number

_BATCH_ROWS = 8192
# A column chunk is read in such pieces.
_BUFFER_BYTES = 1 << 20
# About how long a text is.
_TEXT_BYTES = 16
_ZERO_FRACTION = r"\.0+$"


class _Source:
    """A table whose rows come in units that can be read alone: row groups or batches.

    Attributes:
      schema: The columns and their types.
      rows: The number of rows of each unit.
    """

    schema: pa.Schema
    rows: list[int]

    def batches(self, unit: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a unit, with the columns of these names."""
        raise NotImplementedError

    def text_bytes(self, names: Sequence[str]) -> int:
        """Returns about how many bytes the texts of these columns have."""
        return _TEXT_BYTES * len(names) * sum(self.rows)


class _Parquet(_Source):
    def __init__(self, path: str):
        from pyarrow import parquet
        self._file = parquet.ParquetFile(_readable(path), buffer_size=_BUFFER_BYTES)
        self.schema = self._file.schema_arrow
        metadata = self._file.metadata
        self.rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]

    def batches(self, unit: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self._file.iter_batches(_BATCH_ROWS, row_groups=[unit], columns=list(names),
                                           use_threads=False)


class _Feather(_Source):
    def __init__(self, path: str):
        self._reader = ipc.open_file(_readable(path))
        self.schema = self._reader.schema
        # Only the batches themselves have their numbers of rows.
        self.rows = [self._reader.get_batch(i).num_rows
                     for i in range(self._reader.num_record_batches)]

    def batches(self, unit: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from _pieces(self._reader.get_batch(unit).select(list(names)))


class _Memory(_Source):
    def __init__(self, path: str):
        table = _in_memory(path)
        if any(map(_is_array, table.schema.types)):
            table = _split(path)
        self._batches = table.to_batches(_BATCH_ROWS)
        self.schema, self.rows = table.schema, [batch.num_rows for batch in self._batches]

    def batches(self, unit: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield self._batches[unit].select(list(names))


_SOURCES = {table_file.PARQUET: _Parquet, table_file.FEATHER: _Feather, table_file.MEMORY: _Memory}
# A program may have several tables of one content, each for a time of its own.
_tables: dict[str, list[weakref.ref[pa.Table]]] = {}


def path_of(table: pa.Table) -> str:
    """Returns a path by which the params name a table in memory, as long as the table exists.

    Tables of the same content have the same path, so that a training goes on with such a table.
    """
    content = _Digest()
    with ipc.new_stream(pa.PythonFile(content, "w"), table.schema.remove_metadata()) as stream:
        stream.write_table(table.replace_schema_metadata(None))
    path = f"{table_file.MEMORY_SCHEME}{content.hash.hexdigest()}"
    for each in list(_tables):
        _tables[each] = [reference for reference in _tables[each] if reference() is not None]
        if not _tables[each]:
            del _tables[each]
    _tables.setdefault(path, []).append(weakref.ref(table))
    return path


def arrays_in(path: str) -> dict[str, np.ndarray]:
    """Returns the columns of a table in memory as arrays [rows, ...], by name."""
    table = _in_memory(path)
    wholes = {name: table[name].combine_chunks() for name in table.column_names}
    return {name: whole.to_numpy_ndarray() if _is_array(whole.type) else
            whole.to_numpy(zero_copy_only=False) for name, whole in wholes.items()}


def _in_memory(path: str) -> pa.Table:
    tables = (reference() for reference in _tables.get(path, ()))
    table = next((each for each in tables if each is not None), None)
    if table is None:
        raise DataFileError(
            "the data are a table that another program, or an earlier call, had in memory; "
            "expected the table again as data=, or a file")
    return table


def _is_array(kind: pa.DataType) -> bool:
    """Returns whether a column has an array of one shape in each row."""
    return isinstance(kind, pa.FixedShapeTensorType)


@functools.lru_cache(maxsize=2)
def _split(path: str) -> pa.Table:
    """Returns a table with a column NAME_I of numbers for each place of a column of vectors."""
    table = _in_memory(path)
    columns: dict[str, Any] = {}
    for name, array in arrays_in(path).items():
        if array.ndim > 2:
            raise DataParamError(
                f"column {name!r} of the table in memory has an array of the shape "
                f"{list(array.shape[1:])} in each row; expected a number, a text or a vector. For "
                "example, for pictures: --model_fn=cnn --input_fn=arrays")
        made = ({f"{name}_{i}": each for i, each in enumerate(array.T)} if array.ndim > 1 else
                {name: table[name]})
        if twice := columns.keys() & made.keys():
            raise DataParamError(
                f"column {name!r} of the table in memory is a vector, whose places would be columns"
                f" {min(twice)!r} and so on, and there is another {min(twice)!r}; expected another "
                "name of one of them")
        columns.update(made)
    return pa.table(columns)


class _Digest(io.RawIOBase):
    """A file that keeps a digest of what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.hash = hashlib.blake2b(digest_size=8)

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self.hash.update(content)
        return len(content)


def opened(path: str) -> _Source:
    """Returns the table at a path.

    Raises:
      DataFileError: It is damaged, or not of its kind.
    """
    try:
        return _SOURCES[table_file.kind_of(path)](path)
    except (pa.ArrowException, OSError) as error:
        raise DataFileError(f"{path} cannot be read as {table_file.kind_of(path)}: "
                            f"{' '.join(str(error).split())}") from error


def batches(path: str, source: _Source, unit: int,
            names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a unit of a file, with the columns of these names.

    Raises:
      DataFileError: The file is truncated or damaged.
    """
    try:
        yield from source.batches(unit, names)
    except (pa.ArrowException, OSError) as error:
        raise DataFileError(f"{path} is truncated or damaged: "
                            f"{' '.join(str(error).split())}") from error


def names_of(path: str) -> list[str]:
    """Returns the names of the columns; those of lists and other nested values are left out."""
    schema = opened(path).schema
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        logging.warning("%s: columns of lists and other nested values are left out: %s", path,
                        ", ".join(nested))
    return [field.name for field in schema if field.name not in nested]


def kinds_of(path: str) -> dict[str, type]:
    """Returns the types of the columns of numbers, int or float, by name."""
    # Unsigned integers may be too large for int64.
    return {field.name: int if pa.types.is_integer(field.type) else float
            for field in opened(path).schema
            if is_number(field.type) and not pa.types.is_uint64(field.type)}


def is_number(kind: pa.DataType) -> bool:
    """Returns whether a type is one of numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def in_words(array: pa.Array, words: Mapping[str, str]) -> pa.Array:
    """Returns booleans as texts, if words are given for "true" and "false"; others unchanged."""
    if not words or not pa.types.is_boolean(array.type):
        return array
    return compute.if_else(array, words.get("true", "true"), words.get("false", "false"))


def typed(array: pa.Array, kind: type) -> pa.Array:
    """Returns a column as int64, float64 or binary; raises ArrowInvalid if a value is not one."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if kind is str:
        return as_text(array).cast(pa.binary())
    if pa.types.is_temporal(array.type):
        raise pa.ArrowInvalid("a time has no number that does not depend on its unit")
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    if pa.types.is_floating(array.type):
        array = compute.if_else(compute.is_nan(array), None, array)  # As pandas writes them.
    # An integer beyond 2^53 is the nearest float.
    return array.cast(pa.int64()) if kind is int else array.cast(pa.float64(), safe=False)


def as_text(array: pa.Array) -> pa.Array:
    """Returns a column as texts; empty where a value is missing."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        return array.cast(pa.binary()).fill_null(b"")
    if pa.types.is_floating(array.type):
        array = compute.if_else(compute.is_nan(array), None, array)
    texts = array.cast(pa.string())
    if pa.types.is_timestamp(array.type):
        texts = compute.replace_substring_regex(texts, _ZERO_FRACTION, "")
    return texts.fill_null("")


def decoded(array: pa.Array) -> list[str]:
    """Returns texts as Python has them; a byte that is no UTF-8 becomes a surrogate."""
    return [value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
            for value in array.to_pylist()]


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, _BATCH_ROWS):
        yield batch.slice(start, _BATCH_ROWS)


def _readable(path: str) -> Any:
    if file_system.is_remote(path):
        return pa.PythonFile(file_system.opened(path), "r")
    return pa.OSFile(path)


def text_columns(batch: pa.RecordBatch, kinds: Mapping[str, type],
                 truth: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """Returns the columns as texts, by name; booleans of a column of numbers are 0 and 1.

    Other booleans become the words of `truth`, if it has some for the column.
    """
    columns: dict[str, list[str]] = {}
    for name, array in zip(batch.schema.names, batch.columns):
        if pa.types.is_boolean(array.type) and kinds.get(name, str) is not str:
            array = array.cast(pa.int8())
        texts = decoded(as_text(in_words(array, truth.get(name, {}))))
        columns[name] = list(map(Number, texts)) if is_number(array.type) else texts
    return columns
