"""Cuts text into blocks of whole records, and counts the records and lines of a block.

A record is a line, or several where a line break is in double quotes. Carriage returns that end no
line are dropped, and lines without a character are no records; but both count among the lines.
"""

from __future__ import annotations

import csv
import functools
import io
import re
import sys
from typing import Iterator, NamedTuple, Optional, Sequence

import numpy as np

from input_fns.reading import file_system, table_file
from input_fns.reading.errors import DataFileError

BLOCK_BYTES = 1 << 20
# A longer record has a quote that nothing closes.
_MOST_BYTES = 1 << 26
_LONE_RETURN = re.compile(rb"\r+(?=[^\n])|\r+(?=\r\n)")
# Empty lines before the first record, and the line by which Excel knows the delimiter.
_PREAMBLE = re.compile(rb"(?:(?:sep=[^\r\n])?\r?\n)+")
_QUOTE, _NEWLINE, _RETURN = 34, 10, 13


class UnquotedError(Exception):
    """A field without quotes has a quote inside."""


class TextBlock(NamedTuple):
    """Whole records of a text file.

    Attributes:
      data: Their bytes; each record ends with a line feed, of which the last may have none.
      line: The number of their first line, from 1.
      ordinal: The number of their first record, from 1; lines without a character count.
      ends: Where each record ends: positions after it, int64 [records].
      num_lines: The number of line feeds, of which some may be in quotes.
    """

    data: bytes
    line: int
    ordinal: int
    ends: np.ndarray
    num_lines: int

    @property
    def has_quotes(self) -> bool:
        """Whether a field may be in quotes."""
        return b'"' in self.data

    def ordinals(self) -> np.ndarray:
        """Returns the number of each record that has a character, int64 [records]."""
        return self.ordinal + self._filled()

    def lines(self) -> np.ndarray:
        """Returns the number of the line with which each of these records begins."""
        filled = self._filled()
        if self.num_lines <= len(self.ends):
            return self.line + filled
        breaks = np.flatnonzero(np.frombuffer(self.data, np.uint8) == _NEWLINE)
        return self.line + np.searchsorted(breaks, self._starts()[filled])

    def after_first(self) -> TextBlock:
        """Returns the block without its first record, a header, which has no number."""
        end = int(self.ends[0])
        lines = self.data.count(b"\n", 0, end)
        return TextBlock(self.data[end:], self.line + lines, 1, self.ends[1:] - end,
                         self.num_lines - lines)

    def records(self) -> Iterator[tuple[int, str]]:
        """Yields the line and the text, without its end, of each record that has a character.

        A byte that is no UTF-8 is a surrogate in the text, from which it can be had again.
        """
        line, start = self.line, 0
        for end in self.ends.tolist():
            stored = self.data[start:end]
            text = stored.decode("utf-8", "surrogateescape").rstrip("\r\n")
            if text:
                yield line, text
            line, start = line + stored.count(b"\n"), end

    def _starts(self) -> np.ndarray:
        return np.concatenate([[0], self.ends[:-1]])

    def _filled(self) -> np.ndarray:
        """Returns the positions, among all, of the records that have a character."""
        lengths = np.diff(self.ends, prepend=0)
        if lengths.min() > 2:
            return np.arange(len(lengths))
        data, starts = np.frombuffer(self.data, np.uint8), self._starts()
        second = data[np.minimum(starts + 1, len(data) - 1)]
        is_blank = ((lengths == 1) & (data[starts] == _NEWLINE)) | (
            (lengths == 2) & (data[starts] == _RETURN) & (second == _NEWLINE))
        return np.flatnonzero(~is_blank)


def blocks_of(path: str) -> Iterator[TextBlock]:
    """Yields a text file's records in blocks.

    Raises:
      DataFileError: The file is truncated or damaged.
    """
    lines = 0
    with table_file.text_of(path) as text:
        try:
            for block in blocks(text, quotes=table_file.kind_of(path) == table_file.CSV):
                lines = block.line - 1 + block.num_lines
                yield block
        except table_file.DAMAGE as error:
            raise DataFileError(f"{path} is truncated or damaged after line {lines}: "
                                f"{error}") from error


