"""The number of workers that a user wants now, in a file beside the logs of a job."""

from __future__ import annotations

import contextlib
import pathlib
import time
from typing import Callable

from estimator_trainer import redaction

NAME = "workers"
_POLL_SECS = 0.5


class WantedWorkers:
    """Reads the file, in which a user may write another number at any time."""

    def __init__(self, log_dir: pathlib.Path, least: int, most: int, warn: Callable[[str], None],
                 problem: Callable[[int], str] = lambda number: ""):
        """Writes the number at the start, `least`; `warn` receives a sentence on a wrong one.

        `problem` returns why the job cannot have a number of workers; "" if it can.
        """
        self.problem = problem
        self.path, self.least, self._most, self._warn = log_dir / NAME, least, most, warn
        self.number, self._text, self._read_at = least, str(least), time.monotonic()
        self.path.write_text(f"{least}\n", encoding="utf-8")

    def poll(self) -> int | None:
        """Returns the number of workers if it has changed since the last poll, or None."""
        if time.monotonic() - self._read_at < _POLL_SECS:
            return None
        self._read_at = time.monotonic()
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")[:100].strip()
        except OSError:
            return None
        # A shell empties the file before it writes.
        if not text or text == self._text:
            return None
        self._text = text
        if not text.isdecimal() or not self.least <= int(text) <= self._most:
            self._warn(f"{self.path} has {redaction.line_for_terminal(repr(text), False)}; expected"
                       f" a number from {self.least} to {self._most}. The job keeps"
                       f" {self.number} workers. For example: echo {self._most} > {self.path}")
            return None
        if problem := self.problem(int(text)):
            self._warn(f"{self.path} has {text}, and {problem}"
                       f" The job keeps {self.number} workers.")
            return None
        before, self.number = self.number, int(text)
        return None if self.number == before else self.number

    def put(self, number: int) -> None:
        """Wants another number, because of a loss, until the user writes the next one."""
        self.number, self._text = number, str(number)
        with contextlib.suppress(OSError):
            self.path.write_text(f"{number}\n", encoding="utf-8")
