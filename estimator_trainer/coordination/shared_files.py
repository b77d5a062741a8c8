"""Small files that are shared through model_dir: text, and the JSON by which tasks coordinate.

Files are read and written whole, on disks, shared disks and object stores. TensorFlow caches the
sizes of objects in Cloud Storage, and the kernel the attributes of files on NFS and FUSE: a reader
that trusts a cached size cuts off a file that grew, and cannot read one that shrank. Therefore all
JSON files of coordination have one length, are read without a request for it, and contain a
checksum. A file that cannot be read now counts as missing; its readers poll again.
"""

from concurrent import futures
import contextlib
import json
import math
import posixpath
import re
import time
from typing import Any, Callable, Iterable, TypeVar
import zlib

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, schema, storage

T = TypeVar("T")
# A function of a sentence about a damaged file: `warn`, or the `append` of a list for display.
Warn = Callable[[str], None]

# More than any file that is read whole.
_MOST_BYTES = 1 << 24
# A reason has at most 300 characters, and JSON takes at most 12 bytes for each.
_JSON_BYTES = 4096
_CHECKSUM = "checksum"
_LOG_SECS = 30
# TensorFlow takes up to 64 MB for each file of a bucket that is being read.
_AT_ONCE = 8
_written_at: dict[str, float] = {}


def write_text(path: str, text: str) -> None:
    """Writes a small file, of which no reader sees a half.

    On an object store the file appears whole; elsewhere it is renamed when it is whole.
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


def read_text(path: str) -> str | None:
    """Returns the content of a small file, read without its size; None if there is no file.

    On a disk the name is searched in a listing: after a request for a missing name, some shared
    disks answer for 30 s that it is missing.
    """
    if not storage.is_object_store(path) and not is_listed(path):
        return None
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return bytes(file.read(_MOST_BYTES)).decode(errors="replace")
    except tf.errors.NotFoundError:
        return None


def read_or_warn(parse: Callable[[str], T], path: str, consequence: str,
                 warn_of: Warn | None = None) -> T | None:
    """Returns the parsed content of a small file; None if there is no file, or it is damaged.

    Args:
      parse: A function that makes the value from the text, or raises SchemaError.
      consequence: A sentence on what a damaged file means for the user.
      warn_of: Receives the sentence about a damaged file; None: `warn`.
    """
    text = read_text(path)
    if text is None:
        return None
    try:
        return parse(text)
    except schema.SchemaError as error:
        (warn_of or warn)(f"{path} is damaged: {error}. {consequence}")
        return None


def warn(sentence: str) -> None:
    """Logs a sentence about a damaged file as a warning."""
    logging.warning("%s", sentence)


def is_listed(path: str) -> bool:
    """Returns whether a listing of the folder has the file's name."""
    folder, name = posixpath.split(path)
    try:
        return name in tf.io.gfile.listdir(folder or ".")
    except tf.errors.NotFoundError:
        return False


def make_folder(path: str) -> None:
    """Makes a folder and its parents, where the file system has folders."""
    if not storage.is_object_store(path):
        tf.io.gfile.makedirs(path)


def in_parallel(step: Callable[[str], T], paths: Iterable[str]) -> list[T]:
    """Returns the results of `step`, in order; some at a time, because a bucket answers slowly.

    A job of a thousand workers has as many files of some kinds, at 50 ms each.
    """
    with futures.ThreadPoolExecutor(_AT_ONCE, "shared_files") as executor:
        return list(executor.map(step, paths))


def escape(path: str) -> str:
    """Escapes the characters of a path that `gfile.glob` reads as a pattern (`run[1]`)."""
    return re.sub(r"([\[\]*?])", r"\\\1", path)


def write_json(path: str, content: dict[str, Any]) -> None:
    """Writes a JSON file of the common length, with a checksum; ValueError for a longer one."""
    text = json.dumps({**content, _CHECKSUM: _checksum(content)})
    if len(text) >= _JSON_BYTES:
        raise ValueError(
            f"a shared file takes {len(text)} bytes, and has at most {_JSON_BYTES - 1}: {text}")
    if storage.is_object_store(path):
        free_at = _written_at.get(path, -math.inf) + deadlines.OBJECT_WRITE_SECS
        time.sleep(max(0.0, free_at - time.monotonic()))
    write_text(path, f"{text:{_JSON_BYTES - 1}}\n")
    _written_at[path] = time.monotonic()


def try_to_write_json(path: str, content: dict[str, Any]) -> None:
    """Writes a JSON file whose loss does no harm; warns if it cannot be written."""
    try:
        write_json(path, content)
    except tf.errors.OpError as error:
        logging.warning("cannot write %s: %s", path, errors.first_line(error))


def read_json(path: str) -> dict[str, Any] | None:
    """Returns the content of a JSON file; None if the file is missing or cannot be read now."""
    try:
        content = schema.decoded(read_text(path) or "null")
    except schema.SchemaError:
        return None  # The file was cut off, or is a mixture of two.
    except tf.errors.OpError as error:
        logging.log_every_n_seconds(logging.WARNING, "cannot read %s now: %s", _LOG_SECS, path,
                                    errors.first_line(error))
        return None
    if not isinstance(content, dict):
        return None
    # A mixture of two files may be JSON, too.
    checksum = content.pop(_CHECKSUM, None)
    return content if checksum == _checksum(content) else None


def read_as(kind: type[T], path: str) -> T | None:
    """Returns the content of a JSON file as the dataclass `kind`; None if unusable now."""
    content = read_json(path)
    try:
        return None if content is None else schema.made(kind, content)
    except schema.SchemaError as error:
        logging.log_every_n_seconds(
            logging.WARNING, "%s counts as missing, since this program has not written it: %s",
            _LOG_SECS, path, error)
        return None


def _checksum(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
