"""Runs one task of a job on this machine in a process, and learns how that goes."""

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
from estimator_trainer.launcher import fork_server
from estimator_trainer.launcher.fork_server import ForkedProcess, ForkServer

# Another event explains an end with one of these reasons.
_EXPLAINED = ("error", "configuration")


@dataclasses.dataclass
class TaskProcess:
    """One task; its process may be started again.

    Attributes:
      name: Name of the task, such as "worker:1".
      program: The words that start the program.
      args: The words that follow them.
      environment: Environment of the process.
      log_path: The file that gets all that every start prints.
      on_line: Function that is called, in another thread, with this object and each line.
      fork_server: The server that starts the process as a fork, or None.
      restarts: Number of times that the process was started again.
      state: Text for people: not started, starting, running, done, or how the process ended.
      step: The last global step that the process told.
      examples_per_sec: The last speed that it told, as text; "" if it told none.
      reason: Why it failed, in its own words; "" if it did not say.
      began: When the process started last, in seconds since 1970.
      has_result: Whether the process told how its training ended; a script may train nothing.
    """

    name: str
    program: list[str]
    args: list[str]
    environment: dict[str, str]
    log_path: pathlib.Path
    on_line: Callable[[TaskProcess, str], None]
    fork_server: ForkServer | None = None
    restarts: int = 0
    state: str = "not started"
    step: int = 0
    examples_per_sec: str = ""
    reason: str = ""
    began: float = 0.0
    has_result: bool = False

    def start(self) -> None:
        """Starts the process, in a session of its own; it dies with this one.

        Only the main thread may call this: on Linux the kernel kills the process when the thread
        ends that started it.
        """
        self.reason = self.examples_per_sec = ""
        self.began = time.time()
        (printed, output), (told, events) = os.pipe(), os.pipe()
        self._process = self._forked(output, events) or self._executed(output, events)
        os.close(output)
        os.close(events)
        self.state = "starting"
        self._readers = [
            threading.Thread(target=self._read, args=[printed], name=f"log of {self.name}",
                             daemon=True),
            threading.Thread(target=self._listen, args=[told], name=f"events of {self.name}",
                             daemon=True)]
        for reader in self._readers:
            reader.start()

    def _forked(self, output: int, events: int) -> ForkedProcess | None:
        if self.fork_server is None:
            return None
        request = fork_server.Request(self.name, tuple(self.args), self.environment, os.getcwd())
        try:
            return self.fork_server.start(request, output, output, events)
        except (OSError, EOFError):
            self.fork_server = None  # It was killed, perhaps for its memory.
            return None

    def _executed(self, output: int, events: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.program, *self.args], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env=environment_lib.with_events_pipe(self.environment, events), pass_fds=[events],
            start_new_session=True,
            preexec_fn=functools.partial(fork_server.die_with_parent, os.getpid()))

    @property
    def pid(self) -> int:
        """The process id of the process started last."""
        return self._process.pid

    def poll(self) -> int | None:
        """Returns the exit code, negative for a signal, or None while the process runs.

        What the process started ends with it, and then all that it printed has been read.
        """
        if self._process.returncode is None and self._has_ended():
            # This comes before it is reaped: after that, its id may be another group's.
            self.signal(signal.SIGKILL)
            self._process.wait()
            self._finish_reading()
        return self._process.returncode

    def signal(self, number: int) -> None:
        """Sends a signal to the process and all it started, if it has not been reaped."""
        if self._process.returncode is None:
            # macOS does not permit it where only zombies are left.
            with contextlib.suppress(PermissionError):
                os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """Ends the process and all it started, and reaps it, if it was ever started."""
        if self.state != "not started":
            self.signal(signal.SIGKILL)
            self._process.wait()
            self._finish_reading()

    def _has_ended(self) -> bool:
        return os.waitid(os.P_PID, self._process.pid,
                         os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _read(self, printed: int) -> None:
        with self.log_path.open("ab", buffering=0) as log, open(printed, "rb") as stream:
            for raw in stream:
                # TensorFlow's own libraries may print a URL.
                text = redaction.without_credentials(raw.decode(errors="surrogateescape"))
                # On a full disk the log has gaps; a task whose output nobody reads would stop.
                with contextlib.suppress(OSError):
                    log.write(text.encode(errors="surrogateescape"))
                self.on_line(self, text.rstrip("\n"))

    def _listen(self, told: int) -> None:
        with open(told, "rb") as stream:
            for raw in stream:
                self._learn(task_events.parse(raw))

    def _finish_reading(self) -> None:
        # What the task started and what left its group may hold the pipes for ever.
        deadline = time.monotonic() + deadlines.LAST_LINES_SECS
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))

    def _learn(self, event: dict[str, Any]) -> None:
        kind = event.get("kind")
        self.step = event.get("step", self.step)
        self.has_result = self.has_result or kind == "end"
        if kind in ("trains", "serves", "evaluation") and self.state == "starting":
            self.state = "running"
        elif kind == "train":
            self.examples_per_sec = f"{event['examples_per_sec']:,.0f}"
        elif kind == "error":
            self.reason = event["message"].partition("\n")[0]
        elif kind == "end" and event["status"] != "done" and event["reason"] not in _EXPLAINED:
            self.reason = event["reason"]


def describe(code: int) -> str:
    """Returns how a process ended, in words: "exit 1", "killed by SIGKILL"."""
    if code >= 0:
        return f"exit {code}"
    return f"killed by {signal.Signals(-code).name}"
