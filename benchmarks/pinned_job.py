"""One job of several processes, each held to one core, and the speed that their logs tell of.

Linux alone: `taskset` pins, and /proc tells what a process has computed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import sys
import tempfile
import time
from typing import Callable, Iterator

import numpy as np

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPO / "tests"), str(REPO)]

import jobs  # noqa: E402  pylint: disable=wrong-import-position

# By mode: the flag that asks for it, and whether its trainers make one step together.
MODES = {
    "local": ((), False),
    "independent": ((), False),
    "all_reduce": (("--train_distribute=multi_worker_mirrored",), True),
    "async_ps": ((), False),
    "sync_ps": (("--sync_replicas={trainers}",), True),
}
_LINE = re.compile(r"  step (\d+)\S*  loss .*  (\S+) steps/s")
# The first line has the start in it, the second the other trainers' starts.
_WARM_UP_LINES = 2
_WARM_UP_SECS = 2.0
_SKIPPED_STEPS = 50
_START_SECS = 240
_POLL_SECS = 0.02
_TICKS_PER_SEC = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class Job:
    """What to run.

    Attributes:
      mode: One of MODES; "independent" is `trainers` jobs of one process.
      trainers: Processes that compute.
      batch_size: Examples of a batch of one trainer.
      flags: More of the trainer's; they win over those of the mode.
    """

    mode: str
    trainers: int
    batch_size: int
    flags: tuple[str, ...]

    @property
    def step_examples(self) -> int:
        """Examples of one global step."""
        return self.batch_size * (self.trainers if MODES[self.mode][1] else 1)


@dataclasses.dataclass(frozen=True)
class Speed:
    """What was measured, in the time in which all trainers were at work.

    Attributes:
      steps_per_sec: Global steps; of independent jobs the sum.
      cpu_secs: By role: computing time of one process of it, a global step.
      foreign_cores: Cores that processes not of this job kept busy: near 0, or all is in vain.
    """

    steps_per_sec: float
    cpu_secs: dict[str, float]
    foreign_cores: float


class _Follower:
    """Reads a task's log while it is written; knows when each step was told of."""

    def __init__(self, task: jobs.Task):
        self.task = task
        self.at_secs: list[float] = []
        self.steps: list[int] = []
        self._file = task.log_path.open(encoding="utf-8", errors="replace")
        self._rest = ""

    def read(self) -> None:
        """Takes in what the log has got since.

        Raises:
          SystemExit: if the task has ended.
        """
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        for line in lines:
            found = _LINE.search(line)
            if found:
                self.at_secs.append(time.monotonic())
                self.steps.append(int(found[1]))
        if self.task.code is not None:
            sys.exit(f"{self.task.name} ended before it was measured:\n{self.task.log[-4000:]}")

    def cpu_secs(self) -> float:
        """Returns the computing time of the process until now."""
        text = pathlib.Path(f"/proc/{self.task.process.pid}/stat").read_text()
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / _TICKS_PER_SEC


class _Clock:
    """Reads at once the time and what has been computed."""

    def __init__(self, followers: list[_Follower]):
        self.at_secs = time.monotonic()
        self.cpu_secs = [each.cpu_secs() for each in followers]
        user, nice, system, _, _, *interrupts = pathlib.Path("/proc/stat").read_text().split()[1:9]
        self.machine_secs = sum(map(int, (user, nice, system, *interrupts))) / _TICKS_PER_SEC


def measure(job: Job, secs: float) -> Speed:
    """Runs a job until its speed over `secs` is known, then kills it.

    Raises:
      SystemExit: with the log of a process that ended or never began.
    """
    with running(job) as tasks:
        followers = [_Follower(task) for task in tasks]
        trainers = [each for each in followers if not each.task.name.startswith("ps")]
        _read_until(followers, lambda: all(len(t.steps) >= _WARM_UP_LINES for t in trainers),
                    time.monotonic() + _START_SECS)
        warm_secs = time.monotonic() + _WARM_UP_SECS
        _read_until(followers, lambda: time.monotonic() >= warm_secs, warm_secs + 1)
        start = _Clock(followers)
        _read_until(followers, lambda: time.monotonic() >= start.at_secs + secs,
                    start.at_secs + secs + 1)
        end = _Clock(followers)
        # So that the window's end lies between two lines.
        _read_until(followers, lambda: all(t.at_secs[-1] >= end.at_secs for t in trainers),
                    end.at_secs + _START_SECS)
    counted = trainers if job.mode == "independent" else trainers[:1]
    return _speed(followers, counted, start, end)


