"""Real jobs for the tests have one process a task, free loopback ports, and bounded time."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator, Sequence

from estimator_trainer.launcher import fork_server
from tests.support import plain_lines

REPO = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-m", "estimator_trainer")
_CLEARED = ("TF_CONFIG", "CLUSTER_SPEC", "AIP_MODEL_DIR", "AIP_CHECKPOINT_DIR",
            "AIP_TENSORBOARD_LOG_DIR", "CLOUD_ML_TRIAL_ID", "CLOUD_ML_HP_METRIC_FILE",
            "TF_CPP_MIN_LOG_LEVEL", "TF_USE_LEGACY_KERAS")
_PORT_HOLDERS: list[socket.socket] = []


@dataclasses.dataclass
class Task:
    """One running task of a job."""

    name: str
    process: subprocess.Popen[bytes] | fork_server.ForkedProcess
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
        """The (global step, loss) pairs of the task's log."""
        found = re.findall(r"  step (\d+)\S*  loss (\S+)", self.log)
        return [(int(step), float(loss)) for step, loss in found]


def environment(**extra: str) -> dict[str, str]:
    """Returns this process's environment without what would steer a run, plus `extra`."""
    kept = {k: v for k, v in os.environ.items() if k not in _CLEARED}
    # A stuck process prints the stacks of all its threads on SIGABRT. For a file in a bucket
    # TensorFlow clears a buffer of 64 MB at each open, unless it is told to take less.
    return {**kept, "PYTHONFAULTHANDLER": "1", "CUDA_VISIBLE_DEVICES": "-1",
            "PYTHONPATH": str(REPO), "GCS_READAHEAD_BUFFER_SIZE_BYTES": "262144", **extra}


def trainer(*args: str, timeout_secs: float = 120, cwd: pathlib.Path | None = None,
            **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the program alone, to its end, as a fork that has TensorFlow already."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = _forked(plain_lines.of(args), environment(**variables), cwd, out.fileno(),
                          err.fileno())
        try:
            code = process.wait(timeout_secs)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGABRT)  # Prints the stacks.
            process.wait(10)
            err.seek(0)
            raise AssertionError(f"still running: {args}\n{err.read()[-6000:]}") from None
        out.seek(0), err.seek(0)
        return subprocess.CompletedProcess(args, code, out.read(), err.read())


