"""Reads the logs of running tasks, and the clocks of the machine and of each process; on Linux."""

from __future__ import annotations

import os
import pathlib
import re
import sys
import time
from typing import Callable

from tests.support import jobs

_TICKS_PER_SEC = os.sysconf("SC_CLK_TCK")
_POLL_SECS = 0.02


class Follower:
    """A reader of a growing log, with the time of each step.

    Attributes:
      task: The task of the log.
      at_secs: The time at which each line of a step was read.
      steps: The global step of each of these lines.
      losses: The loss in each of these lines.
    """

    def __init__(self, task: jobs.Task, line: re.Pattern[str]):
        """Opens the log of a task.

        Args:
          task: The task.
          line: The pattern of a line of a step, with the groups `step` and `loss`.
        """
        self.task = task
        self.at_secs: list[float] = []
        self.steps: list[int] = []
        self.losses: list[float] = []
        self._line = line
        self._file = task.log_path.open(encoding="utf-8", errors="replace")
        self._rest = ""

    def read(self) -> None:
        """Reads the new part of the log.

        Raises:
          SystemExit: The task has ended.
        """
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        for line in lines:
            found = self._line.search(line)
            if found:
                self.at_secs.append(time.monotonic())
                self.steps.append(int(found["step"]))
                self.losses.append(float(found["loss"]))
        if self.task.code is not None:
            sys.exit(f"{self.task.name} ended before it was measured:\n{self.task.log[-4000:]}")

    def close(self) -> None:
        """Closes the log."""
        self._file.close()

    def cpu_secs(self) -> float:
        """Returns the CPU seconds of the process so far."""
        text = pathlib.Path(f"/proc/{self.task.process.pid}/stat").read_text()
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / _TICKS_PER_SEC


class Clock:
    """The time, all CPU times and the traffic between this machine's processes at one moment.

    Attributes:
      at_secs: The time.
      cpu_secs: The CPU seconds of each process so far.
      machine_secs: The seconds for which the machine's cores have been busy.
      loopback_bytes: The bytes that the loopback interface has carried.
    """

    def __init__(self, followers: list[Follower]):
        self.at_secs = time.monotonic()
        self.cpu_secs = [each.cpu_secs() for each in followers]
        user, nice, system, _, _, *interrupts = pathlib.Path("/proc/stat").read_text().split()[1:9]
        self.machine_secs = sum(map(int, (user, nice, system, *interrupts))) / _TICKS_PER_SEC
        _, _, counters = pathlib.Path("/proc/net/dev").read_text().partition("lo:")
        self.loopback_bytes = int(counters.split()[0])

    def foreign_cores(self, end: Clock) -> float:
        """Returns the number of cores that other processes kept busy from here to `end`."""
        own = sum(end.cpu_secs) - sum(self.cpu_secs)
        return (end.machine_secs - self.machine_secs - own) / (end.at_secs - self.at_secs)


def send(followers: list[Follower], number: int) -> None:
    """Sends a signal, such as SIGSTOP, to all processes of the tasks."""
    for each in followers:
        os.killpg(each.task.process.pid, number)


def read_until(followers: list[Follower], is_done: Callable[[], bool], limit_secs: float) -> None:
    """Reads the logs until `is_done` holds.

    Raises:
      SystemExit: with the log of a task that has ended, or of all after `limit_secs`.
    """
    deadline = time.monotonic() + limit_secs
    while not is_done():
        if time.monotonic() > deadline:
            sys.exit("\n".join(f"{each.task.name} is too slow:\n{each.task.log[-4000:]}"
                               for each in followers))
        for each in followers:
            each.read()
        time.sleep(_POLL_SECS)
