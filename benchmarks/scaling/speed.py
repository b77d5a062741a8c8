"""Measures the speed of pinned jobs from their logs, in turns; only on Linux.

Starting a job takes longer than measuring it, so a started job is paused while others are measured,
and continues on its next turn. /proc has the CPU time of each process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import signal
import time
from typing import Callable, Iterator

import numpy as np

from benchmarks import followed_tasks
from benchmarks.scaling import pinned_job
from benchmarks.scaling.pinned_job import Job
from tests.support import jobs

_LINE = re.compile(r"  step (?P<step>\d+)\S*  loss (?P<loss>\S+) .* (?P<speed>\S+) steps/s")
# The first line includes the start, the second the other trainers' starts; and a paused job first
# makes single steps, to find how many fit into a session run.
_WARM_UP_LINES = 2
_WARM_UP_SECS = 1.0
_SKIPPED_STEPS = 50
_START_SECS = 240
# A paused task must not count as lost.
_PATIENCE = ("--peer_timeout_secs=100000", "--stall_timeout_secs=100000")


@dataclasses.dataclass(frozen=True)
class Speed:
    """The speed of a job while all its trainers are training.

    Attributes:
      steps_per_sec: Global steps per second; for independent jobs, the sum.
      cpu_secs: CPU seconds of one process in a global step, by role.
      foreign_cores: Number of cores that other processes kept busy; unless it is near 0, the
        measurement means nothing.
    """

    steps_per_sec: float
    cpu_secs: dict[str, float]
    foreign_cores: float


class WarmJob:
    """A job that is paused except while it is measured."""

    def __init__(self, job: Job, tasks: list[jobs.Task]):
        """Waits until the job's trainers make steps, then pauses the job.

        Raises:
          SystemExit: with the log of a process that ended or never began.
        """
        self._followers = [followed_tasks.Follower(task, _LINE) for task in tasks]
        self._trainers = [each for each in self._followers if not each.task.name.startswith("ps")]
        self._counted = self._trainers if job.mode == "independent" else self._trainers[:1]
        self._read_until(lambda: all(len(each.steps) >= _WARM_UP_LINES for each in self._trainers))
        followed_tasks.send(self._followers, signal.SIGSTOP)

    def measure(self, secs: float) -> Speed:
        """Returns the job's speed over `secs`.

        Raises:
          SystemExit: with the log of a process that ended.
        """
        known = [len(each.steps) for each in self._counted]
        followed_tasks.send(self._followers, signal.SIGCONT)
        warm_secs = time.monotonic() + _WARM_UP_SECS
        self._read_until(lambda: time.monotonic() >= warm_secs and all(
            len(each.steps) >= before + _WARM_UP_LINES
            for each, before in zip(self._counted, known)))
        start = followed_tasks.Clock(self._followers)
        self._read_until(lambda: time.monotonic() >= start.at_secs + secs)
        end = followed_tasks.Clock(self._followers)
        # The window's end must lie between two lines.
        self._read_until(lambda: all(each.at_secs[-1] >= end.at_secs for each in self._counted))
        followed_tasks.send(self._followers, signal.SIGSTOP)
        return self._speed(start, end)

    def close(self) -> None:
        """Closes the logs."""
        for each in self._followers:
            each.close()

    def _speed(self, start: followed_tasks.Clock, end: followed_tasks.Clock) -> Speed:
        """Returns the speed between two readings."""
        secs = end.at_secs - start.at_secs
        steps = sum(
            float(np.diff(np.interp([start.at_secs, end.at_secs], each.at_secs, each.steps))[0])
            for each in self._counted)
        used = [after - before for before, after in zip(start.cpu_secs, end.cpu_secs)]
        by_role: dict[str, list[float]] = {}
        for each, cpu_secs in zip(self._followers, used):
            by_role.setdefault(each.task.name.split(":")[0], []).append(cpu_secs / steps)
        return Speed(steps / secs, {role: float(np.mean(each)) for role, each in by_role.items()},
                     start.foreign_cores(end))

    def _read_until(self, is_done: Callable[[], bool]) -> None:
        followed_tasks.read_until(self._followers, is_done, _START_SECS)


def can_stand_still(job: Job) -> bool:
    """Returns whether a job may be paused for longer than a moment.

    The processes of an all-reduce lose each other after 10 s without a heartbeat.
    """
    return job.mode != "all_reduce" or job.trainers == 1


@contextlib.contextmanager
def warm(job: Job) -> Iterator[WarmJob]:
    """Starts a job, which can be measured any number of times; kills it at the end."""
    with pinned_job.running(dataclasses.replace(job, flags=(*_PATIENCE, *job.flags))) as tasks:
        with contextlib.closing(WarmJob(job, tasks)) as warm_job:
            yield warm_job


def step_secs(task: jobs.Task, secs: float) -> list[float]:
    """Returns the seconds of single steps of a running task, without those of its start.

    Args:
      task: The task, which logs every step.
      secs: Seconds for which steps are collected.
    """
    jobs.wait_for(lambda: len(task.losses) > _SKIPPED_STEPS, _START_SECS)
    time.sleep(secs)
    speeds = [float(found["speed"]) for found in _LINE.finditer(task.log)]
    return [1.0 / speed for speed in speeds[_SKIPPED_STEPS:]]
