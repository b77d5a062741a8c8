"""Answers as columns with types: in memory, in a Parquet file, or in a Feather file."""

import itertools
from typing import Any, Iterable, Iterator, Mapping

import pyarrow as pa

from estimator_trainer.prediction import output_file, prediction_writer
from estimator_trainer.prediction.input_rows import InputRows

_ROWS = 4096
# A row group of a file; larger ones would need more memory.
_GROUP_ROWS = 65536


def tables(rows: Iterable[Mapping[str, Any]], inputs: InputRows | None = None
           ) -> Iterator[pa.Table]:
    """Yields rows of answers as tables of the same columns, with the inputs after the key.

    The first table decides the columns and their types. Without a row, one table has the columns
    that are known.

    Raises:
      TrainerError: A row has other columns, or a value of another type.
    """
    waiting, schema, start = iter(rows), None, 0
    while chunk := list(itertools.islice(waiting, _ROWS)):
        answers = _table(chunk, schema, start)
        schema, start = answers.schema, start + len(chunk)
        yield answers if inputs is None else _joined(answers, inputs.take(len(chunk)))
    if schema is None:
        empty = pa.table({"key": pa.array([], pa.int64())})
        yield _joined(empty, inputs.take(0) if inputs else None)


def write(parts: Iterator[pa.Table], kind: str, target: output_file.Write) -> None:
    """Writes tables as a file of a kind, one row group or batch at a time."""
    first = _without_dictionaries(next(parts), kind)
    with _opened(kind, _Target(target), first.schema) as writer:
        group = [first]
        for part in parts:
            if sum(each.num_rows for each in group) + part.num_rows > _GROUP_ROWS:
                writer.write_table(pa.concat_tables(group))
                group = []
            group.append(_without_dictionaries(part, kind))
        writer.write_table(pa.concat_tables(group))


class _Target:
    """An object with the methods of a file, for Arrow to write to."""

    closed = False

    def __init__(self, target: output_file.Write):
        self._target = target

    def write(self, content: Any) -> int:
        """Writes bytes, or an Arrow buffer of them."""
        data = bytes(content)
        self._target(data)
        return len(data)

    def flush(self) -> None:
        """Does nothing: the file is readable when it is whole."""

    def close(self) -> None:
        """Does nothing: the file belongs to the caller."""


def _opened(kind: str, target: _Target, schema: pa.Schema) -> Any:
    if kind == output_file.PARQUET:
        from pyarrow import parquet
        return parquet.ParquetWriter(target, schema)
    compression = "lz4" if pa.Codec.is_available("lz4") else None
    return pa.ipc.new_file(target, schema, options=pa.ipc.IpcWriteOptions(compression=compression))


def _without_dictionaries(table: pa.Table, kind: str) -> pa.Table:
    """Returns the table as a file of the kind can hold it; Feather has one dictionary a column."""
    if kind == output_file.PARQUET:
        return table
    return table.cast(pa.schema([
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema]))


def _joined(answers: pa.Table, inputs: pa.Table | None) -> pa.Table:
    """Returns the answers with the inputs after the key."""
    if inputs is None:
        return answers
    place = int(answers.column_names[:1] == ["key"])
    for name, column in zip(inputs.column_names, inputs.columns):
        unique = name if name not in answers.column_names else f"input_{name}"
        answers = answers.add_column(place, pa.field(unique, column.type), column)
        place += 1
    return answers


def _table(rows: list[Mapping[str, Any]], schema: pa.Schema | None, start: int) -> pa.Table:
    names = list(rows[0]) if schema is None else schema.names
    for number, row in enumerate(rows, start):
        prediction_writer.check_columns(row, names, number)
    columns = {}
    for name in names:
        values = [row[name] for row in rows]
        is_text = name in ("class", "label_class") or name == "label" and "label_class" in names
        kind = _type(values, is_text) if schema is None else schema.field(name).type
        try:
            columns[name] = pa.array(values, kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise prediction_writer.differs(start + _first_wrong(values, kind), name) from error
    return pa.table(columns)


def _type(values: Iterable[Any], is_text: bool) -> pa.DataType:
    """Returns the type of a column by its first values; without one, `is_text` decides."""
    found = list(dict.fromkeys(type(value) for value in values if value is not None))
    if not found:
        return pa.string() if is_text else pa.float64()
    # A value of another type than the first is refused, unless they are numbers.
    first = float if set(found) == {int, float} else found[0]
    return {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}.get(first, pa.string())


def _first_wrong(values: list[Any], kind: pa.DataType) -> int:
    for i, value in enumerate(values):
        try:
            pa.array([value], kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return i
    return 0
