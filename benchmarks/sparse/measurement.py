"""Runs a row once, and measures its speed, CPU time, calls, traffic, memory and loss; on Linux."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from typing import Iterator, Sequence

import numpy as np

from benchmarks import followed_tasks, machine
from benchmarks.sparse import rows
from benchmarks.sparse.peers import work
from tests.support import jobs

_LIMIT_SECS = 240
# The first line of a trainer may come before the others train.
_WARM_UP_LINES = 2
_MB = 2**20


@dataclasses.dataclass(frozen=True)
class Window:
    """The global steps that are measured.

    Attributes:
      warm_up: Number of steps before; more if a trainer is late.
      steps: Number of steps that are timed.
    """

    warm_up: int
    steps: int

    @property
    def last(self) -> int:
        """The step at which training would end; the job is killed before."""
        return 100 * (self.warm_up + self.steps)


@dataclasses.dataclass(frozen=True)
class Measured:
    """The figures of one run; a step is one batch of one trainer.

    Attributes:
      steps_per_sec: Global steps a second.
      examples_per_sec: Examples a second.
      cpu_ms: Milliseconds of CPU of all tasks together, by task, for each global step.
      kilobytes: Kilobytes (1,000 bytes) between the tasks a step, with gRPC's and TCP's headers,
        as the loopback interface counts them.
      memory_mb: The peak memory of each task, in MiB.
      calls: Number of tensors that cross between tasks in a step; None if that is not counted.
      loss: Mean of the losses in the lines of all trainers from the end of the warm-up, for as
        many steps as are timed.
      foreign_cores: Number of cores that other processes kept busy; unless it is near 0, the
        measurement means nothing.
    """

    steps_per_sec: float
    examples_per_sec: float
    cpu_ms: dict[str, float]
    kilobytes: float
    memory_mb: dict[str, float]
    calls: int | None
    loss: float
    foreign_cores: float


def measure(row: rows.Row, todo: work.Work, ps: int, window: Window, folder: pathlib.Path,
            flags: Sequence[str]) -> Measured:
    """Runs a row until its steps are timed.

    Raises:
      SystemExit: with the log of a task that ended, or was too slow.
    """
    with tempfile.TemporaryDirectory() as temporary, running(
            pathlib.Path(temporary), row.counts(ps), row.command(
                dataclasses.replace(todo, steps=window.last,
                                    model_dir=pathlib.Path(temporary, "model")),
                folder, flags)) as tasks:
        followers = [followed_tasks.Follower(task, re.compile(row.line)) for task in tasks]
        trainers = [each for each in followers if not each.task.name.startswith("ps")]
        chief = trainers[0]

        def clock_at(step: int) -> followed_tasks.Clock:
            followed_tasks.read_until(
                followers, lambda: all(len(each.steps) >= _WARM_UP_LINES for each in trainers)
                and chief.steps[-1] >= step, _LIMIT_SECS)
            return followed_tasks.Clock(followers)

        start = clock_at(window.warm_up)
        end = clock_at(chief.steps[-1] + window.steps)
        # The window's end must lie between two lines.
        clock_at(chief.steps[-1] + 1)
        found = _measured(todo, followers, start, end)
        # The steps of the losses are the same in each run, however late a trainer was.
        losses = [loss for each in trainers for step, loss in zip(each.steps, each.losses)
                  if window.warm_up <= step <= window.warm_up + window.steps]
        for each in followers:
            each.close()
    return dataclasses.replace(found, loss=statistics.mean(losses))


def _measured(todo: work.Work, followers: list[followed_tasks.Follower],
              start: followed_tasks.Clock, end: followed_tasks.Clock) -> Measured:
    chief = followers[0]
    secs = end.at_secs - start.at_secs
    steps = float(np.diff(np.interp([start.at_secs, end.at_secs], chief.at_secs, chief.steps))[0])
    counted = re.search(r"^calls (\d+)$", chief.task.log, re.M)
    names = [each.task.name for each in followers]
    return Measured(
        steps / secs, steps / secs * todo.batch,
        {name: 1000 * (after - before) / steps
         for name, before, after in zip(names, start.cpu_secs, end.cpu_secs)},
        (end.loopback_bytes - start.loopback_bytes) / 1000 / steps,
        {each.task.name: machine.peak_bytes(each.task.process.pid) / _MB for each in followers},
        int(counted[1]) if counted else None, float("nan"), start.foreign_cores(end))


@contextlib.contextmanager
def running(folder: pathlib.Path, counts: dict[str, int],
            command: list[str]) -> Iterator[list[jobs.Task]]:
    """Starts a job's tasks, the chief first and ps last; kills them at the end."""
    hosts = jobs.cluster(**counts)
    places = [(role, i) for role, count in counts.items() for i in range(count)] or [("local", 0)]
    tasks: list[jobs.Task] = []
    try:
        for role, index in places:
            tasks.append(_start(folder, command, hosts, role, index))
        yield tasks
    finally:
        for task in tasks:
            jobs.kill(task)


def _start(folder: pathlib.Path, command: list[str], hosts: dict[str, list[str]], role: str,
           index: int) -> jobs.Task:
    tf_config = {"cluster": hosts, "task": {"type": role, "index": index}}
    log_path = folder / f"{role}-{index}.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, start_new_session=True, env=jobs.environment(
                TF_CONFIG=json.dumps(tf_config if hosts else {}), TF_CPP_MIN_LOG_LEVEL="3",
                TF_USE_LEGACY_KERAS="1", PYTHONUNBUFFERED="1", TMPDIR=str(folder)))
    return jobs.Task(f"{role}:{index}", process, log_path)


def make_data(todo: work.Work, examples: int) -> None:
    """Writes the records, in a process of its own, unless they are there."""
    if not todo.records.exists():
        code = ("import sys; from benchmarks.sparse.peers import records, work;"
                "records.write(work.from_command_line(sys.argv[2:]), int(sys.argv[1]))")
        subprocess.run([sys.executable, "-c", code, str(examples), *todo.flags()], check=True,
                       env=jobs.environment(TF_CPP_MIN_LOG_LEVEL="3"))
