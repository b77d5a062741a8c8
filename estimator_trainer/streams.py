"""Standard streams that end no training when they are closed, or on a full disk."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

from estimator_trainer import errors


class _Stream(io.RawIOBase):
    """A standard stream of the process."""

    def __init__(self, number: int):
        self._number = number

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[os.write(self._number, rest):]
        return len(data)


class _Output(_Stream):
    """Standard output: a failed write is a failure of the command."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise errors.OutputError(
                f"standard output cannot be written: {error.strerror}. Make room, or send it to"
                " another place.") from error


class _Messages(_Stream):
    """Standard error: with a full disk or a closed pipe, messages are lost."""

    def write(self, data: Any) -> int:
        with contextlib.suppress(OSError):
            super().write(data)
        return len(data)


def keep() -> None:
    """Replaces closed standard streams, and makes the others tolerate failed writes.

    While standard output is closed, a newly opened file would get its number, and its output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        sys.stdout = _text(_Output(1), sys.stdout.encoding, is_prompt=sys.stdout.isatty())
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(2), "utf-8", is_prompt=True)


def _text(stream: _Stream, encoding: str, is_prompt: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(stream), encoding, errors="backslashreplace",
                            line_buffering=is_prompt)
