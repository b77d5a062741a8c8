"""The rows of a table as its files have them, to stand beside a model's answers."""

from __future__ import annotations

from typing import Iterator, NamedTuple

import pyarrow as pa

from input_fns.reading import table_file
from input_fns.reading.header import header_of
from input_fns.reading.table import with_text
from input_fns.reading.table_batches import Source

_KINDS = {table_file.CSV: "csv", table_file.JSON: "jsonl", table_file.PARQUET: "parquet",
          table_file.FEATHER: "feather", table_file.MEMORY: ""}


class StoredRows(NamedTuple):
    """Rows that are read as they are stored.

    Attributes:
      kind: What the first file is: "csv", "jsonl", "parquet" or "feather"; "" for a table in
        memory.
      names: The columns, without the label.
      batches: The rows in the order of mode "infer"; texts, unless the files have types.
      identifiers: Columns that stand beside the answers in any case.
      columns: All columns of the first file but the label.
    """

    kind: str
    names: tuple[str, ...]
    batches: Iterator[pa.RecordBatch]
    identifiers: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


def of(source: Source, key: str = "") -> StoredRows:
    """Returns the rows that are read from a source, without its label.

    With `key` this column is among the names, if all files have it.
    """
    first, label = source.files[0], source.params["label"]
    headers = {path: header_of(path, source.params) for path in source.tables}
    if all(key in header.names for header in headers.values()):
        source = source._replace(tables={
            path: with_text(table, headers[path], key) for path, table in source.tables.items()})
    names = tuple(name for name in source.tables[first].names if name != label)
    columns = tuple(name for name in headers[first].names if name not in ("", label))
    return StoredRows(_KINDS[table_file.kind_of(first)], names, source.stored(names),
                      columns=columns)
