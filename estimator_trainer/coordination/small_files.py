"""Small files are written whole and read whole, on disks, shared disks and object stores."""

from __future__ import annotations

import contextlib
import posixpath
import re
from typing import Callable, TypeVar

from absl import logging
import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.schema import SchemaError

T = TypeVar("T")
# Takes a sentence about a damaged file: `warn`, or the `append` of a list that is shown.
Warn = Callable[[str], None]

# No file that is read as a whole has as many bytes.
_MOST_BYTES = 1 << 24


def write(path: str, text: str) -> None:
    """Writes a small file, so that no reader sees half of it.

    On an object store the file appears whole; elsewhere it gets its name when it is whole.
    """
    if storage.is_object_store(path):
        with tf.io.gfile.GFile(path, "w") as file:
            file.write(text)
        return
    make_folder(posixpath.dirname(path))
    try:
        with tf.io.gfile.GFile(f"{path}.new", "w") as file:
            file.write(text)
        tf.io.gfile.rename(f"{path}.new", path, overwrite=True)
    except tf.errors.OpError:
        # A full disk leaves an empty file.
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(f"{path}.new")
        raise


def read(path: str) -> str | None:
    """Returns what a small file holds, read without asking for its size; None if there is none.

    On a disk the name is looked for in a listing: some shared disks remember for 30 s that a name
    was not there when they were asked for it.

    Raises:
      OpError: It cannot be read.
    """
    if not storage.is_object_store(path) and not is_listed(path):
        return None
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return bytes(file.read(_MOST_BYTES)).decode(errors="replace")
    except tf.errors.NotFoundError:
        return None


def read_as(parse: Callable[[str], T], path: str, consequence: str,
            warn_of: Warn | None = None) -> T | None:
    """Returns what a small file holds; None if there is none, or it is damaged.

    Args:
      parse: A function that makes the value of the text, or raises SchemaError.
      path: The file.
      consequence: A sentence that says what a damaged file means for the user.
      warn_of: Takes the sentence about a damaged file; None: `warn`.

    Raises:
      OpError: It cannot be read.
    """
    text = read(path)
    if text is None:
        return None
    try:
        return parse(text)
    except SchemaError as error:
        (warn_of or warn)(f"{path} is damaged: {error}. {consequence}")
        return None


def warn(sentence: str) -> None:
    """Logs a sentence about a damaged file as a warning."""
    logging.warning("%s", sentence)


def is_listed(path: str) -> bool:
    """Returns whether a file's name is in a listing of its folder."""
    folder, name = posixpath.split(path)
    try:
        return name in tf.io.gfile.listdir(folder or ".")
    except tf.errors.NotFoundError:
        return False


def make_folder(path: str) -> None:
    """Makes a folder, and those above it, where the file system has any."""
    if not storage.is_object_store(path):
        tf.io.gfile.makedirs(path)


def escape(path: str) -> str:
    """Escapes what `gfile.glob` would take for a pattern, as in a directory named `run[1]`."""
    return re.sub(r"([\[\]*?])", r"\\\1", path)
