"""Reads the first records of a table's training files, from which columns' types are learned."""

from __future__ import annotations

import bisect
import functools
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from absl import logging
import numpy as np
from pyarrow import compute
import pyarrow as pa

from input_fns.reading import arrow_file, missing, number_format, table_file
from input_fns.reading.errors import DataFileError, RecordError
from input_fns.reading.header import Header, header_of, header_problem, log_unnamed
from input_fns.reading.table import in_file, Table, wants_kinds
from input_fns.reading.table_blocks import Block, CsvBlock, pieces, printable, Share
from input_fns.reading.table_params import KINDS, leaves_out

MOST_LINES = 100_000
# Otherwise a table of very many columns would not fit in memory.
MOST_FIELDS = 2_000_000


class Places:
    """File and number of each record, in order; a sequence of (path, number)."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._numbers: list[np.ndarray] = []
        self._ends: list[int] = [0]

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index: int) -> tuple[str, int]:
        part = bisect.bisect_right(self._ends, index) - 1
        return self._paths[part], int(self._numbers[part][index - self._ends[part]])

    def add(self, path: str, numbers: np.ndarray) -> None:
        """Adds the next records, of one file."""
        self._paths.append(path)
        self._numbers.append(numbers)
        self._ends.append(len(self) + len(numbers))


class Texts(Sequence[str]):
    """The texts of a column, which become those of Python only where they are looked at."""

    def __init__(self, arrow: pa.ChunkedArray):
        self.arrow = arrow

    def __len__(self) -> int:
        return len(self.arrow)

    def __getitem__(self, index: Any) -> Any:
        return self._texts[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    @functools.cached_property
    def _texts(self) -> list[str]:
        return self.arrow.to_pylist()

    def is_any_of(self, values: Sequence[str]) -> np.ndarray:
        """Returns whether each text is one of the values, bool [texts]."""
        return compute.is_in(self.arrow, pa.array(values)).to_numpy()


class Scan(NamedTuple):
    """The fields of the records that were read.

    Attributes:
      columns: The texts of each column, record by record, by name.
      is_training: Whether a record is one to train on, bool [records].
      places: File and number of each record; the header is line 1.
      is_whole: Whether all records of all files were read.
      word: What a record is called: "line", or "row" in a file that has no lines.
      kinds: The types of the columns of numbers, int or float, if the files have types.
      number_formats: The formats of the numbers that were not plain, by column; in `columns` they
        are plain.
      na_value: The text that means an empty field.
    """

    columns: dict[str, Texts]
    is_training: np.ndarray
    places: Places
    is_whole: bool
    word: str = "line"
    kinds: Mapping[str, type] = {}
    number_formats: Mapping[str, str] = {}
    na_value: str = ""

    def place(self, index: int) -> str:
        """Returns a record's place in words."""
        path, number = self.places[index]
        return f"{self.word} {number} of {path}"

    @property
    def extent(self) -> str:
        """Which records were read, in words."""
        return f"{'' if self.is_whole else 'the first '}{len(self.places):,} {self.word}s"


