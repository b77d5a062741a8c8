"""The supervisor, which starts and restarts the tasks of a job, and the screen that shows them."""

import functools
import json
import pathlib
import re
import signal
import sys
import threading
import time
from typing import Any, Callable, Mapping, Sequence, TextIO

from estimator_trainer import deadlines, logs, redaction, result, storage
from estimator_trainer.launcher import task_process
from estimator_trainer.launcher.wanted_workers import WantedWorkers

_POLL_SECS = 0.1
_RETRIED = (result.EXIT_CODES["lost"], result.EXIT_CODES["stopped"])
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
        self._draw([f"{prefix} {text}"], 0)

    def show(self, children: Sequence[task_process.TaskProcess]) -> None:
        """Draws the table, if that is due; without a terminal, prints it every minute."""
        now = time.monotonic()
        if self._is_terminal and now - self._drawn_at > _DRAW_SECS:
            self._drawn_at = now
            step = max(child.step for child in children)
            text = f"step {step}"
            if self._max_steps:
                text = f"{logs.bar(step, self._max_steps)} {text}/{self._max_steps}"
            rows = [*table(children), text]
            self._draw(rows, len(rows))
        elif not self._is_terminal and now - self._printed_at > _PRINT_SECS:
            self._printed_at = now
            for row in table(children):
                self.line("launch", row)

    def _draw(self, rows: Sequence[str], table_rows: int) -> None:
        """Draws rows in place of the table; `table_rows` of them are the next table."""
        with self._lock:
            if self._num_drawn:
                self._stream.write(f"\x1b[{self._num_drawn}F\x1b[J")
            self._stream.write("".join(f"{row}\n" for row in rows))
            self._stream.flush()
            self._num_drawn = table_rows


def table(children: Sequence[task_process.TaskProcess]) -> list[str]:
    """Returns the rows of the table of tasks."""
    children = [child for child in children if child.state != task_process.NOT_STARTED]
    rows = [_HEADINGS, *((child.name, str(child.pid), child.state, str(child.step),
                          child.examples_per_sec or "-", str(child.restarts))
                         for child in children)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip()
            for row in rows]


# Returns the environment of each task, by name, in a job of that many workers.
Environments = Callable[[int], Mapping[str, dict[str, str]]]


