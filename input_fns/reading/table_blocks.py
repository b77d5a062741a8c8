"""Reads a table's file block by block: its columns as Arrow has them, or the texts of its fields.

Arrow converts a whole block at once. Where it fails, the texts show which record is wrong, and
where it is.
"""

from __future__ import annotations

import codecs
import csv
from typing import Iterator, NamedTuple, Protocol, Sequence

import numpy as np
from pyarrow import compute, csv as arrow_csv
import pyarrow as pa

from input_fns.reading import advice, arrow_file, json_lines, table_file, text_records
from input_fns.reading.errors import RecordError
from input_fns.reading.table import Table
from input_fns.reading.text_records import TextBlock

# bytes: texts of which most are different.
_ARROW_TYPES = {int: pa.int64(), float: pa.float64(), bytes: pa.binary(),
                str: pa.dictionary(pa.int32(), pa.binary())}


class Block(Protocol):
    """Some records of a file."""

    def ordinals(self) -> np.ndarray:
        """Returns the number of each record in its file, from 1, int64 [records]."""

    def arrays(self, table: Table, kinds: Sequence[type]) -> list[pa.Array]:
        """Returns the table's columns to read, of the given types.

        Raises:
          ArrowInvalid, ValueError: A record or a value may be wrong.
        """

    def fields(self, table: Table, chosen: np.ndarray) -> Iterator[tuple[str, list[str]]]:
        """Yields the place of each chosen record, and the texts of the columns to read.

        Args:
          table: The columns to read.
          chosen: Positions of records in the block, ascending.

        Raises:
          RecordError: A record does not have the columns.
        """

    def is_typed(self, name: str) -> bool:
        """Returns whether a column has a type of numbers, and so no format of them."""

    def stored(self, table: Table) -> pa.RecordBatch:
        """Returns the columns to read as the file has them: texts, or with their types."""


class CsvBlock(NamedTuple):
    """Records of a CSV file."""

    path: str
    text: TextBlock
    na_value: str

    def ordinals(self) -> np.ndarray:
        """See Block."""
        return self.text.ordinals()

    def arrays(self, table: Table, kinds: Sequence[type]) -> list[pa.Array]:
        """See Block."""
        data = self.text.data
        if data.startswith(codecs.BOM_UTF8):
            raise ValueError("Arrow drops a byte order mark")
        if int in kinds and (b"0x" in data or b"0X" in data):
            # Arrow reads hexadecimal integers, which are no numbers here.
            texts = self.arrays(table, [str if kind is int else kind for kind in kinds])
            return [_decimal(array) if kind is int else array for array, kind in zip(texts, kinds)]
        if self.text.has_quotes:
            if text_records.misplaced_quote(data, table.delimiter) is not None:
                raise ValueError("Arrow takes a quote in a field for a character")
        names = [str(position) for position in range(table.width)]
        wanted = [names[position] for position in table.positions]
        found = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(delimiter=table.delimiter,
                                   newlines_in_values=self.text.has_quotes),
            arrow_csv.ConvertOptions(
                check_utf8=False, include_columns=wanted, strings_can_be_null=True,
                null_values=list({"", self.na_value}),
                column_types={name: _ARROW_TYPES[kind] for name, kind in zip(wanted, kinds)}))
        return [column.combine_chunks() for column in found.columns]

    def texts(self, table: Table) -> list[pa.Array]:
        """Returns the columns to read as texts; what is no UTF-8 is replaced.

        Raises:
          ArrowInvalid, ValueError: A record may be wrong.
        """
        # No text stands for an empty field here.
        columns = self._replace(na_value="").arrays(table, [bytes] * len(table.names))
        return [_decoded(column) for column in columns]

    def lines(self, chosen: np.ndarray) -> np.ndarray:
        """Returns the numbers of the lines with which the chosen records begin."""
        return self.text.lines()[chosen]

    def fields(self, table: Table, chosen: np.ndarray) -> Iterator[tuple[str, list[str]]]:
        """See Block."""
        wanted = set(chosen.tolist())
        for index, (line, text) in enumerate(self.text.records()):
            if index in wanted:
                place = f"line {line} of {self.path}"
                problem = split_problem(text, table.width, table.delimiter)
                if problem:
                    raise RecordError(place + problem)
                every = text_records.split(text, table.delimiter)
                yield place, [every[position] for position in table.positions]

    def is_typed(self, name: str) -> bool:
        """See Block."""
        return False

    def stored(self, table: Table) -> pa.RecordBatch:
        """See Block."""
        try:
            return pa.RecordBatch.from_arrays(self.texts(table), table.names)
        except (pa.ArrowException, ValueError):
            return _as_texts(self, table)


def _decoded(column: pa.Array) -> pa.Array:
    try:
        return column.fill_null(b"").cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([text.decode("utf-8", "replace") for text in column.fill_null(
            b"").to_pylist()])


def printable(text: str) -> str:
    """Returns a text with the sign for what is no UTF-8 in place of surrogates."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode(
        "utf-8", "replace")


def _decimal(texts: pa.DictionaryArray) -> pa.Array:
    """Returns integers; raises ArrowInvalid or ValueError if a text is none."""
    different = texts.dictionary.cast(pa.string())
    if compute.any(compute.match_substring(different, "x", ignore_case=True)).as_py():
        raise ValueError("a number is hexadecimal")
    return different.cast(pa.int64()).take(texts.indices)


def split_problem(line: str, width: int, delimiter: str) -> str:
    """Returns a line's problem if it has not `width` columns, worded to follow its place, or ""."""
    try:
        fields = text_records.split(line, delimiter)
    except text_records.UnquotedError:
        return (": Unquoted fields cannot have quotes inside; expected the field in quotes, with "
                "each quote in it twice")
    except (csv.Error, ValueError) as error:
        return f" cannot be split into columns: {error}"
    if len(fields) == width:
        return ""
    return (f" has {len(fields)} columns; expected {width}. Correct or delete the line; a field "
            f"with {delimiter!r} in it needs double quotes")


