"""The rows of a table as its files have them, to stand beside a model's answers."""

from __future__ import annotations

from typing import Iterator, NamedTuple

import pyarrow as pa

from input_fns.reading import table_file
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
    """

    kind: str
    names: tuple[str, ...]
    batches: Iterator[pa.RecordBatch]
    identifiers: tuple[str, ...] = ()


def of(source: Source) -> StoredRows:
    """Returns the rows that are read from a source, without its label."""
    first = source.files[0]
    names = tuple(name for name in source.tables[first].names if name != source.params["label"])
    return StoredRows(_KINDS[table_file.kind_of(first)], names, source.stored(names))
