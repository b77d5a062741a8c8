"""One task of a job on this machine: its process, its output and its events."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import pathlib
import signal
import subprocess
import threading
import time
from typing import Any, Callable

from estimator_trainer import deadlines, environment as environment_lib, redaction, task_events
from estimator_trainer.launcher.fork_server import (die_with_parent, ForkedProcess, ForkServer,
                                                    Request)

# An end with one of these reasons is explained by an earlier event.
NOT_STARTED = "not started"
_EXPLAINED = ("error", "configuration")


@dataclasses.dataclass
class TaskProcess:
    """One task, whose process may be restarted.

    Attributes:
      program: The words that start the program; `args` follow them.
      log_path: The file for the output of all starts.
      on_line: Function that is called, in another thread, with this object and each line.
      state: For display: not started, starting, running, done, or how the process ended.
      examples_per_sec: The last speed among the events, for display; "" for none.
      reason: The process's own reason for its failure; "" for none.
      began: The last start of the process, in seconds since 1970.
      has_result: Whether training ended with a result; a script may train nothing.
      has_own_train: Whether an Estimator that has its own `train` trained.
      is_leaving: Whether the process was sent a signal to leave a job that goes on.
    """

    name: str
    program: list[str]
    args: list[str]
    environment: dict[str, str]
    log_path: pathlib.Path
    on_line: Callable[[TaskProcess, str], None]
    fork_server: ForkServer | None = None
    restarts: int = 0
    state: str = NOT_STARTED
    step: int = 0
    examples_per_sec: str = ""
    reason: str = ""
    began: float = 0.0
    has_result: bool = False
    has_own_train: bool = False
    is_leaving: bool = False

    def start(self) -> None:
        """Starts the process in a new session; it dies with this process.

        Only the main thread may call this: on Linux the kernel kills the process when the thread
        that started it ends.
        """
        self.reason = self.examples_per_sec = ""
        self.began = time.time()
        (output_pipe, output), (event_pipe, events) = os.pipe(), os.pipe()
        self._process = self._forked(output, events) or self._executed(output, events)
        os.close(output)
        os.close(events)
        self.state = "starting"
        self._readers = [
            threading.Thread(target=read, args=[pipe], name=f"{kind} of {self.name}", daemon=True)
            for read, pipe, kind in ((self._read_output, output_pipe, "log"),
                                     (self._read_events, event_pipe, "events"))]
        for reader in self._readers:
            reader.start()

    def _forked(self, output: int, events: int) -> ForkedProcess | None:
        if self.fork_server is None:
            return None
        request = Request(self.name, tuple(self.args), self.environment, os.getcwd())
        try:
            return self.fork_server.start(request, output, output, events)
        except (OSError, EOFError):
            self.fork_server = None  # The server was killed, perhaps for its memory.
            return None

    def _executed(self, output: int, events: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.program, *self.args], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env=environment_lib.with_events_pipe(self.environment, events), pass_fds=[events],
            start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid()))

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """Returns the exit code, negative for a signal, or None while the process runs.

        At the end, kills the process's own children, and reads the rest of its output.
        """
        if self._process.returncode is None and os.waitid(
                os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            self.kill()
        return self._process.returncode

    def signal(self, number: int) -> None:
        """Sends a signal to the process and its children, if it has not been reaped."""
        if self._process.returncode is None:
            # macOS does not permit a signal where only zombies are left.
            with contextlib.suppress(PermissionError):
                os.killpg(self.pid, number)

    def kill(self) -> None:
        """Kills the process and its children, and reaps it, if it was ever started."""
        if self.state == NOT_STARTED:
            return
        # After the process is reaped, its id may be another group's.
        self.signal(signal.SIGKILL)
        self._process.wait()
        # A process of the task that left its group may hold the pipes for ever.
        deadline = time.monotonic() + deadlines.LAST_LINES_SECS
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))

    def _read_output(self, pipe: int) -> None:
        with self.log_path.open("ab", buffering=0) as log, open(pipe, "rb") as stream:
            for raw in stream:
                # TensorFlow's own libraries may print a URL.
                text = redaction.without_credentials(raw.decode(errors="surrogateescape"))
                # On a full disk the log has gaps; a task whose output is not read would stop.
                with contextlib.suppress(OSError):
                    log.write(text.encode(errors="surrogateescape"))
                self.on_line(self, text.rstrip("\n"))

    def _read_events(self, pipe: int) -> None:
        with open(pipe, "rb") as stream:
            for raw in stream:
                self._apply(task_events.parse(raw))

    def _apply(self, event: dict[str, Any]) -> None:
        kind = event.get("kind")
        self.step = event.get("step", self.step)
        self.has_result = self.has_result or kind == "end"
        self.has_own_train = kind == "end" and event["reason"] == "own_train"
        if kind in ("trains", "serves", "evaluation") and self.state == "starting":
            self.state = "running"
        elif kind == "train":
            self.examples_per_sec = f"{event['examples_per_sec']:,.0f}"
        elif kind == "error":
            self.reason = event["message"].partition("\n")[0]
        elif kind == "end" and event["status"] != "done" and event["reason"] not in _EXPLAINED:
            self.reason = event["reason"]


def describe(code: int) -> str:
    """Returns how a process ended: "exit 1", "killed by SIGKILL"."""
    return f"exit {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
