"""Runs the job of a schedule, applies its faults, and restarts tasks as a scheduler would."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import time
from typing import Any, Callable, Sequence

import psutil

from benchmarks.chaos import moments, schedules
from tests.support import jobs

LIMIT_SECS = 120.0
MODEL = pathlib.Path(__file__).with_name("model.py")
_RESTART_SECS = 0.5
# Exit codes after which a scheduler restarts a task. SIGALRM ends a trainer of an all-reduce that
# waits inside TensorFlow; a shell and a container show it as 142.
RESTARTED = (142, 143, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGALRM)
# A save of this model takes milliseconds.
_POLL_SECS = 0.003


@dataclasses.dataclass
class Process:
    """One process of a task.

    Attributes:
      task: The task's name.
      running: The process and its log.
      started: Seconds from the job's start to this process's.
      signals: Signals that this process received, each with the seconds since the job's start.
      ended: Seconds from the job's start to this process's end, once noticed.
    """

    task: str
    running: jobs.Task
    started: float
    signals: list[tuple[int, float]] = dataclasses.field(default_factory=list)
    ended: float | None = None

    @property
    def is_killed(self) -> bool:
        """Whether the harness killed this process."""
        return self.running.code == -signal.SIGKILL

    def __str__(self) -> str:
        got = "".join(f", {signal.Signals(number).name} at {secs:.2f} s"
                      for number, secs in self.signals)
        end = "runs" if self.ended is None else f"{self.running.code} at {self.ended:.2f} s"
        return f"{self.task} from {self.started:.2f} s{got}: {end}"


@dataclasses.dataclass
class Ended:
    """A job that has ended, or was killed.

    Attributes:
      schedule: The schedule.
      model_dir: The job's directory.
      processes: Every process, in the order of their starts.
      applied: Indices of the faults that met a running process.
      hung: Names of the tasks that were still running at the limit.
      secs: Seconds from start to end.
      left: Names of ended tasks whose child processes are still running.
    """

    schedule: schedules.Schedule
    model_dir: pathlib.Path
    processes: list[Process]
    applied: list[int]
    hung: tuple[str, ...]
    secs: float
    left: tuple[str, ...] = ()


class Job:
    """A job of real processes.

    Attributes:
      model_dir: The job's directory.
      processes: Every process so far.
      marks: The folder where the model leaves a mark at each evaluation.
      ways: Words for `jobs.start` of the processes of a task, by its name.
    """

    def __init__(self, schedule: schedules.Schedule, root: pathlib.Path, flags: Sequence[str] = (),
                 model_dir: pathlib.Path | None = None,
                 hosts: dict[str, list[str]] | None = None):
        """Makes the job; `start` starts its tasks.

        Args:
          schedule: The schedule; this class does not apply its faults.
          root: A new folder for logs and model_dir.
          flags: Additional flags.
          model_dir: The job's directory; None for one in `root`.
          hosts: Addresses by role; None for free ports of this machine.
        """
        self.model_dir = model_dir or root / "model"
        self.processes: list[Process] = []
        # Params are the same when a job runs again in its model_dir.
        self.marks = (root.parent if model_dir else root) / "marks"
        self.marks.mkdir(parents=True, exist_ok=True)
        root.mkdir(exist_ok=True)
        self.ways: dict[str, dict[str, Any]] = {}
        self._root = root
        self._schedule = schedule
        self._args = [f"--model_fn={MODEL}", f"--input_fn={MODEL}",
                      f"--model_dir={self.model_dir}", f"--param=marks={self.marks}",
                      *schedule.flags, *flags]
        counts = dict(schedules.SHAPES[schedule.shape].counts)
        # A chief without an evaluator in TF_CONFIG evaluates itself.
        is_listed = counts == {"chief": 1} and schedule.evaluator
        self._hosts = hosts or jobs.cluster(**counts, **({"evaluator": 1} if is_listed else {}))
        self._current: dict[str, Process] = {}
        self._start = time.monotonic()

    @property
    def secs(self) -> float:
        """Seconds since the job was made."""
        return time.monotonic() - self._start

    def start(self, task: str) -> Process:
        """Starts a task, for the first time or again."""
        role, _, index = task.partition(":")
        tf_config = json.dumps({"cluster": self._hosts,
                                "task": {"type": role, "index": int(index)}}) if index else ""
        folder = self._root / f"{len(self.processes):02}"
        folder.mkdir()
        running = jobs.start(folder, task, self._args, tf_config, **self.ways.get(task, {}))
        process = Process(task, running, self.secs)
        self.processes.append(process)
        self._current[task] = process
        return process

    def running(self, task: str) -> Process | None:
        """Returns the running process of a task, if any."""
        process = self._current.get(task)
        return process if process and self._code(process) is None else None

    def send(self, process: Process, number: int) -> None:
        """Sends a signal to a process that is still running."""
        if self._code(process) is None:
            os.kill(process.running.process.pid, number)
            process.signals.append((number, self.secs))

    def trainer_logs(self) -> list[pathlib.Path]:
        """Returns the logs of all trainers so far."""
        return [process.running.log_path for process in self.processes
                if not process.task.startswith(("ps", "evaluator"))]

    def start_all(self) -> None:
        """Starts every task for the first time."""
        for task in self._schedule.tasks:
            self.start(task)

    def ended(self, hung: tuple[str, ...], applied: Sequence[int] = ()) -> Ended:
        """Returns this job, which has ended and is not closed yet, for the checks."""
        left = tuple(process.task for process in self.processes
                     if self._code(process) is not None and _has_group(process))
        return Ended(self._schedule, self.model_dir, self.processes, list(applied), hung,
                     self.secs, left)

    def run_once(self, each_turn: Callable[[], None], limit_secs: float) -> tuple[str, ...]:
        """Waits until all tasks have ended, without restarts; returns as `run` does."""
        while self.secs < limit_secs:
            if all(self._code(process) is not None for process in self._current.values()):
                return ()
            each_turn()
            time.sleep(_POLL_SECS)
        return self._abort()

    def run(self, each_turn: Callable[[], None], limit_secs: float) -> tuple[str, ...]:
        """Restarts tasks until all have ended with 0, or one must not restart.

        Args:
          each_turn: Called many times per second.
          limit_secs: Time limit of the job.

        Returns:
          The names of the tasks that were running at the limit; their stacks are in their logs.
        """
        while self.secs < limit_secs:
            codes = {task: self._code(process) for task, process in self._current.items()}
            if set(codes.values()) == {0} and len(codes) == len(self._schedule.tasks):
                return ()
            if any(code not in (None, 0, *RESTARTED) for code in codes.values()):
                self._settle()
                return ()
            for task, code in codes.items():
                if code and self.secs - (self._current[task].ended or 0) > _RESTART_SECS:
                    self.start(task)
            each_turn()
            time.sleep(_POLL_SECS)
        return self._abort()

    def close(self) -> None:
        """Kills all processes that are still running."""
        for process in self.processes:
            jobs.kill(process.running)
            self._code(process)

    def _code(self, process: Process) -> int | None:
        code = process.running.code
        if code is not None and process.ended is None:
            process.ended = self.secs
        return code

    def _settle(self) -> None:
        """Waits for the other tasks of a failed job to end by themselves."""
        deadline = self.secs + 15
        while self.secs < deadline and any(self._code(process) is None
                                           for process in self._current.values()):
            time.sleep(0.1)

    def _abort(self) -> tuple[str, ...]:
        hung = [process for process in self._current.values() if self._code(process) is None]
        for process in hung:
            self.send(process, signal.SIGCONT)
            self.send(process, signal.SIGABRT)  # Prints the stacks of all threads.
        with contextlib.suppress(Exception):
            for process in hung:
                process.running.process.wait(10)
        return tuple(process.task for process in hung)


class _Faults:
    """Applies the faults of a schedule when their moments have come."""

    def __init__(self, job: Job, schedule: schedules.Schedule):
        self._job = job
        self._moments = moments.Moments(job.model_dir, job.marks, job.trainer_logs,
                                        schedule.exporters[-1])
        self._waiting = dict(enumerate(schedule.faults))
        self._due: dict[int, tuple[float, schedules.Fault]] = {}
        self._continued: list[tuple[float, Process]] = []
        self.applied: list[int] = []

    def turn(self) -> None:
        now = self._job.secs
        for index, fault in list(self._waiting.items()):
            if self._moments.has_come(fault):
                del self._waiting[index]
                self._due[index] = (now + fault.delay_secs, fault)
        for index, (secs, fault) in list(self._due.items()):
            if now >= secs:
                del self._due[index]
                self._apply(index, fault)
        for secs, process in list(self._continued):
            if now >= secs:
                self._continued.remove((secs, process))
                self._job.send(process, signal.SIGCONT)

    def _apply(self, index: int, fault: schedules.Fault) -> None:
        number = {"SIGTERM": signal.SIGTERM, "SIGSTOP": signal.SIGSTOP}.get(
            fault.kind, signal.SIGKILL)
        for task in fault.victims:
            process = self._job.running(task)
            if process:
                self._job.send(process, number)
                if number == signal.SIGSTOP:
                    self._continued.append((self._job.secs + fault.stopped_secs, process))
                if index not in self.applied:
                    self.applied.append(index)


def run(schedule: schedules.Schedule, root: pathlib.Path) -> Ended:
    """Runs the job of a schedule to its end, in a new folder."""
    job = Job(schedule, root)
    faults = _Faults(job, schedule)
    try:
        job.start_all()
        hung = job.run(faults.turn, LIMIT_SECS)
        return job.ended(hung, faults.applied)
    finally:
        job.close()
        jobs.release_ports()


def _has_group(process: Process) -> bool:
    """Returns whether a process that has ended left others of its group running."""
    group = process.running.process.pid
    # An ended child of a killed process may stay a zombie.
    return any(each.info["status"] != psutil.STATUS_ZOMBIE and _group_of(each.pid) == group
               for each in psutil.process_iter(["status"]))


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
