"""A child: the process of one task of a job on this machine, what it prints and how it ends."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
from typing import Callable

from estimator_trainer import deadlines
from estimator_trainer.jobs.launcher import fork_server
from estimator_trainer.jobs.launcher import prctl
from estimator_trainer.jobs.launcher.fork_server import ForkedProcess
from estimator_trainer.jobs.launcher.fork_server import ForkServer

_STEP = re.compile(r"  step (\d+)\S*  loss .*?([\d,.]+) examples/s")
_STARTED = re.compile(r"  training from step (\d+)|  serves variables at|  evaluat")
_LAST = re.compile(r"role=\S+ status=(\w+) step=(\d+) reason=(.*)")
_MESSAGE = re.compile(r"estimator-trainer: (.*)")


@dataclasses.dataclass
class TaskProcess:
    """One task; its process may be started again.

    Attributes:
      name: Such as "worker:1".
      program: The words that start the program.
      args: What follows them.
      environment: Its environment.
      log_path: Gets all that it prints, of every start.
      on_line: Is called, in another thread, with this child and each line.
      fork_server: Starts it as a fork, if there is one.
      restarts: How often it was started again.
      state: For people: not started, starting, running, done, or how it ended.
      step: The last global step that it told of.
      examples_per_sec: Its speed, as it told it; "" if it did not.
      reason: Why it failed, in its own words; "" if it did not say.
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

    def start(self) -> None:
        """Starts the process, in a session of its own; it dies with this one.

        To be called in the main thread: on Linux the kernel kills the child when the thread ends
        that started it.
        """
        self.reason = self.examples_per_sec = ""
        printed, output = os.pipe()
        self._process = self._forked(output) or self._executed(output)
        os.close(output)
        self.state = "starting"
        self._reader = threading.Thread(target=self._read, args=[printed],
                                        name=f"log of {self.name}", daemon=True)
        self._reader.start()

    def _forked(self, output: int) -> ForkedProcess | None:
        if self.fork_server is None:
            return None
        request = fork_server.Request(self.name, tuple(self.args), self.environment, os.getcwd())
        try:
            return self.fork_server.start(request, output, output)
        except (OSError, EOFError):
            self.fork_server = None  # It was killed, perhaps for its memory.
            return None

    def _executed(self, output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.program, *self.args], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True,
            preexec_fn=functools.partial(prctl.die_with_parent, os.getpid()))

    @property
    def pid(self) -> int:
        """Of the process started last."""
        return self._process.pid

    def poll(self) -> int | None:
        """Returns the exit code, negative for a signal, or None while the process runs.

        With it ends all that it started, and all that it printed has been read.
        """
        if self._process.returncode is None and self._has_ended():
            # Before it is reaped: after that, its id may be that of somebody else's group.
            self.signal(signal.SIGKILL)
            self._process.wait()
            # What the process started, and left its group, may hold the pipe for ever.
            self._reader.join(deadlines.LAST_LINES_SECS)
        return self._process.returncode

    def signal(self, number: int) -> None:
        """Sends a signal to the process and all it started, if it has not been reaped."""
        if self._process.returncode is None:
            # macOS does not permit it where only zombies are left.
            with contextlib.suppress(PermissionError):
                os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """Ends the process and all it started, and reaps it; one that never began is none."""
        if self.state != "not started":
            self.signal(signal.SIGKILL)
            self._process.wait()
            self._reader.join(deadlines.LAST_LINES_SECS)

    def _has_ended(self) -> bool:
        return os.waitid(os.P_PID, self._process.pid,
                         os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _read(self, printed: int) -> None:
        with self.log_path.open("ab") as log, open(printed, "rb") as stream:
            for raw in stream:
                log.write(raw)
                log.flush()
                line = raw.decode(errors="replace").rstrip("\n")
                self._learn(line)
                self.on_line(self, line)

    def _learn(self, line: str) -> None:
        progress, last = _STEP.search(line), _LAST.fullmatch(line)
        if progress:
            self.step, self.examples_per_sec = int(progress[1]), progress[2]
        if last:
            self.step = int(last[2])
            if last[1] != "done" and (last[3] not in ("error", "configuration")):
                self.reason = _unquoted(last[3])
        elif message := _MESSAGE.match(line):
            self.reason = message[1]
        elif self.state == "starting" and (started := _STARTED.search(line)):
            self.state = "running"
            self.step = int(started[1] or self.step)


def describe(code: int) -> str:
    """Returns how a process ended, in words: "exit 1", "killed by SIGKILL"."""
    if code >= 0:
        return f"exit {code}"
    return f"killed by {signal.Signals(-code).name}"


def _unquoted(reason: str) -> str:
    try:
        return str(json.loads(reason))
    except ValueError:
        return reason
