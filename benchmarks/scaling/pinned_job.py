"""Runs a job of several processes, each trainer held to one core by `taskset`; only on Linux."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import tempfile
from typing import Iterator

from tests.support import jobs

# The flags of each mode, and whether its trainers make one step together.
MODES = {
    "local": ((), False),
    "independent": ((), False),
    "all_reduce": (("--train_distribute=multi_worker_mirrored",), True),
    "async_ps": ((), False),
    "sync_ps": (("--sync_replicas={trainers}",), True),
}


@dataclasses.dataclass(frozen=True)
class Job:
    """A job to run.

    Attributes:
      mode: A key of MODES; "independent" is `trainers` jobs of one process.
      trainers: Number of processes that compute.
      batch_size: Number of examples in a batch of one trainer.
      flags: More flags of estimator_trainer; they override those of the mode.
    """

    mode: str
    trainers: int
    batch_size: int
    flags: tuple[str, ...]

    @property
    def step_examples(self) -> int:
        """The number of examples in one global step."""
        return self.batch_size * (self.trainers if MODES[self.mode][1] else 1)


@contextlib.contextmanager
def running(job: Job) -> Iterator[list[jobs.Task]]:
    """Starts a job's processes, the chief first; kills those that are left at the end.

    The model_dir of the first is `model-0` beside its log. Trainer i has core i, modulo the number
    of cores; a ps may use only the trainers' cores.
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