def _speed(followers: list[_Follower], counted: list[_Follower], start: _Clock,
           end: _Clock) -> Speed:
    """Returns what happened between two readings; the steps are those of `counted`."""
    secs = end.at_secs - start.at_secs
    steps = sum(float(np.diff(np.interp([start.at_secs, end.at_secs], each.at_secs, each.steps))[0])
                for each in counted)
    used = [after - before for before, after in zip(start.cpu_secs, end.cpu_secs)]
    by_role: dict[str, list[float]] = {}
    for each, cpu_secs in zip(followers, used):
        by_role.setdefault(each.task.name.split(":")[0], []).append(cpu_secs / steps)
    foreign = (end.machine_secs - start.machine_secs - sum(used)) / secs
    return Speed(steps / secs, {role: float(np.mean(values)) for role, values in by_role.items()},
                 foreign)


def step_secs(task: jobs.Task, secs: float) -> list[float]:
    """Returns the times between the lines of a running task's log, those of its start left out.

    Args:
      task: It logs every step.
      secs: How long to wait for them.
    """
    jobs.wait_for(lambda: len(task.losses) > _SKIPPED_STEPS, _START_SECS)
    time.sleep(secs)
    speeds = [float(speed) for _, speed in _LINE.findall(task.log)]
    return [1.0 / speed for speed in speeds[_SKIPPED_STEPS:]]


def _read_until(followers: list[_Follower], is_done: Callable[[], bool],
                deadline: float) -> None:
    while not is_done():
        if time.monotonic() > deadline:
            sys.exit("\n".join(f"{each.task.name} is too slow:\n{each.task.log[-4000:]}"
                               for each in followers))
        for each in followers:
            each.read()
        time.sleep(_POLL_SECS)


@contextlib.contextmanager
def running(job: Job) -> Iterator[list[jobs.Task]]:
    """Starts a job's processes, the chief first; kills what is left of them at the end.

    The model_dir of the first is `model-0` beside its log.

    Trainer i has core i, from the first again where there are fewer cores; a ps may use the
    trainers' cores, and no other.
    """
    hosts = _hosts(job)
    cores = sorted(os.sched_getaffinity(0))
    used = cores[:job.trainers]
    tasks: list[jobs.Task] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for number, (name, tf_config) in enumerate(_tasks(job, hosts)):
                pinned = used if name.startswith("ps") else [used[number % len(used)]]
                model_dir = f"{folder}/model-{0 if hosts else number}"
                tasks.append(jobs.start(
                    pathlib.Path(folder), name, _flags(job, model_dir), tf_config,
                    prefix=("taskset", "-c", ",".join(map(str, pinned)))))
            yield tasks
        finally:
            for task in tasks:
                jobs.kill(task)


def _hosts(job: Job) -> dict[str, list[str]]:
    if job.mode in ("local", "independent"):
        return {}
    counts = {"chief": 1, "worker": job.trainers - 1, "ps": int("ps" in job.mode)}
    return jobs.cluster(**{role: count for role, count in counts.items() if count})


def _tasks(job: Job, hosts: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Returns (name, TF_CONFIG) of every process, the chief first and ps last."""
    if not hosts:
        return [(f"local:{i}", "") for i in range(job.trainers)]
    return [(f"{role}:{i}", json.dumps({"cluster": hosts, "task": {"type": role, "index": i}}))
            for role, addresses in hosts.items() for i in range(len(addresses))]


def _flags(job: Job, model_dir: str) -> list[str]:
    of_mode = [flag.format(trainers=job.trainers) for flag in MODES[job.mode][0]]
    return [f"--model_dir={model_dir}", "--train_steps=10000000", "--exporters=none",
            "--eval_steps=1", "--save_checkpoints_steps=1000000",
            f"--param=batch_size={job.step_examples}", *of_mode, *job.flags]
