"""Where predictions go: a file, which gets its name when it is whole, or standard output."""

from __future__ import annotations

import contextlib
import os
import posixpath
import sys
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer import storage

Write = Callable[[str], Any]


@contextlib.contextmanager
def opened(output: str, is_stream: bool = False) -> Iterator[Write]:
    """Opens the output; yields what writes text to it.

    Args:
      output: A file of any file system that TensorFlow reads, or "" for standard output.
      is_stream: Whether each text is to be seen at once.

    Raises:
      ConfigError: if the file cannot be written, before anything else is done.
    """
    if not output:
        with _standard_output() as write:
            yield write
        return
    path = output if storage.scheme(output) else os.path.realpath(output)
    if not storage.scheme(path) and os.path.exists(path) and not os.path.isdir(path) and (
            not os.path.isfile(path)):
        # A pipe or a device such as /dev/null is no file that another could replace.
        with open(path, "w", encoding="utf-8") as device:
            yield lambda text: _write_now(device, text)
        return
    new = f"{path}.new"
    _check(output, path, new)
    try:
        with tf.io.gfile.GFile(new, "w") as file:
            def write(text: str) -> None:
                file.write(text)
                # Each flush of an object in a bucket would upload all of it.
                if is_stream and not storage.is_object_store(path):
                    file.flush()
            yield write
        tf.io.gfile.rename(new, path, overwrite=True)
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(new)
        raise


@contextlib.contextmanager
def _standard_output() -> Iterator[Write]:
    """Yields what writes to standard output; whoever closes it, such as `head`, has enough."""
    try:
        yield lambda text: _write_now(sys.stdout, text)
    except BrokenPipeError:
        # What Python still holds would be written at its end, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_now(file: Any, text: str) -> None:
    file.write(text)
    file.flush()


def _check(output: str, path: str, new: str) -> None:
    """Raises ConfigError if the file cannot be written; leaves an empty one of the new name."""
    given = f"output is {output!r} (from --output)"
    folder = posixpath.dirname(path)
    example = f" For example: --output=/tmp/{posixpath.basename(path) or 'predictions.jsonl'}"
    if output.endswith("/") or tf.io.gfile.isdir(path):
        raise errors.ConfigError(
            f"{given}, which is a folder; expected a file. For example:"
            f" --output={output.rstrip('/')}/predictions.jsonl")
    if not storage.is_object_store(path) and not tf.io.gfile.isdir(folder):
        raise errors.ConfigError(
            f"{given}, and there is no folder {folder!r}; expected a file in a folder that"
            f" exists.{example}")
    try:
        with tf.io.gfile.GFile(new, "w") as file:
            file.write("")
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            f"{given}, and {folder!r} cannot be written to: {errors.first_line(error)}; expected"
            f" a folder with the right to write.{example}") from error
