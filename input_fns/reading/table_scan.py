"""Reads the first lines of a table's training files, from which the columns' types are learned."""

from __future__ import annotations

import csv
from typing import Any, Mapping, NamedTuple

import numpy as np

from input_fns.reading.errors import DataFileError
from input_fns.reading.table import header_of, header_problem, lines_of

MOST_LINES = 100_000
# Otherwise a table of very many columns would not fit in memory.
_MOST_FIELDS = 2_000_000


class Scan(NamedTuple):
    """The fields of the lines that were read.

    Attributes:
      columns: The texts of each column, line by line, by name.
      is_training: Whether a line is one to train on, bool [lines].
      places: File and number of each line; the header is line 1.
      is_whole: Whether all lines of all files were read.
    """

    columns: dict[str, tuple[str, ...]]
    is_training: np.ndarray
    places: list[tuple[str, int]]
    is_whole: bool

    def place(self, index: int) -> str:
        """Returns a line's place in words."""
        path, number = self.places[index]
        return f"line {number} of {path}"

    @property
    def extent(self) -> str:
        """Which lines were read, in words."""
        return f"{'' if self.is_whole else 'the first '}{len(self.places):,} lines"


def scan(files: list[str], params: Mapping[str, Any]) -> Scan:
    """Reads up to `MOST_LINES` lines, from the first file on.

    Args:
      files: The training files.
      params: The params of `input_fns/csv.py`.

    Raises:
      DataFileError: A line has more or fewer columns than the header, there is no line, or a file
        has another header.
    """
    header, names = header_of(files[0], params["delimiter"])
    lines, places, is_whole = _lines(files, header, params["delimiter"],
                                     min(MOST_LINES, _MOST_FIELDS // len(names)))
    if not lines:
        raise DataFileError(
            f"train_files is {params['train_files']!r}, and no file of it holds a record")
    rows = _rows(lines, places, len(names), params["delimiter"])
    every = 0 if params["eval_files"] else params["eval_every"]
    numbers = np.array([number - 1 for _, number in places])  # The header does not count.
    is_training = numbers % every != 0 if every else np.ones(len(lines), bool)
    return Scan(dict(zip(names, zip(*rows))), is_training, places, is_whole)


def split_problem(line: str, width: int, delimiter: str) -> str:
    """Returns a line's problem if it has not `width` columns, worded to follow its place, or ""."""
    try:
        fields, = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as error:
        return f" cannot be split into columns: {error}"
    return f" has {len(fields)} columns; expected {width}" if len(fields) != width else ""


def _lines(files: list[str], header: str, delimiter: str, most: int
           ) -> tuple[list[str], list[tuple[str, int]], bool]:
    """Returns lines that are not blank, their places, and whether there are no more."""
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    for path in files:
        for number, line in enumerate(lines_of(path), 1):
            problem = number == 1 and header_problem(path, line, (files[0], header), delimiter)
            if problem:
                raise DataFileError(problem)
            if number == 1 or not line:
                continue
            if len(lines) == most:
                return lines, places, False
            lines.append(line)
            places.append((path, number))
    return lines, places, True


def _rows(lines: list[str], places: list[tuple[str, int]], width: int,
          delimiter: str) -> list[list[str]]:
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        rows = []
    # An unclosed quote makes one row of several lines.
    if len(rows) != len(lines) or set(map(len, rows)) != {width}:
        for (path, number), line in zip(places, lines):
            problem = split_problem(line, width, delimiter)
            if problem:
                raise DataFileError(f"line {number} of {path}{problem}")
    return rows