class Supervisor:
    """Starts the children, restarts them like a scheduler, and ends them all."""

    def __init__(self, children: Sequence[task_process.TaskProcess], max_restarts: int,
                 screen: Screen, model_dir: str, has_chief: bool = True):
        """Makes a supervisor of tasks that have not started; the first is the chief, if any."""
        self.first_failure = ""  # In one line.
        self._children, self._running = list(children), list(children)
        self._spare: list[task_process.TaskProcess] = []
        self._wanted: WantedWorkers | None = None
        self._environments: Environments | None = None
        self._is_stopping = False  # All tasks end, and start again with another number of workers.
        self._max_restarts, self._model_dir = max_restarts, model_dir
        self._screen, self._has_chief = screen, has_chief
        self._print = functools.partial(screen.line, "launch")
        self._starts_at: dict[str, float] = {}
        self._num_signals = 0
        self._code: int | None = None
        self._terminates_at: float | None = None
        self._kills_at: float | None = None

    def follow(self, wanted: WantedWorkers, spare: Sequence[task_process.TaskProcess],
               environments: Environments | None = None) -> None:
        """Lets the job have as many workers as are wanted; `spare` do not run from the start.

        With `environments` all tasks start again for another number of workers, because each step
        needs all of them. Without, the workers join and leave one by one.
        """
        self._wanted, self._spare, self._environments = wanted, list(spare), environments
        self._running = [child for child in self._children if child not in spare]

    def run(self) -> int:
        """Runs the job until all children have ended, and returns its exit code."""
        before = {number: signal.signal(number, self._on_signal)
                  for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            for child in self._running:
                child.start()
            while self._running:
                self._poll()
                self._screen.show(self._children)
                time.sleep(_POLL_SECS)
        finally:
            for child in self._children:
                child.kill()
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._code or 0

    def _on_signal(self, number: int, frame: Any) -> None:
        self._num_signals += 1

    def _poll(self) -> None:
        now = time.monotonic()
        if self._num_signals and self._code is None:
            self._print("requests every task to save and to end; a second signal kills them")
            self._end(result.EXIT_CODES["stopped"], wait_secs=0)
        if self._num_signals > 1:
            self._kills_at = now
        if self._wanted and self._code is None and self._wanted.poll():
            self._resize(self._wanted)
        for child in list(self._running):
            if child.name in self._starts_at:
                self._restart(child, now)
            elif (code := child.poll()) is not None:
                self._on_exit(child, code)
        if self._is_stopping and not self._running and self._code is None:
            self._start_all()
        if self._terminates_at and now >= self._terminates_at:
            self._terminates_at = None
            for child in self._running:
                child.signal(signal.SIGTERM)
        if self._kills_at and now >= self._kills_at:
            for child in self._running:
                self._print(f"kills {child.name}")
                child.signal(signal.SIGKILL)
            self._kills_at = now + deadlines.STOP_SECS

    def _resize(self, wanted: WantedWorkers) -> None:
        """Starts workers, or lets those with the highest numbers leave."""
        self._print(f"{wanted.number} workers are wanted now")
        if self._environments:
            self._stop_all()
            return
        num_spare = wanted.number - wanted.least
        for child in self._spare[:num_spare]:
            child.is_leaving = False
            if child not in self._running:
                child.restarts = 0
                child.start()
                self._running.append(child)
        for child in self._spare[num_spare:]:
            if child in self._running and not child.is_leaving:
                child.is_leaving = True
                child.signal(signal.SIGTERM)

    def _stop_all(self) -> None:
        """Lets all tasks save and end, after which they start with another number of workers."""
        if self._is_stopping:
            return
        self._is_stopping = True
        self._print("every task saves and ends, and starts again from this checkpoint")
        self._running = [child for child in self._running if child.name not in self._starts_at]
        self._starts_at.clear()
        for child in self._running:
            child.signal(signal.SIGTERM)
        self._kills_at = time.monotonic() + deadlines.STOP_SECS

    def _start_all(self) -> None:
        """Starts all tasks of a job with the wanted number of workers."""
        assert self._wanted and self._environments
        self._is_stopping, self._kills_at = False, None
        environments = self._environments(self._wanted.number)
        for child in self._children:
            child.restarts = 0
            if child.name in environments:
                child.environment = environments[child.name]
                child.start()
                self._running.append(child)
            elif child.state != task_process.NOT_STARTED:
                child.state = "left"

    def _has_fewer(self, child: task_process.TaskProcess, code: int, how: str) -> bool:
        """Wants fewer workers after the last restart of a task; returns whether the job may go on.

        Without its chief it may not, unless the chief ended with 142, because it lost another task.
        """
        is_of_chief = child is self._children[0] and code < 0
        is_trainer = not child.name.startswith("data_worker:")
        if not self._environments or not self._wanted or is_of_chief or not is_trainer:
            return False
        fewer = [number for number in range(self._wanted.least, self._wanted.number)
                 if not self._wanted.problem(number)]
        if fewer:
            self._wanted.put(fewer[-1])
            self._print(f"{child.name}: {how}; the job goes on with {fewer[-1]} workers")
        return bool(fewer)

    def _on_leave(self, child: task_process.TaskProcess) -> None:
        """Counts a worker as gone that was to leave, however it ended."""
        self._running.remove(child)
        if child.is_leaving:
            child.state = "left"
            self._print(f"{child.name} has left")

    def _restart(self, child: task_process.TaskProcess, now: float) -> None:
        if self._code is not None:
            self._running.remove(child)
        elif child.is_leaving:
            del self._starts_at[child.name]
            self._on_leave(child)
        elif now >= self._starts_at[child.name]:
            del self._starts_at[child.name]
            child.restarts += 1
            child.start()

    def _on_exit(self, child: task_process.TaskProcess, code: int) -> None:
        how = task_process.describe(code)
        child.state = "done" if code == 0 else how
        self._write_exit(child, code)
        is_retried = code < 0 or code in _RETRIED
        if self._code is None and (child.is_leaving or self._is_stopping and is_retried):
            self._on_leave(child)
            return
        if self._code is None and is_retried and child.restarts < self._max_restarts:
            self._keep_first_failure(child, how)
            self._print(f"{child.name}: {how}; starts it again"
                        f" ({child.restarts + 1} of {self._max_restarts})")
            self._starts_at[child.name] = time.monotonic() + deadlines.RESTART_SECS
            child.state = f"{how}, restarting"
            return
        self._running.remove(child)
        is_chief = self._has_chief and child is self._children[0]
        if code == 0 and is_chief and self._code is None:
            self._end(0, self._follow_secs(child))
        elif code and self._code is None:
            self._keep_first_failure(child, how)
            gives_up = f" after {child.restarts} restarts: gives up" if is_retried else ""
            if child in self._spare and is_retried and not self._environments:
                self._print(f"{child.name}: {how}{gives_up}; the job goes on without it")
                return
            if child.name.startswith("evaluator:"):
                others = ("the other evaluators take its checkpoints" if child.name != "evaluator:0"
                          else "its chief evaluates and exports at the end")
                self._print(f"{child.name}: {how}{gives_up}; the job goes on without it, and"
                            f" {others}")
                return
            if is_retried and self._has_fewer(child, code, how + gives_up):
                self._stop_all()
                return
            self._print(f"{child.name}: {how}{gives_up}; ends the job")
            # A task that failed has written this for the others; a killed task has not.
            self._end(128 - code if code < 0 else code, 0 if is_retried else deadlines.FOLLOW_SECS)

    def _follow_secs(self, chief: task_process.TaskProcess) -> float:
        """Returns how long the tasks may go on after a chief that is done."""
        evaluators = [each.name for each in self._running if each.name.startswith("evaluator:")]
        if not chief.has_own_train or not evaluators:
            return deadlines.FOLLOW_SECS
        self._print(f"waits up to {deadlines.OWN_EVALUATION_SECS:.0f} s for the last evaluation of"
                    f" {evaluators[0]}")
        return deadlines.OWN_EVALUATION_SECS

    def _write_exit(self, child: task_process.TaskProcess, code: int) -> None:
        """Adds a process's exit, which no task can write itself, to the job's history on a disk."""
        if not self._model_dir or storage.scheme(self._model_dir):
            return
        path = pathlib.Path(self._model_dir, "history", "launch.jsonl")
        line = {"task": child.name, "kind": "exit", "time": time.time(), "by": "launch",
                "began": child.began, "code": code}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(line)}\n")
        except OSError as error:
            self._print(f"cannot write {path}: {error.strerror}")

    def _keep_first_failure(self, child: task_process.TaskProcess, how: str) -> None:
        if not self.first_failure:
            reason = f": {child.reason}" if child.reason else ""
            self.first_failure = f"{child.name}, {how}{reason} (its log: {child.log_path})"

    def _end(self, code: int, wait_secs: float) -> None:
        """Ends the job with `code`; after `wait_secs` the remaining tasks get SIGTERM."""
        self._code = code
        self._terminates_at = time.monotonic() + wait_secs
        self._kills_at = self._terminates_at + deadlines.STOP_SECS
