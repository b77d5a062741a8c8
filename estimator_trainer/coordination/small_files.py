"""Small files are written whole and read whole, on disks, shared disks and object stores."""

from __future__ import annotations

import contextlib
import json
import posixpath
import re
from typing import Any

import tensorflow as tf

from estimator_trainer import storage

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


def read_json(path: str) -> dict[str, Any] | None:
    """Returns the JSON object that a small file holds; None if there is no file, or no such object.

    Raises:
      OpError: It cannot be read.
    """
    try:
        content = json.loads(read(path) or "null")
    except ValueError:
        return None  # It was cut off, or is a mixture of two.
    return content if isinstance(content, dict) else None


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
