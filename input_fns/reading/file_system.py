"""Looks at files and folders: local ones by Python, those of other file systems by TensorFlow.

TensorFlow is imported where a path needs it, so that local data are described in less time than
that takes.
"""

from __future__ import annotations

import glob
from importlib import metadata
import io
import os
import sys
from typing import Any, BinaryIO, NamedTuple

from input_fns.reading.errors import DataFileError


class Stat(NamedTuple):
    """The size of a file in bytes, and when it was changed, in nanoseconds."""

    length: int
    mtime_nsec: int


def is_remote(path: str) -> bool:
    """Returns whether a path is one of another file system, such as `gs://bucket/file`."""
    return "://" in path


def is_folder(path: str) -> bool:
    """Returns whether a path is that of a folder."""
    return bool(_gfile().isdir(path)) if is_remote(path) else os.path.isdir(path)


def names_in(folder: str) -> list[str]:
    """Returns the names in a folder, in any order; those of remote folders end with `/`."""
    return list(_gfile().listdir(folder)) if is_remote(folder) else os.listdir(folder)


def stat(path: str) -> Stat:
    """Returns the size of a file, and when it was changed."""
    if is_remote(path):
        found = _gfile().stat(path)
        return Stat(found.length, found.mtime_nsec)
    try:
        result = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    return Stat(result.st_size, result.st_mtime_ns)


def matching(pattern: str) -> list[str]:
    """Returns the file of that very name, or the files and folders that match, sorted.

    Raises:
      OSError: The folder of a local pattern cannot be read.
    """
    if is_remote(pattern):
        return sorted(_gfile().glob(pattern))
    # The names of files and folders may have brackets, which are part of a pattern too.
    if os.path.isfile(pattern):
        return [pattern]
    folder, name = os.path.split(pattern)
    if not os.path.isdir(folder or "."):
        return sorted(glob.glob(pattern))
    found = sorted(os.path.join(folder, each) for each in glob.glob(name, root_dir=folder or None))
    if not found:
        os.listdir(folder or ".")  # Raises the error that `glob` leaves out.
    return found


def opened(path: str) -> BinaryIO:
    """Returns a file that is open to read bytes, with the methods of Python's files.

    Raises:
      DataFileError: A local file cannot be opened.
    """
    if is_remote(path):
        return _Remote(path)  # type: ignore[return-value]
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise _unreadable(path, error) from error


class _Remote(io.RawIOBase):
    """A file of a file system of TensorFlow."""

    def __init__(self, path: str):
        super().__init__()
        self._file = _gfile().GFile(path, "rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return bytes(self._file.read(size if size is not None else -1))

    def readinto(self, buffer: Any) -> int:
        content = self.read(len(buffer))
        buffer[:len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._file.seek(offset, whence)
        return self.tell()

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        super().close()
        self._file.close()


def _unreadable(path: str, error: OSError) -> DataFileError:
    return DataFileError(f"{path} cannot be read: {error.strerror}. Look at its rights, or at the "
                         "file that it links to")


def errors() -> tuple[type[Exception], ...]:
    """Returns the classes of the errors that files raise, TensorFlow's only if it is imported."""
    tensorflow = sys.modules.get("tensorflow")
    return (OSError, tensorflow.errors.OpError) if tensorflow else (OSError,)


def tensorflow_version() -> str:
    """Returns TensorFlow's version, such as "2.21.0"."""
    try:
        return metadata.version("tensorflow")
    except metadata.PackageNotFoundError:  # Other builds have other names.
        import tensorflow as tf
        return str(tf.__version__)


def _gfile() -> Any:
    import tensorflow as tf
    return tf.io.gfile
