"""Reads the first records of a table's training files, from which columns' types are learned."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
import pyarrow as pa

from input_fns.reading import arrow_file, table_file
from input_fns.reading.errors import DataFileError, RecordError
from input_fns.reading.header import header_of, header_problem, say_unnamed
from input_fns.reading.table import Table
from input_fns.reading.table_blocks import Block, CsvBlock, pieces, Share

MOST_LINES = 100_000
# Otherwise a table of very many columns would not fit in memory.
_MOST_FIELDS = 2_000_000


class Scan(NamedTuple):
    """The fields of the records that were read.

    Attributes:
      columns: The texts of each column, record by record, by name.
      is_training: Whether a record is one to train on, bool [records].
      places: File and number of each record; the header is line 1.
      is_whole: Whether all records of all files were read.
      word: What a record is called: "line", or "row" in a file that has no lines.
      kinds: The types of the columns of numbers, int or float, if the files have types.
    """

    columns: dict[str, tuple[str, ...]]
    is_training: np.ndarray
    places: list[tuple[str, int]]
    is_whole: bool
    word: str = "line"
    kinds: Mapping[str, type] = {}

    def place(self, index: int) -> str:
        """Returns a record's place in words."""
        path, number = self.places[index]
        return f"{self.word} {number} of {path}"

    @property
    def extent(self) -> str:
        """Which records were read, in words."""
        return f"{'' if self.is_whole else 'the first '}{len(self.places):,} {self.word}s"


def scan(files: list[str], params: Mapping[str, Any]) -> Scan:
    """Reads up to `MOST_LINES` records, from the first file on.

    Args:
      files: The training files.
      params: The params of `input_fns/csv.py`.

    Raises:
      DataFileError: A line has more or fewer columns than the header, there is no record, or a
        file has another header.
    """
    header = header_of(files[0], params)
    say_unnamed(files[0], header)
    names = [name for name in header.names if name]
    table = Table(header.line, len(header.names), [header.names.index(name) for name in names],
                  names, [""] * len(names), [str] * len(names), header.delimiter)
    most = min(MOST_LINES, _MOST_FIELDS // len(names))
    parts: list[dict[str, list[str]]] = []
    ordinals: list[np.ndarray] = []
    places: list[tuple[str, int]] = []
    for path in files:
        found = header_of(path, params)
        problem = header_problem(path, found, (files[0], header))
        if problem:
            raise DataFileError(problem)
        for block, *_ in pieces(Share(path), table._replace(header=found.line)):
            numbers = block.ordinals()
            if not len(numbers):
                continue
            if len(places) == most:
                return _scan(files, params, parts, ordinals, places, names, False)
            chosen = np.arange(min(len(numbers), most - len(places)))
            lines, texts = _texts(block, chosen, table)
            parts.append(dict(zip(names, texts)))
            ordinals.append(numbers[chosen])
            places += ((path, line) for line in lines)
            if len(chosen) < len(numbers):
                return _scan(files, params, parts, ordinals, places, names, False)
    if not places:
        raise DataFileError(
            f"train_files is {params['train_files']!r}, and no file of it holds a record")
    return _scan(files, params, parts, ordinals, places, names, True)


def _scan(files: Sequence[str], params: Mapping[str, Any], parts: list[dict[str, list[str]]],
          ordinals: list[np.ndarray], places: list[tuple[str, int]], names: list[str],
          is_whole: bool) -> Scan:
    every = 0 if params["eval_files"] else params["eval_every"]
    numbers = np.concatenate(ordinals)
    is_training = numbers % every != 0 if every else np.ones(len(numbers), bool)
    columns = {name: tuple(text for part in parts for text in part[name]) for name in names}
    is_text = table_file.kind_of(files[0]) in (table_file.CSV, table_file.JSON)
    return Scan(columns, is_training, places, is_whole, "line" if is_text else "row",
                {} if is_text else arrow_file.kinds_of(files[0]))


def _texts(block: Block, chosen: np.ndarray, table: Table) -> tuple[list[int], list[list[str]]]:
    """Returns the numbers of records, and the texts of each column.

    Raises:
      DataFileError: A record does not have the columns.
    """
    try:
        if isinstance(block, CsvBlock):
            # Arrow's error has no line, so that a wrong record is looked for by the exact way.
            columns = [_decoded(column) for column in block.arrays(table, [bytes] * len(
                table.names))]
            return block.lines(chosen), [column[:len(chosen)] for column in columns]
    except (pa.ArrowException, ValueError):
        pass
    numbers, records = [], []
    try:
        for place, fields in block.fields(table, chosen):
            numbers.append(int(place.split(" ", 2)[1]))
            records.append(fields)
    except RecordError as error:
        raise DataFileError(error.sentence) from error
    return numbers, [list(map(_printable, column)) for column in zip(*records)]


def _decoded(column: pa.Array) -> list[str]:
    try:
        texts: list[str] = column.fill_null(b"").cast(pa.string()).to_pylist()
        return texts
    except pa.ArrowInvalid:
        return [text.decode("utf-8", "replace") for text in column.fill_null(b"").to_pylist()]


def _printable(text: str) -> str:
    """Returns a text with the sign for what is no UTF-8 in place of surrogates."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode(
        "utf-8", "replace")
