"""Finds truncated TFRecord files that TensorFlow takes for shorter ones.

TensorFlow does not notice that a file ends within the first 12 bytes of a record, or that the rest
of a compressed file is missing. Both happen to a file that is still being copied.
"""

from __future__ import annotations

import functools
import mmap
import os.path
import struct
from typing import Sequence
import zlib

import tensorflow as tf

from input_fns.reading.errors import DataFileError

# Before a record's data stand its length (8 bytes) and a checksum of the length; after it, the
# data's checksum.
_HEAD_BYTES, _FRAME_BYTES = 12, 16
_WINDOW = {"GZIP": zlib.MAX_WBITS | 16, "ZLIB": zlib.MAX_WBITS}
_READ_BYTES = 1 << 20


def check(paths: Sequence[str], compression: str) -> None:
    """Raises DataFileError for the first file that is truncated in this way.

    A file that has not changed is checked once per process. Uncompressed files are checked only if
    they are local, because the heads of all their records have to be read.
    """
    for path in paths:
        stat = tf.io.gfile.stat(path)
        if stat.length and (compression or os.path.exists(path)):
            _check_once(path, compression, stat.length, stat.mtime_nsec)


@functools.lru_cache(maxsize=4096)
def _check_once(path: str, compression: str, length: int, changed: int) -> None:
    del length, changed  # Keys of the cache: a changed file is checked again.
    what = _compressed_problem(path, compression) if compression else _plain_problem(path)
    if what:
        raise DataFileError(f"{path} is truncated or damaged {what}; expected the whole file")


def _plain_problem(path: str) -> str:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        place = count = 0
        while place + _HEAD_BYTES <= len(content):
            place += struct.unpack_from("<Q", content, place)[0] + _FRAME_BYTES
            count += 1
        # TensorFlow itself raises an error where a wrong length or a truncated record leads
        # beyond the end.
        return (f"after record {count}: it ends within the head of the next one"
                if place < len(content) else "")


def _compressed_problem(path: str, compression: str) -> str:
    with tf.io.gfile.GFile(path, "rb") as file:
        unpacker = zlib.decompressobj(_WINDOW[compression])
        while packed := file.read(_READ_BYTES):
            try:
                while packed:
                    unpacker.decompress(packed)
                    packed = unpacker.unused_data
                    if packed:  # Another gzip stream follows in the same file.
                        unpacker = zlib.decompressobj(_WINDOW[compression])
            except zlib.error:
                return ""  # TensorFlow raises an error for this.
    return "" if unpacker.eof else f"at its end: it ends within its {compression} stream"
