"""Finds what kind of file a table is in, and opens it: CSV or JSON lines as bytes of UTF-8 text.

A file's name decides; a name that says nothing leaves it to the first bytes. Compression and the
encoding are seen in the first bytes alone.
"""

from __future__ import annotations

import codecs
import gzip
import os.path
import shlex
from typing import Any, BinaryIO, Optional
import zipfile
import zlib

from input_fns.reading import file_system
from input_fns.reading.errors import DataFileError

CSV, JSON, PARQUET, FEATHER, MEMORY = "csv", "json", "parquet", "feather", "memory"
# The path of a table that a program has in memory: see `arrow_file.py`.
MEMORY_SCHEME = "memory-table://"

_ENDINGS = {"csv": CSV, "tsv": CSV, "tab": CSV, "psv": CSV, "json": JSON, "jsonl": JSON,
            "ndjson": JSON, "parquet": PARQUET, "pq": PARQUET, "feather": FEATHER, "arrow": FEATHER,
            "ipc": FEATHER}
_PACKED = ("gz", "gzip", "zip")
_MAGIC = {b"PAR1": PARQUET, b"ARROW1": FEATHER}
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_HEAD_BYTES = 1 << 16
_FEW_BYTES = 32
# Python decodes bytes that are not UTF-8 to this; TensorFlow keeps them.
NO_TEXT = "\ufffd"
# In an archive, what a Mac adds to the files.
_NOT_DATA = ("__MACOSX", "._", ".DS_Store")


def kind_of(path: str) -> str:
    """Returns the kind of a file: CSV, JSON, PARQUET, FEATHER, or MEMORY.

    Raises:
      DataFileError: A spreadsheet, which has to be saved as another file.
    """
    if path.startswith(MEMORY_SCHEME):
        return MEMORY
    words = os.path.basename(path).lower().split(".")
    if words[-1] in ("xlsx", "xls", "ods"):
        raise DataFileError(f"{path} is a spreadsheet; expected CSV, Parquet, JSON lines or "
                            "Feather. Save the sheet as CSV")
    kind = _ENDINGS.get(_ending(words))
    if kind:
        return kind
    with file_system.opened(path) as file:
        head = file.read(16)
    magic = next((kind for sign, kind in _MAGIC.items() if head.startswith(sign)), None)
    if magic:
        return magic
    with text_of(path) as text:
        return JSON if text.read(1 << 10).lstrip()[:1] == b"{" else CSV


def has_ending(path: str) -> bool:
    """Returns whether a file's name says that it is a table."""
    return _ending(os.path.basename(path).lower().split(".")) in (*_ENDINGS, *_PACKED)


def _ending(words: list[str]) -> str:
    return words[-2] if words[-1] in _PACKED and words[1:] else words[-1]


def as_utf8(path: str) -> str:
    """Returns what is expected of a file with bytes that are no UTF-8, and how to get it."""
    return (f"expected a file in UTF-8. For example, from the encoding of Windows: iconv -f CP1252 "
            f"-t UTF-8 {shlex.quote(path)} > new.csv")


def shown(path: str) -> str:
    """Returns what a message calls the file at a path."""
    return "the table in memory" if path.startswith(MEMORY_SCHEME) else path


def _without_mark(head: bytes) -> str:
    """Returns the encoding of text in UTF-16 without a byte order mark; "" for other text."""
    first, second = head[:_FEW_BYTES:2], head[1:_FEW_BYTES:2]
    if len(head) < 4 or any(first) == any(second):
        return ""
    return "utf-16-le" if all(first) else "utf-16-be" if all(second) else ""


DAMAGE = (EOFError, OSError, zlib.error, zipfile.BadZipFile, UnicodeDecodeError)


class Text:
    """A text file, unpacked, as bytes of UTF-8 whose lines end with a line feed.

    Carriage returns before a line feed stay; alone, they end the lines of a file that has no line
    feed in its beginning. A byte order mark is left out.
    """

    def __init__(self, path: str):
        self._file, self._stream = _unpacked(path)
        self._damage: Optional[BaseException] = None
        head = self._stored(_HEAD_BYTES)
        encoding = _UTF_16.get(head[:2]) or _without_mark(head)
        self._decoder = codecs.getincrementaldecoder(encoding)() if encoding else None
        self._start = self._decoded(head[2:] if head[:2] in _UTF_16 else head).removeprefix(
            codecs.BOM_UTF8)
        self._has_old_ends = b"\r" in self._start and b"\n" not in self._start

    def __enter__(self) -> Text:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def read(self, size: int) -> bytes:
        """Returns about `size` bytes; b"" at the end.

        Raises:
          EOFError, OSError, zlib.error, zipfile.BadZipFile: The file is truncated or damaged.
        """
        content, self._start = self._start, b""
        while not content:
            stored = self._stored(size)
            content = self._decoded(stored)
            if not stored:
                break
        return content.replace(b"\r", b"\n") if self._has_old_ends else content

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _stored(self, size: int) -> bytes:
        """Returns `size` bytes; fewer at the end, and before damage, which the next call tells."""
        if self._damage is not None:
            raise self._damage
        # `read` would drop what comes before the damage.
        read = getattr(self._stream, "read1", self._stream.read)
        parts: list[bytes] = []
        while size > 0:
            try:
                part = read(size)
            except DAMAGE as error:
                if not parts:
                    raise
                self._damage = error
                break
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _decoded(self, stored: bytes) -> bytes:
        if self._decoder is None:
            return stored
        return self._decoder.decode(stored, not stored).encode("utf-8", "replace")


def text_of(path: str) -> Text:
    """Returns the text file at a path, which may be gzipped, or alone in a zip archive.

    Raises:
      DataFileError: It is an archive of several files, or damaged in its beginning.
    """
    try:
        return Text(path)
    except DAMAGE as error:
        raise DataFileError(f"{path} is truncated or damaged after line 0: {error}") from error


def is_packed(path: str) -> bool:
    """Returns whether a text file is compressed."""
    with file_system.opened(path) as file:
        return file.read(4).startswith((_GZIP, _ZIP))


def _unpacked(path: str) -> tuple[Any, BinaryIO]:
    file = file_system.opened(path)
    try:
        sign = file.read(4)
        file.seek(0)
        if sign.startswith(_GZIP):
            return file, gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
        return file, _member(path, file) if sign == _ZIP else file
    except BaseException:
        file.close()
        raise


def _member(path: str, file: BinaryIO) -> BinaryIO:
    """Returns the only file of a zip archive."""
    archive = zipfile.ZipFile(file)
    names = [name for name in archive.namelist() if not name.endswith("/") and not any(
        part.startswith(_NOT_DATA) for part in name.split("/"))]
    if names and all(name.endswith(".npy") for name in names):
        raise DataFileError(f"{path} has arrays of NumPy ({', '.join(names[:5])}); expected a "
                            "table. For example: --input_fn=arrays")
    if len(names) != 1:
        raise DataFileError(
            f"{path} is a zip archive of {len(names)} files ({', '.join(names[:5])}"
            f"{', ...' if names[5:] else ''}); expected one. Unpack it, and name the files")
    return archive.open(names[0])  # type: ignore[return-value]
