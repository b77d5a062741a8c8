"""Finds files that are both in the training data and in the evaluation's, and logs them."""

from __future__ import annotations

import collections
import functools
import hashlib
import os
from typing import Any, Callable, Iterator, Mapping, Sequence

from absl import logging

from input_fns.reading import file_system
from input_fns.reading.errors import DataError

# Contents are compared on disks alone: in a bucket each takes a request.
_MOST_FILES, _MOST_BYTES = 20_000, 64 * 1024**2
# Most files of one size differ in their beginning.
_HEAD_BYTES = 4096
_CONSEQUENCE = ("the evaluation then measures what the model remembers, not what it has learned of "
                "new data")


def log_matches(matched: Callable[[str, str], list[str]], params: Mapping[str, Any]) -> None:
    """Logs a warning if files of eval_files are files of train_files too, or copies of them."""
    if not params.get("train_files") or not params.get("eval_files"):
        return
    try:
        files = [tuple(matched(name, params[name])) for name in ("train_files", "eval_files")]
    except DataError:
        return  # Reading the files raises the error.
    except file_system.errors():
        return
    _log(files[0], files[1], "files", "Name other files in eval_files")


def log_images(training: Sequence[str], evaluation: Sequence[str]) -> None:
    """Logs a warning if images to evaluate are copies of images to train on."""
    _log(tuple(training), tuple(evaluation), "images", "Remove the copies")


def _log(training: tuple[str, ...], evaluation: tuple[str, ...], kind: str, advice: str) -> None:
    _log_once(training, evaluation, kind, advice, _changed((*training, *evaluation)))


@functools.lru_cache(maxsize=16)
def _log_once(training: tuple[str, ...], evaluation: tuple[str, ...], kind: str, advice: str,
              changed: tuple[int, ...]) -> None:
    """Logs the warning; cached, so once per process for files that have not changed."""
    pairs = same(training, evaluation)
    if not pairs:
        return
    path, other = next(iter(pairs.items()))
    example = path if path == other else f"{path}, which is the same as {other}"
    logging.warning("%d of the %d %s for evaluation %s also in the training data: %s. %s. For "
                    "example: %s", len(pairs), len(evaluation), kind,
                    "is" if len(pairs) == 1 else "are", _CONSEQUENCE, advice, example)


def same(training: tuple[str, ...], evaluation: tuple[str, ...]) -> dict[str, str]:
    """Returns the file to train on, by each file to evaluate of the same path or content.

    After 64 MB of contents, and in buckets, only paths are compared.
    """
    known = {_real(path): path for path in training}
    found = {path: known[_real(path)] for path in evaluation if _real(path) in known}
    of_size = collections.defaultdict(list)
    for path, size in _sizes(training):
        of_size[size].append(path)
    digests = _Digests()
    try:
        for path, size in _sizes(evaluation):
            if path in found or size not in of_size:
                continue
            alike = digests.by_head(of_size[size]).get(digests.of(path, _HEAD_BYTES), [])
            if size > _HEAD_BYTES:
                alike = [each for each in alike if digests.of(each, size) == digests.of(path, size)]
            if alike:
                found[path] = alike[0]
    except _TooLargeError:
        pass
    return found


class _TooLargeError(Exception):
    """More bytes would have to be read than it is worth."""


class _Digests:
    """Digests of files, each computed once."""

    def __init__(self) -> None:
        self._left = _MOST_BYTES
        self._known: dict[tuple[str, int], str] = {}
        self._by_head: dict[str, dict[str, list[str]]] = {}

    def of(self, path: str, size: int) -> str:
        """Returns the digest of the first bytes of a file; raises _TooLargeError."""
        if (path, size) not in self._known:
            try:
                with open(path, "rb") as file:
                    content = file.read(min(size, self._left))
            except OSError:
                content = path.encode()  # Reading the data raises the error.
            self._left -= len(content)
            if self._left <= 0:
                raise _TooLargeError
            self._known[path, size] = hashlib.sha256(content).hexdigest()
        return self._known[path, size]

    def by_head(self, paths: list[str]) -> dict[str, list[str]]:
        """Returns the files of one size by the digests of their first bytes."""
        if paths[0] not in self._by_head:
            heads = collections.defaultdict(list)
            for path in paths:
                heads[self.of(path, _HEAD_BYTES)].append(path)
            self._by_head[paths[0]] = heads
        return self._by_head[paths[0]]


def _real(path: str) -> str:
    return path if "://" in path else os.path.realpath(path)


def _changed(paths: Sequence[str]) -> tuple[int, ...]:
    """Returns when files on a disk were changed, in nanoseconds; () for files in buckets."""
    if any("://" in path for path in paths):
        return ()
    return tuple(os.stat(path).st_mtime_ns for path in paths if os.path.exists(path))


def _sizes(paths: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yields the files that are to be compared, with their sizes; empty ones are all alike."""
    if any("://" in path for path in paths) or len(paths) > _MOST_FILES:
        return
    for path in paths:
        try:
            size = os.path.getsize(path)
        except OSError:
            continue
        if size:
            yield path, size
