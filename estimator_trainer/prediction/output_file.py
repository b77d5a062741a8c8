"""The file that predictions go to: of which kind it is, and written whole or not at all."""

import contextlib
import os
import posixpath
import sys
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer import errors, storage

JSON, CSV, PARQUET, FEATHER = "jsonl", "csv", "parquet", "feather"
# The kinds whose columns have types.
TYPED = (PARQUET, FEATHER)
_ENDINGS = {".csv": CSV, ".jsonl": JSON, ".json": JSON, ".ndjson": JSON, ".parquet": PARQUET,
            ".pq": PARQUET, ".feather": FEATHER, ".arrow": FEATHER, ".ipc": FEATHER}

Write = Callable[[bytes], Any]


def kind_of(output: str, of_input: str) -> str:
    """Returns the kind of a file to write: its name decides, or else the kind of the input.

    Standard output and devices get JSON lines.
    """
    named = kind_of_name(output)
    if named:
        return named
    return JSON if not output or _is_device(_real(output)) else of_input or JSON


def kind_of_name(path: str) -> str:
    """Returns the kind that a file's name says; "" if it says none."""
    return _ENDINGS.get(posixpath.splitext(path)[1].lower(), "")


def folder_and_kind(output: str) -> tuple[str, str]:
    """Returns the folder that the output names, and the kind of the files in it; "" if it has none.

    Raises ConfigError for a kind that cannot be written.
    """
    folder, name = posixpath.split(output)
    if not name.startswith("*."):
        return output.rstrip("/") or "/", ""
    if kind := kind_of_name(name):
        return folder or ".", kind
    raise errors.ConfigError(errors.Problem(
        "output", output, f"in which {name[1:]} is no ending of files to write",
        ".csv, .jsonl, .parquet or .feather", errors.Setting("output", f"{folder}/*.csv")))


@contextlib.contextmanager
def opened(output: str, is_stream: bool = False, new: str = "") -> Iterator[Write]:
    """Opens the output; yields a function that writes bytes to it.

    `output` is a file of any file system that TensorFlow reads, or "" for standard output;
    `is_stream`: all that is written must be readable at once; `new` is the name of the file until
    it is whole. Raises ConfigError if the file cannot be written, before anything else is done.
    """
    if not output:
        with _standard_output() as write:
            yield write
        return
    path = _real(output)
    if _is_device(path):
        # A new file cannot replace a pipe, or a device such as /dev/null.
        with open(path, "wb", buffering=0) as device:
            yield device.write
        return
    new = new or f"{path}.new"
    _check(output, path, new)
    try:
        with tf.io.gfile.GFile(new, "wb") as file:
            def write(content: bytes) -> None:
                file.write(content)
                # In a bucket, each flush would upload the whole object.
                if is_stream and not storage.is_object_store(path):
                    file.flush()
            yield write
        tf.io.gfile.rename(new, path, overwrite=True)
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(new)
        raise


def _real(output: str) -> str:
    return output if storage.scheme(output) else os.path.realpath(output)


def _is_device(path: str) -> bool:
    return not storage.scheme(path) and os.path.exists(path) and not os.path.isdir(path) and (
        not os.path.isfile(path))


@contextlib.contextmanager
def _standard_output() -> Iterator[Write]:
    """Yields a function that writes to standard output, whose reader (`head`) may exit."""
    try:
        yield lambda content: print(content.decode(), end="", flush=True)
    except BrokenPipeError:
        # At its end Python would write its buffer, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check(output: str, path: str, new: str) -> None:
    """Raises ConfigError if the file cannot be written; makes an empty one under the new name."""
    folder = posixpath.dirname(path)
    example = errors.Setting("output", f"/tmp/{posixpath.basename(path) or 'predictions.jsonl'}")
    if output.endswith("/") or tf.io.gfile.isdir(path):
        raise errors.ConfigError(errors.Problem(
            "output", output, "which is a folder", "a file",
            errors.Setting("output", f"{output.rstrip('/')}/predictions.jsonl")))
    if not storage.is_object_store(path) and not tf.io.gfile.isdir(folder):
        raise errors.ConfigError(errors.Problem("output", output,
                                                f"and there is no folder {folder!r}",
                                                "a file in a folder that exists", example))
    try:
        with tf.io.gfile.GFile(new, "w") as file:
            file.write("")
    except tf.errors.OpError as error:
        raise errors.ConfigError(errors.Problem(
            "output", output, f"and {folder!r} cannot be written to: {errors.first_line(error)}",
            "a folder with the right to write", example)) from error