class JsonBlock(NamedTuple):
    """Records of a file of JSON lines."""

    path: str
    text: TextBlock

    def ordinals(self) -> np.ndarray:
        """See Block."""
        return self.text.ordinals()

    def arrays(self, table: Table, kinds: Sequence[type]) -> list[pa.Array]:
        """See Block."""
        found = json_lines.arrays(self.text.data, table.names, kinds)
        if found and len(found[0]) != len(self.ordinals()):
            raise ValueError("an object is not a line")
        return found

    def fields(self, table: Table, chosen: np.ndarray) -> Iterator[tuple[str, list[str]]]:
        """See Block."""
        wanted = set(chosen.tolist())
        for index, (line, text) in enumerate(self.text.records()):
            if index in wanted:
                place = f"line {line} of {self.path}"
                try:
                    values = json_lines.values_of(text)
                except json_lines.NoObjectError as error:
                    raise RecordError(f"{place}{error}") from error
                fields = [values.get(name, "") for name in table.names]
                nested = [i for i, field in enumerate(fields)
                          if isinstance(field, json_lines.Nested)]
                if nested:
                    name = table.names[nested[0]]
                    raise RecordError(
                        f"{place}: column {name!r} is a {fields[nested[0]]}; expected a number or "
                        f"a text, or the column left out: "
                        + advice.typed("drop", [name]))
                yield place, [table.truth.get(name, {}).get(field, field)
                              for name, field in zip(table.names, fields)]

    def is_typed(self, name: str) -> bool:
        """See Block."""
        return False

    def stored(self, table: Table) -> pa.RecordBatch:
        """See Block."""
        return _as_texts(self, table)


class ArrowBlock(NamedTuple):
    """Rows of a Parquet or Feather file, or of a table in memory; `row` is the first one's."""

    path: str
    batch: pa.RecordBatch
    row: int

    def ordinals(self) -> np.ndarray:
        """See Block."""
        return self.row + np.arange(self.batch.num_rows)

    def arrays(self, table: Table, kinds: Sequence[type]) -> list[pa.Array]:
        """See Block."""
        return [arrow_file.typed(arrow_file.in_words(self.batch.column(name),
                                                     table.truth.get(name, {})), kind)
                for name, kind in zip(table.names, kinds)]

    def fields(self, table: Table, chosen: np.ndarray) -> Iterator[tuple[str, list[str]]]:
        """See Block."""
        texts = arrow_file.text_columns(self.batch.select(table.names).take(pa.array(chosen)),
                                        dict(zip(table.names, table.types)), table.truth)
        for index, fields in zip(chosen.tolist(), zip(*(texts[name] for name in table.names))):
            yield f"row {self.row + index} of {table_file.shown(self.path)}", list(fields)

    def is_typed(self, name: str) -> bool:
        """See Block."""
        return arrow_file.is_number(self.batch.schema.field(name).type)

    def stored(self, table: Table) -> pa.RecordBatch:
        """See Block."""
        return self.batch.select(table.names)


def _as_texts(block: Block, table: Table) -> pa.RecordBatch:
    """Returns the texts of all records of a block; a byte that is no UTF-8 is replaced."""
    every = (fields for _, fields in block.fields(table, np.arange(len(block.ordinals()))))
    return pa.RecordBatch.from_arrays(
        [pa.array(map(printable, column), pa.string()) for column in zip(*every)], table.names)


class Share(NamedTuple):
    """A part of a file: what one of several pipelines reads.

    Attributes:
      path: The file.
      parts: How many pipelines share the file.
      part: The number of this one, from 0.
    """

    path: str
    parts: int = 1
    part: int = 0


class Piece(NamedTuple):
    """A block, and how its pipeline shares its records with others; see Share."""

    block: Block
    parts: int
    part: int


def pieces(share: Share, table: Table, na_value: str = "") -> Iterator[Piece]:
    """Yields the blocks of a file in which a pipeline has records.

    Row groups are shared out as files are: as many whole ones to each pipeline as there are, and
    the remaining ones record by record.

    Raises:
      DataFileError: The file is truncated or damaged.
    """
    path, parts, part = share
    kind = table_file.kind_of(path)
    if kind in (table_file.CSV, table_file.JSON):
        for text in text_blocks(path, has_header=bool(table.header)):
            block = CsvBlock(path, text, na_value) if kind == table_file.CSV else JsonBlock(
                path, text)
            yield Piece(block, parts, part)
        return
    source = arrow_file.opened(path)
    whole = len(source.rows) // parts * parts
    row = 1
    for unit, rows in enumerate(source.rows):
        if unit >= whole or unit % parts == part:
            first = row
            for batch in arrow_file.batches(path, source, unit, table.names):
                yield Piece(ArrowBlock(path, batch, first), *(
                    (1, 0) if unit < whole else (parts, part)))
                first += batch.num_rows
        row += rows


def text_blocks(path: str, has_header: bool) -> Iterator[TextBlock]:
    """Yields a text file's records after the header; the first one after it has number 1."""
    for block in text_records.blocks_of(path):
        if has_header:
            block = block.after_first() if block.ordinal == 1 else block._replace(
                ordinal=block.ordinal - 1)
        if block.data:
            yield block