def blocks(stream: table_file.Text, quotes: bool) -> Iterator[TextBlock]:
    """Yields the records of a stream in blocks; a line break may be in quotes, if `quotes`."""
    rest, line, ordinal = b"", 1, 1
    mask = np.empty(0, bool)  # New memory for each block would cost more time than the search.
    while True:
        more = stream.read(BLOCK_BYTES)
        preamble = _PREAMBLE.match(more) if quotes and line == 1 and not rest else None
        if preamble:
            line += preamble[0].count(b"\n")
            more = more[preamble.end():] or stream.read(BLOCK_BYTES)
        content = without_returns(rest + more, is_end=not more)
        if len(content) > len(mask):
            mask = np.empty(2 * len(content), bool)
        breaks = _positions(content, _NEWLINE, mask)
        ends = breaks + 1
        if quotes and b'"' in content:
            ends = ends[np.searchsorted(_positions(content, _QUOTE, mask), breaks) % 2 == 0]
        is_last = not more or len(content) > _MOST_BYTES
        if is_last and content and not (len(ends) and ends[-1] == len(content)):
            ends = np.append(ends, len(content))
        end = int(ends[-1]) if len(ends) else 0
        data, rest = content[:end], content[end:]
        if data:
            num_lines = int(np.searchsorted(breaks, end))
            yield TextBlock(data, line, ordinal, ends, num_lines)
            line, ordinal = line + num_lines, ordinal + len(ends)
        if not more:
            return


def check_whole(paths: Sequence[str]) -> None:
    """Raises DataFileError if a compressed text file is truncated or damaged.

    A file that has not changed is read once per process.
    """
    for path in paths:
        if table_file.kind_of(path) in (table_file.CSV, table_file.JSON) and (
                table_file.is_packed(path)):
            stat = file_system.stat(path)
            _read_whole(path, stat.length, stat.mtime_nsec)


@functools.lru_cache(maxsize=1024)
def _read_whole(path: str, length: int, changed: int) -> None:
    del length, changed  # Keys of the cache: a changed file is read again.
    for _ in blocks_of(path):
        pass


def without_returns(content: bytes, is_end: bool) -> bytes:
    """Returns the content without carriage returns that end no line."""
    if b"\r" not in content or content.count(b"\r") == content.count(b"\r\n"):
        return content
    # The last one may come before a line feed.
    last = b"\r" if content.endswith(b"\r") and not is_end else b""
    return _LONE_RETURN.sub(b"", content).rstrip(b"\r") + last


def misplaced_quote(data: bytes, delimiter: str) -> Optional[int]:
    """Returns the position of a quote that begins or ends no field, or None.

    Arrow would take it for a character of the field, and others for the end of one.
    """
    content = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(content == _QUOTE)
    if not len(quotes):
        return None
    borders = np.zeros(256, bool)
    borders[[_QUOTE, _NEWLINE, _RETURN, ord(delimiter)]] = True
    opening, closing = quotes[::2], quotes[1::2]
    before = borders[content[np.maximum(opening - 1, 0)]] | (opening == 0)
    after = borders[content[np.minimum(closing + 1, len(content) - 1)]] | (
        closing == len(content) - 1)
    wrong = np.concatenate([opening[~before], closing[~after], quotes[-1:][len(quotes) % 2 == 0:]])
    return int(wrong.min()) if len(wrong) else None


def split(text: str, delimiter: str) -> list[str]:
    """Returns the fields of one record.

    Raises:
      csv.Error, ValueError: It is not one record.
      UnquotedError: A field without quotes has a quote inside.
    """
    if len(text) > csv.field_size_limit():
        csv.field_size_limit(sys.maxsize)
    rows = list(csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True))
    if '"' in text:
        stored = text.encode("utf-8", "replace")
        position = misplaced_quote(stored, delimiter)
        if position is not None:
            # A closing one has an odd number of others before it.
            raise ValueError("a quote does not end where the field ends") if stored.count(
                b'"', 0, position) % 2 else UnquotedError
    fields, = rows
    return fields


def _positions(content: bytes, byte: int, mask: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.equal(np.frombuffer(content, np.uint8), byte,
                                   out=mask[:len(content)]))
