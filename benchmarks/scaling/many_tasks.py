"""Runs whole jobs of up to sixty tasks on this machine, kills some tasks, and measures them.

    python -m benchmarks.scaling.many_tasks [--sizes=2,8,24,58] [--kills=10] [--disk] [--plain=8]

Each job is `launch` of a model of one variable, whose steps sleep. Its model_dir is in the tests'
Cloud Storage, which counts requests and answers after --latency_ms; or, with --disk, on this
machine's disk. While all tasks train, CPU time, memory, threads, connections, requests and the log
are measured for --secs. Then --kills tasks of any role get SIGKILL at random, one a second;
`launch` starts them again, and the job must end with exit code 0 at its last step. Jobs of --plain
are plain Estimators, a process each, which share no import; nothing is killed there, and their ps,
which never end, are killed after the last trainer.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Iterator, Mapping, NamedTuple

from benchmarks.scaling import task_usage
from tests.support import cloud_storage, jobs

_PLAIN = ("import estimator_trainer.compat, runpy, sys; del sys.argv[0];"
          " runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)")
_PLUGIN = jobs.REPO / "tests" / "support" / "slow.py"
_POLL_SECS, _SETTLE_SECS, _LIMIT_SECS = 0.2, 3.0, 420.0
_TRAINS = re.compile(r"((?:chief|worker):\d+) +\|.*(?:training from step|loss = )")
_STEP = re.compile(r".*\| .*(?: step |step = )(\d+)")
_TAIL_LINES = 400
_HEADINGS = (
    "job", "first trains, s", "all train, s", "requests/s", "most requests in 1 s",
    "requests in all", "log, kB/min", "log in all, kB", "a worker's own memory, MB",
    "with its share, MB", "all tasks, GB", "threads: worker", "ps", "connections: chief", "worker",
    "ps", "CPU %: worker", "chief", "a ps", "launch", "other work on the machine, cores",
    "kill to end, s", "last step to end, s")


class Shape(NamedTuple):
    """The numbers of tasks of a job beside its chief."""

    worker: int
    ps: int
    evaluator: int

    def __str__(self) -> str:
        return f"{sum(self) + 1}: 1 chief, {self.worker} worker, {self.ps} ps"


class Output:
    """The lines that the tasks of a job print, each after the task's name; read in threads.

    Attributes:
      trains_at: The time at which each trainer began to train.
      reached_at: The time of the first line with the last step, or a later one.
      step: The largest step.
      num_bytes: The length of all lines.
      tail: The last lines.
    """

    def __init__(self, last_step: int):
        self._last_step = last_step
        self.trains_at: dict[str, float] = {}
        self.reached_at, self.step, self.num_bytes = 0.0, 0, 0
        self.tail: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)

    def follow(self, stream: Iterator[bytes], prefix: str = "") -> None:
        """Starts to read a stream."""
        threading.Thread(target=self._read, args=(stream, prefix), daemon=True).start()

    def _read(self, stream: Iterator[bytes], prefix: str) -> None:
        for raw in stream:
            line = prefix + raw.decode(errors="replace")
            self.num_bytes += len(raw)
            self.tail.append(line)
            if found := _TRAINS.match(line):
                self.trains_at.setdefault(found[1], time.monotonic())
            if found := _STEP.match(line):
                self.step = max(self.step, int(found[1]))
                if self.step >= self._last_step:
                    self.reached_at = self.reached_at or time.monotonic()


def main() -> None:
    """Measures, and prints a row for each job."""
    parser = argparse.ArgumentParser("python -m benchmarks.scaling.many_tasks",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2,8,24,58", help="numbers of tasks")
    parser.add_argument("--plain", default="", help="numbers of tasks of plain jobs")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=50, help="for the choice of killed tasks")
    parser.add_argument("--secs", type=float, default=30, help="that are measured")
    parser.add_argument("--step_secs", type=float, default=1.0)
    parser.add_argument("--latency_ms", type=float, default=50)
    parser.add_argument("--disk", action="store_true", help="model_dir is on the disk")
    options = parser.parse_args()
    print(f"| {' | '.join(_HEADINGS)} |\n|{len(_HEADINGS) * '---|'}", flush=True)
    for flag, measured in ((options.sizes, _measured), (options.plain, _measured_plain)):
        for size in map(int, filter(None, flag.split(","))):
            with tempfile.TemporaryDirectory() as folder:
                cells = measured(shape_of(size), options, pathlib.Path(folder))
                print(f"| {' | '.join(cells)} |", flush=True)


def shape_of(total: int) -> Shape:
    """Returns the tasks of a job of that size: one in seven is a ps, and one the evaluator."""
    num_ps, has_evaluator = max(1, total // 7), int(total > 2)
    return Shape(total - 1 - num_ps - has_evaluator, num_ps, has_evaluator)


def _measured(shape: Shape, options: argparse.Namespace, folder: pathlib.Path) -> list[str]:
    """Runs a job with `launch` to its end; returns the cells of its row."""
    steps = _num_steps(shape, options)
    with _storage(folder, options) as storage, contextlib.ExitStack() as stack:
        process = stack.enter_context(_launched(shape, options, folder, steps, storage))
        output, began = Output(steps), time.monotonic()
        output.follow(process.stdout)
        _wait_for(lambda: len(output.trains_at) == 1 + shape.worker, [process], output)
        trained = time.monotonic()
        time.sleep(_SETTLE_SECS)
        window = _window({"launch": process.pid, **task_usage.tasks_of(process.pid)}, output,
                         storage, options.secs)
        killed_at = _kill(process.pid, options)
        _wait_for(lambda: process.poll() is not None, [], output)
        ended = time.monotonic()
        time.sleep(_POLL_SECS)
        if process.returncode or output.step < steps:
            sys.exit(f"{shape}: exit {process.returncode} at step {output.step} of {steps}\n"
                     f"{''.join(output.tail)}")
        print(*_by_file(storage, trained + _SETTLE_SECS, options.secs), sep="\n", file=sys.stderr)
        return [str(shape), *_start_cells(output, began), *window[:2],
                str(len(storage.requests) if storage else "-"), window[2],
                f"{output.num_bytes / 1e3:.0f}", *window[3:], f"{ended - killed_at:.0f}",
                f"{ended - output.reached_at:.0f}"]


def _measured_plain(shape: Shape, options: argparse.Namespace, folder: pathlib.Path) -> list[str]:
    """Runs a job of plain Estimators; returns the cells of its row."""
    cluster = jobs.cluster(chief=1, worker=shape.worker, ps=shape.ps)
    tasks: dict[str, subprocess.Popen[bytes]] = {}
    steps = _num_steps(shape, options)
    output, began = Output(steps), time.monotonic()
    try:
        for name in [f"{role}:{i}" for role, hosts in cluster.items() for i in range(len(hosts))]:
            role, index = name.split(":")
            tasks[name] = subprocess.Popen(
                [sys.executable, "-c", _PLAIN, "benchmarks.scaling.plain_job", f"{folder}/model",
                 str(steps), str(options.step_secs)], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, env=jobs.environment(TF_CONFIG=json.dumps(
                    {"cluster": cluster, "task": {"type": role, "index": int(index)}})))
            output.follow(tasks[name].stdout, f"{name} | ")
        trainers = [task for name, task in tasks.items() if "ps" not in name]
        _wait_for(lambda: len(output.trains_at) == 1 + shape.worker, trainers, output)
        time.sleep(_SETTLE_SECS)
        window = _window({name: task.pid for name, task in tasks.items()}, output, None,
                         options.secs)
        return [f"plain {shape}", *_start_cells(output, began), *window[:2], "-", window[2], "-",
                *window[3:], "-", "-"]
    finally:
        for task in tasks.values():
            task.kill()
            task.wait()


def _num_steps(shape: Shape, options: argparse.Namespace) -> int:
    """Returns the steps of a job: those of its start, the window, and the kills."""
    secs = options.secs + 2 * _SETTLE_SECS + 2 * options.kills
    return int((1 + shape.worker) * secs / options.step_secs)


@contextlib.contextmanager
def _storage(folder: pathlib.Path, options: argparse.Namespace
             ) -> Iterator[cloud_storage.CloudStorage | None]:
    if options.disk:
        yield None
        return
    with cloud_storage.CloudStorage(folder, latency_secs=options.latency_ms / 1000,
                                    is_write_limited=True) as storage:
        yield storage


@contextlib.contextmanager
def _launched(shape: Shape, options: argparse.Namespace, folder: pathlib.Path, steps: int,
              storage: cloud_storage.CloudStorage | None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*jobs.PROGRAM, "launch", *(f"--{role}={n}" for role, n in shape._asdict().items()),
         f"--log_dir={folder}/logs", "--", f"--model_fn={_PLUGIN}", f"--input_fn={_PLUGIN}",
         f"--model_dir={'gs://bucket/job' if storage else folder / 'model'}",
         f"--param=step_secs={options.step_secs}", "--param=examples=100000000",
         "--save_checkpoints_secs=20", f"--train_steps={steps}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=jobs.environment(**(storage.environment() if storage else {})))
    try:
        yield process
    finally:
        process.kill()  # The kernel then kills the tasks.
        process.wait()


def _wait_for(condition: Callable[[], bool], processes: list[subprocess.Popen[bytes]],
              output: Output) -> None:
    """Waits until a condition holds; exits if a process ends before, or after _LIMIT_SECS."""
    deadline = time.monotonic() + _LIMIT_SECS
    while not condition():
        if time.monotonic() > deadline or any(each.poll() is not None for each in processes):
            sys.exit(f"a task ended, or nothing happened:\n{''.join(output.tail)}")
        time.sleep(_POLL_SECS)


def _window(pids: Mapping[str, int], output: Output, storage: cloud_storage.CloudStorage | None,
            secs: float) -> list[str]:
    """Returns the cells of what the tasks take for some seconds."""
    before, busy, num_bytes = task_usage.of_all(pids), task_usage.busy_secs(), output.num_bytes
    began = time.monotonic()
    time.sleep(secs)
    busy, num_bytes = task_usage.busy_secs() - busy, output.num_bytes - num_bytes
    found = task_usage.since(before, task_usage.of_all(pids))
    times = [each.at - began for each in storage.requests
             if began <= each.at < began + secs] if storage else []
    most = max(collections.Counter(map(int, times)).values(), default=0)
    tasks = {name: each for name, each in found.items() if name != "launch"}
    own = sum(each.cpu_secs for each in found.values())

    def cell(field: str, *roles: str, scale: float = 1.0) -> list[str]:
        return [f"{task_usage.median(found, role, field) * scale:.{1 if scale > 1 else 0}f}"
                for role in roles]

    return [f"{len(times) / secs:.1f}", str(most), f"{num_bytes / 1e3 * 60 / secs:.1f}",
            *cell("own_mb", "worker"), *cell("proportional_mb", "worker"),
            f"{sum(each.proportional_mb for each in tasks.values()) / 1e3:.1f}",
            *cell("threads", "worker", "ps"), *cell("connections", "chief", "worker", "ps"),
            *cell("cpu_secs", "worker", "chief", "ps", "launch", scale=100 / secs),
            f"{(busy - own) / secs:.2f}"]


def _start_cells(output: Output, began: float) -> list[str]:
    times = output.trains_at.values()
    return [f"{min(times) - began:.1f}", f"{max(times) - began:.1f}"]


def _kill(launcher: int, options: argparse.Namespace) -> float:
    """Kills tasks at random, one a second; returns the time of the last one."""
    pids = task_usage.tasks_of(launcher)
    chosen = random.Random(options.seed).sample(sorted(pids), min(options.kills, len(pids)))
    for name in chosen:
        os.kill(pids[name], signal.SIGKILL)
        time.sleep(1.0)
    print(f"killed: {', '.join(chosen)}", file=sys.stderr)
    return time.monotonic()


def _by_file(storage: cloud_storage.CloudStorage | None, began: float, secs: float) -> list[str]:
    """Returns how many requests of each kind each file took in a second, most first."""
    found: collections.Counter[tuple[str, Any]] = collections.Counter()
    for each in storage.requests if storage else ():
        if began <= each.at < began + secs:
            name = re.sub(r"\d+|[0-9a-f]{32}", "N", each.name.partition("job")[2])
            found[each.kind, name] += 1
    return [f"  {count / secs:.2f}/s {kind} {name}"
            for (kind, name), count in found.most_common(12)]


if __name__ == "__main__":
    main()
