"""Real jobs for the tests: one process a task, TF_CONFIG, free loopback ports, bounded in time."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
from typing import Callable, Iterator, Sequence

REPO = pathlib.Path(__file__).resolve().parent.parent
_CLEARED = ("TF_CONFIG", "CLUSTER_SPEC", "AIP_MODEL_DIR", "TF_CPP_MIN_LOG_LEVEL",
            "TF_USE_LEGACY_KERAS")


@dataclasses.dataclass
class Task:
    """One running task of a job."""

    name: str
    process: subprocess.Popen[bytes]
    log_path: pathlib.Path

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    @property
    def code(self) -> int | None:
        return self.process.poll()

    @property
    def last_line(self) -> str:
        return self.log.rstrip().rpartition("\n")[2]

    @property
    def losses(self) -> list[tuple[int, float]]:
        """The (global step, loss) pairs of its log."""
        found = re.findall(r"  step (\d+)\S*  loss (\S+)", self.log)
        return [(int(step), float(loss)) for step, loss in found]


def environment(**extra: str) -> dict[str, str]:
    """Returns this process's environment without what would steer a run, plus `extra`."""
    kept = {k: v for k, v in os.environ.items() if k not in _CLEARED}
    # A stuck process prints the stacks of all its threads on SIGABRT.
    return {**kept, "PYTHONFAULTHANDLER": "1", "CUDA_VISIBLE_DEVICES": "-1",
            "PYTHONPATH": str(REPO), **extra}


def trainer(*args: str, timeout_secs: float = 120, cwd: pathlib.Path | None = None,
            **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m estimator_trainer` alone, to its end."""
    return subprocess.run([sys.executable, "-m", "estimator_trainer", *args], text=True,
                          capture_output=True, timeout=timeout_secs, cwd=cwd,
                          env=environment(**variables), check=False)


def free_addresses(count: int) -> list[str]:
    """Returns loopback addresses whose ports were free a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]


def cluster(**counts: int) -> dict[str, list[str]]:
    """Returns a TF_CONFIG cluster, e.g. of `chief=1, worker=2`."""
    addresses = iter(free_addresses(sum(counts.values())))
    return {role: [next(addresses) for _ in range(count)] for role, count in counts.items()}


@contextlib.contextmanager
def running(folder: pathlib.Path, hosts: dict[str, list[str]], args: Sequence[str],
            evaluator: bool = False) -> Iterator[dict[str, Task]]:
    """Starts every task of a job with the same command line; kills what is left at the end.

    Args:
      folder: For the logs.
      hosts: The cluster.
      args: The flags, the same for every task.
      evaluator: Whether to add an evaluator, which is not in the cluster.

    Yields:
      The tasks by name, e.g. "worker:1".
    """
    places = [(role, i) for role, addresses in hosts.items() for i in range(len(addresses))]
    tasks: dict[str, Task] = {}
    try:
        for role, index in places + ([("evaluator", 0)] if evaluator else []):
            tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": index}})
            tasks[f"{role}:{index}"] = start(folder, f"{role}:{index}", args, tf_config)
        yield tasks
    finally:
        for task in tasks.values():
            kill(task)


def start(folder: pathlib.Path, name: str, args: Sequence[str], tf_config: str = "",
          prefix: Sequence[str] = (), **variables: str) -> Task:
    """Starts one task, after `prefix`, in a process group of its own, its output in a log file."""
    log_path = folder / f"{name.replace(':', '-')}.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "estimator_trainer", *args], stdout=log, stderr=log,
            env=environment(**{"TF_CONFIG": tf_config, **variables}), start_new_session=True)
    return Task(name, process, log_path)


def kill(task: Task) -> None:
    """Kills the task's process group and reaps it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(task.process.pid, signal.SIGKILL)
    task.process.wait()


def wait(tasks: Sequence[Task], timeout_secs: float) -> None:
    """Waits until every task has ended; fails with their logs and stacks if one does not."""
    deadline = time.monotonic() + timeout_secs
    while time.monotonic() < deadline:
        if all(task.code is not None for task in tasks):
            return
        if any(task.code not in (None, 0) for task in tasks):
            break
        time.sleep(0.1)
    stuck = [task for task in tasks if task.code is None]
    for task in stuck:
        os.kill(task.process.pid, signal.SIGABRT)
    for task in stuck:
        task.process.wait(10)
    tails = "\n\n".join(f"--- {t.name} exit {t.code}\n{t.log[-6000:]}" for t in tasks)
    names = ", ".join(task.name for task in stuck) or "none"
    raise AssertionError(f"still running: {names}\n{tails}")


def wait_for(condition: Callable[[], bool], timeout_secs: float) -> None:
    """Waits until `condition` holds; fails if it does not in time."""
    deadline = time.monotonic() + timeout_secs
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.1)


def saved_step(model_dir: pathlib.Path) -> int:
    """Returns the global step in the latest checkpoint."""
    import tensorflow as tf  # A second of import that most users of this module do without.
    return int(tf.train.load_variable(str(model_dir), "global_step"))


def evaluated_steps(model_dir: pathlib.Path) -> list[int]:
    """Returns the global steps that have an evaluation on disk, in order."""
    import tensorflow as tf
    steps = []
    for path in (model_dir / "eval").glob("events*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            if any(value.tag == "loss" for value in event.summary.value):
                steps.append(event.step)
    return sorted(steps)
