"""Notes are the small files through which the tasks of a job tell each other how it stands.

TensorFlow caches the sizes of objects in Cloud Storage, and the kernel the attributes of files on
NFS and FUSE. A reader that trusts them cuts off a file that grew, and cannot read one that shrank.
So all notes have one length, are read without asking for it, and each has a checksum. A note that
cannot be read now counts as not there yet; whoever waits for it looks again.
"""

from __future__ import annotations

import json
import math
import time
from typing import Any, TypeVar
import zlib

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, schema, storage
from estimator_trainer.coordination import small_files

T = TypeVar("T")
# A reason has at most 300 characters, and JSON takes at most 12 bytes for each.
_BYTES = 4096
_CHECKSUM = "checksum"
_LOG_SECS = 30
_written_at: dict[str, float] = {}


def write(path: str, content: dict[str, Any]) -> None:
    """Writes a note.

    Raises:
      OpError: It cannot be written.
      ValueError: It is too long.
    """
    text = json.dumps({**content, _CHECKSUM: _checksum(content)})
    if len(text) >= _BYTES:
        raise ValueError(f"a note takes {len(text)} bytes, and has at most {_BYTES - 1}: {text}")
    if storage.is_object_store(path):
        free_at = _written_at.get(path, -math.inf) + deadlines.OBJECT_WRITE_SECS
        time.sleep(max(0.0, free_at - time.monotonic()))
    small_files.write(path, f"{text:{_BYTES - 1}}\n")
    _written_at[path] = time.monotonic()


def try_to_write(path: str, content: dict[str, Any]) -> None:
    """Writes a note whose loss does no harm; warns if it cannot be written."""
    try:
        write(path, content)
    except tf.errors.OpError as error:
        logging.warning("cannot write %s: %s", path, errors.first_line(error))


def read(path: str) -> dict[str, Any] | None:
    """Returns what a note holds; None if there is none, or none that can be read now."""
    try:
        content = schema.decoded(small_files.read(path) or "null")
    except schema.SchemaError:
        return None  # The file was cut off, or is a mixture of two.
    except tf.errors.OpError as error:
        logging.log_every_n_seconds(logging.WARNING, "cannot read %s now: %s", _LOG_SECS, path,
                                    errors.first_line(error))
        return None
    if not isinstance(content, dict):
        return None
    # A mixture of two notes may be JSON, too.
    checksum = content.pop(_CHECKSUM, None)
    return content if checksum == _checksum(content) else None


def read_as(kind: type[T], path: str) -> T | None:
    """Returns what a note holds, as its schema says; None if there is none that can be used now.

    Args:
      kind: The schema, a dataclass.
      path: The file.
    """
    content = read(path)
    try:
        return None if content is None else schema.made(kind, content)
    except schema.SchemaError as error:
        logging.log_every_n_seconds(
            logging.WARNING, "%s counts as not there, since it is no note of this program: %s",
            _LOG_SECS, path, error)
        return None


def _checksum(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