def program(*args: str, timeout_secs: float = 120, cwd: pathlib.Path | None = None,
            **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m estimator_trainer` alone, to its end, as a user starts it."""
    return subprocess.run([*PROGRAM, *plain_lines.of(args)], text=True, capture_output=True,
                          timeout=timeout_secs, cwd=cwd, env=environment(**variables), check=False)


def convert(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m input_fns.convert` to its end."""
    words = [sys.executable, "-m", "input_fns.convert", *args]
    return subprocess.run(words, text=True, capture_output=True, timeout=120,
                          env=environment(**variables), check=False)


@functools.cache
def _fork_server() -> fork_server.ForkServer:
    # Most jobs read the digits, through tensorflow_datasets.
    return fork_server.ForkServer(environment(PYTHONUNBUFFERED="1"), ["tests"],
                                  ["tensorflow_datasets"])


def end_fork_server() -> None:
    """Ends the process that the tasks are forks of, if there is one."""
    if _fork_server.cache_info().currsize:
        _fork_server().close()
        _fork_server.cache_clear()


def _forked(args: Sequence[str], variables: dict[str, str], cwd: pathlib.Path | None, stdout: int,
            stderr: int, name: str = "local") -> fork_server.ForkedProcess:
    request = fork_server.Request(name, tuple(args), variables, str(cwd or pathlib.Path.cwd()))
    return _fork_server().start(request, stdout, stderr)


def free_addresses(count: int) -> list[str]:
    """Returns loopback addresses whose ports nobody else gets until the test has ended.

    Each port stays bound and does not listen, as `launch` does it: a server may bind it, too.
    """
    holders = [socket.socket() for _ in range(count)]
    for holder in holders:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("", 0))
    _PORT_HOLDERS.extend(holders)
    return [f"127.0.0.1:{holder.getsockname()[1]}" for holder in holders]


def release_ports() -> None:
    """Gives back the ports of `free_addresses`."""
    while _PORT_HOLDERS:
        _PORT_HOLDERS.pop().close()


def cluster(**counts: int) -> dict[str, list[str]]:
    """Returns a TF_CONFIG cluster, e.g. of `chief=1, worker=2`."""
    addresses = iter(free_addresses(sum(counts.values())))
    return {role: [next(addresses) for _ in range(count)] for role, count in counts.items()}


@contextlib.contextmanager
def running(folder: pathlib.Path, hosts: dict[str, list[str]], args: Sequence[str],
            evaluator: bool = False, is_forked: bool = True,
            variables: Callable[[str], dict[str, str]] = lambda name: {}
            ) -> Iterator[dict[str, Task]]:
    """Starts every task of a job with the same command line; kills what is left at the end.

    Args:
      folder: The folder of the logs.
      hosts: The addresses of the cluster, by role.
      args: The flags, the same for every task.
      evaluator: Whether to add an evaluator, which is not in the cluster.
      is_forked: Whether to fork a process that has TensorFlow already; see `start`.
      variables: Returns more variables of the environment of the task of a name.

    Yields:
      The tasks by name, e.g. "worker:1".
    """
    places = [(role, i) for role, addresses in hosts.items() for i in range(len(addresses))]
    tasks: dict[str, Task] = {}
    try:
        for role, index in places + ([("evaluator", 0)] if evaluator else []):
            tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": index}})
            tasks[f"{role}:{index}"] = start(folder, f"{role}:{index}", args, tf_config,
                                             is_forked=is_forked,
                                             **variables(f"{role}:{index}"))
        yield tasks
    finally:
        for task in tasks.values():
            kill(task)


def start(folder: pathlib.Path, name: str, args: Sequence[str], tf_config: str = "",
          prefix: Sequence[str] = (), is_forked: bool = True, **variables: str) -> Task:
    """Starts one task in a process group of its own, its output in a log file.

    Args:
      folder: The folder of the log.
      name: The task's name, such as "worker:1".
      args: The flags.
      tf_config: The variable TF_CONFIG.
      prefix: Words before the command line, which is then executed.
      is_forked: Whether to fork a process that has TensorFlow already, which saves seconds.
      **variables: More variables of the environment.
    """
    log_path = folder / f"{name.replace(':', '-')}.log"
    env = environment(**{"TF_CONFIG": tf_config, **variables})
    with log_path.open("wb") as log:
        if is_forked and not prefix:
            words, output = plain_lines.of(args), log.fileno()
            return Task(name, _forked(words, env, None, output, output, name), log_path)
        process = subprocess.Popen([*prefix, *PROGRAM, *plain_lines.of(args)], stdout=log,
                                   stderr=log, env=env, start_new_session=True)
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


def wait_for(condition: Callable[[], Any], timeout_secs: float) -> None:
    """Waits until `condition` holds; fails if it does not in time."""
    deadline = time.monotonic() + timeout_secs
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.1)


def result(model_dir: pathlib.Path | str) -> dict[str, Any]:
    """Returns what `result.json` of a model_dir holds."""
    return json.loads(pathlib.Path(model_dir, "result.json").read_text())


def saved_step(model_dir: pathlib.Path) -> int:
    """Returns the global step in the latest checkpoint."""
    import tensorflow as tf  # The import takes seconds, which most users of this module save.
    return int(tf.train.load_variable(str(model_dir), "global_step"))


def evaluated_steps(model_dir: pathlib.Path) -> list[int]:
    """Returns the global steps that have an evaluation on disk, in order."""
    import tensorflow as tf
    return sorted(event.step for path in (model_dir / "eval").glob("events*")
                  for event in tf.compat.v1.train.summary_iterator(str(path))
                  if any(value.tag == "loss" for value in event.summary.value))