def scan(files: list[str], params: Mapping[str, Any], most_fields: int = MOST_FIELDS) -> Scan:
    """Reads up to `MOST_LINES` records, from the first file on.

    Args:
      files: The training files.
      params: The params of `input_fns/csv.py`.
      most_fields: The number of fields to read, at most.

    Raises:
      DataFileError: A line has more or fewer columns than the header, there is no record, or a
        file has another header.
    """
    header = header_of(files[0], params)
    log_unnamed(files[0], header)
    names = [name for name in header.names if name]
    table = Table(header.line, len(header.names), [header.names.index(name) for name in names],
                  names, [""] * len(names), [str] * len(names), header.delimiter)
    most = min(MOST_LINES, max(1, most_fields // len(names)))
    read = _read(files, header, table, params, most)
    is_text = table_file.kind_of(files[0]) in (table_file.CSV, table_file.JSON)
    if is_text and wants_kinds(params) and not params["na_value"] and read.columns:
        params = {**params, "na_value": missing.found({
            name: pa.chunked_array(parts) for name, parts in zip(names, zip(*read.columns))
            if not _is_text(name, params)})}
        if params["na_value"] and leaves_out(params):
            read = _read(files, header, table, params, most)
    if not len(read.places):
        raise DataFileError(
            f"train_files is {params['train_files']!r}, and no file of it holds a record"
            f"{' with a label' * bool(read.unlabelled)}; expected lines after the header. Write or "
            "download the file again, or name another one")
    every = 0 if params["eval_files"] else params["eval_every"]
    numbers = np.concatenate(read.ordinals)
    is_training = numbers % every != 0 if every else np.ones(len(numbers), bool)
    kinds = {} if is_text else arrow_file.kinds_of(files[0])
    columns, formats = {}, {}
    for name, parts in zip(names, zip(*read.columns)):
        columns[name], format_ = _column(name, pa.chunked_array(parts), params,
                                         name not in kinds)
        if format_:
            formats[name] = format_
    found = Scan(columns, is_training, read.places, read.is_whole, "line" if is_text else "row",
                 kinds, formats, params["na_value"])
    if read.unlabelled:
        logging.info("%s beside %s have no label, and are left out", f"{read.unlabelled:,}",
                     found.extent)
    return found


class _Read(NamedTuple):
    """The records that were read.

    Attributes:
      columns: The texts of each column, block by block.
      ordinals: The numbers of the records, block by block.
      places: File and line of each record.
      is_whole: Whether there are no more.
      unlabelled: How many others were left out, without a label.
    """

    columns: list[list[pa.Array]]
    ordinals: list[np.ndarray]
    places: Places
    is_whole: bool
    unlabelled: int


def _read(files: Sequence[str], header: Header, table: Table, params: Mapping[str, Any],
          most: int) -> _Read:
    """Reads up to `most` records."""
    columns, ordinals, places, unlabelled = [], [], Places(), 0
    label = table.names.index(params["label"]) if leaves_out(params) and (
        params["label"] in table.names) else None
    for path, block, own in _blocks(files, header, table, params):
        numbers = block.ordinals()
        chosen = np.arange(min(len(numbers), most - len(places)))
        is_cut = len(chosen) < len(numbers)
        if len(chosen):
            lines, texts = _texts(block, chosen, own)
            if label is not None:
                is_empty = compute.is_in(texts[label], pa.array(["", params["na_value"]]))
                has_label = ~is_empty.to_numpy(zero_copy_only=False)
                texts = [column.filter(pa.array(has_label)) for column in texts]
                chosen, lines = chosen[has_label], lines[has_label]
                unlabelled += int((~has_label).sum())
            columns.append(texts)
            ordinals.append(numbers[chosen])
            places.add(path, lines)
        if is_cut:
            return _Read(columns, ordinals, places, False, unlabelled)
    return _Read(columns, ordinals, places, True, unlabelled)


def _blocks(files: Sequence[str], header: Header, table: Table,
            params: Mapping[str, Any]) -> Iterator[tuple[str, Block, Table]]:
    """Yields the blocks of all files, and the places of the columns in each.

    Raises:
      DataFileError: A file has other columns.
    """
    for path in files:
        found = header_of(path, params)
        problem = header_problem(path, found, (files[0], header))
        if problem:
            raise DataFileError(problem)
        own = in_file(table, found)
        for block, *_ in pieces(Share(path), own):
            yield path, block, own


def _column(name: str, texts: pa.ChunkedArray, params: Mapping[str, Any],
            is_open: bool) -> tuple[Texts, str]:
    """Returns a column's texts, and the format of its numbers, which are then plain ones.

    The format is "" if the numbers are plain already, or may be something else.
    """
    set_by_user = params.get("number_formats", {}).get(name, "")
    if _is_text(name, params) or not is_open:
        return Texts(texts), ""
    empty = ("", params["na_value"])
    format_ = set_by_user or ("" if _are_plain(texts, empty) else number_format.found(
        name, [value for value in texts.to_pylist() if value not in empty]))
    if format_:
        texts = pa.chunked_array([[number_format.plain(value, format_)
                                   for value in texts.to_pylist()]], pa.string())
    return Texts(texts), format_


def _is_text(name: str, params: Mapping[str, Any]) -> bool:
    """Returns whether the user has said that a column is text."""
    if name == params["label"] and params["label_vocabulary"]:
        return True
    kind = KINDS.get(params["column_types"].get(name, ""), type(params["columns"].get(name)))
    return kind is str


def _are_plain(texts: pa.ChunkedArray, empty: Sequence[str]) -> bool:
    """Returns whether all texts that are not empty are plain numbers."""
    is_empty = compute.is_in(texts, pa.array(empty))
    try:
        compute.if_else(is_empty, None, texts).cast(pa.float64())
        return True
    except pa.ArrowInvalid:
        return False


def _texts(block: Block, chosen: np.ndarray, table: Table) -> tuple[np.ndarray, list[pa.Array]]:
    """Returns the numbers of records, and the texts of each column.

    Raises:
      DataFileError: A record does not have the columns.
    """
    try:
        if isinstance(block, CsvBlock):
            # Arrow's error has no line, so that a wrong record is looked for by the exact way.
            return block.lines(chosen), [column[:len(chosen)] for column in block.texts(table)]
    except (pa.ArrowException, ValueError):
        pass
    numbers, records = [], []
    try:
        for place, fields in block.fields(table, chosen):
            numbers.append(int(place.split(" ", 2)[1]))
            records.append(fields)
    except RecordError as error:
        raise DataFileError(error.sentence) from error
    return np.array(numbers), [pa.array(map(printable, column), pa.string())
                               for column in zip(*records)]
