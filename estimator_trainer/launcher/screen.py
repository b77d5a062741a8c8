"""The screen of `launch`: the tasks' lines, each after its task's name, and a table of tasks."""

from __future__ import annotations

import re
import sys
import threading
import time
from typing import Sequence, TextIO

from estimator_trainer import logs, redaction
from estimator_trainer.launcher.task_process import TaskProcess

_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
_HEADINGS = ("task", "pid", "state", "step", "examples/s", "restarts")
_DRAW_SECS = 0.2
_PRINT_SECS = 60.0


class Screen:
    """Prints the lines of a job; on a terminal, with a table below that is updated."""

    def __init__(self, names: Sequence[str], max_steps: int | None,
                 stream: TextIO | None = None, is_coloured: bool = True):
        self._stream = stream or sys.stdout
        self._is_terminal = self._stream.isatty()
        self._max_steps = max_steps
        self._width = max(map(len, [*names, "launch"]))
        self._colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(names)}
        self._is_coloured = is_coloured and self._is_terminal
        self._lock = threading.Lock()
        self._num_drawn = 0
        self._drawn_at = self._printed_at = time.monotonic()

    def line(self, name: str, text: str) -> None:
        """Prints a line of a task; "launch" is the launcher itself."""
        text = redaction.line_for_terminal(text, self._is_coloured)
        # The tasks' own lines have the name after the time.
        text = re.sub(rf"^(\d\d:\d\d:\d\d) {re.escape(name)}  ", r"\1  ", text)
        prefix = f"{name:{self._width}} |"
        if self._is_coloured and name in self._colours:
            prefix = f"\x1b[{self._colours[name]}m{prefix}\x1b[0m"
        with self._lock:
            self._wipe()
            self._stream.write(f"{prefix} {text}\n")
            self._stream.flush()

    def show(self, children: Sequence[TaskProcess]) -> None:
        """Draws the table, if that is due; without a terminal, prints it every minute."""
        now = time.monotonic()
        if self._is_terminal and now - self._drawn_at > _DRAW_SECS:
            self._drawn_at = now
            rows = [*table(children), self._bar(children)]
            with self._lock:
                self._wipe()
                self._stream.write("".join(f"{row}\n" for row in rows))
                self._stream.flush()
                self._num_drawn = len(rows)
        elif not self._is_terminal and now - self._printed_at > _PRINT_SECS:
            self._printed_at = now
            for row in table(children):
                self.line("launch", row)

    def _wipe(self) -> None:
        if self._num_drawn:
            self._stream.write(f"\x1b[{self._num_drawn}F\x1b[J")
            self._num_drawn = 0

    def _bar(self, children: Sequence[TaskProcess]) -> str:
        step = max(child.step for child in children)
        if not self._max_steps:
            return f"step {step}"
        return f"{logs.bar(step, self._max_steps)} step {step}/{self._max_steps}"


def table(children: Sequence[TaskProcess]) -> list[str]:
    """Returns the rows of the table of tasks."""
    rows = [_HEADINGS, *((child.name, str(child.pid), child.state, str(child.step),
                          child.examples_per_sec or "-", str(child.restarts))
                         for child in children)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADINGS))]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip()
            for row in rows]
