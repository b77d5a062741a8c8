"""Divides the cores and GPUs of this machine among the tasks of a job."""

from __future__ import annotations

import dataclasses
from typing import Sequence

from estimator_trainer import machine


@dataclasses.dataclass(frozen=True)
class Share:
    """The share of one task.

    Attributes:
      threads: Number of threads that share an op; all tasks together have about one a core.
      gpus: CUDA_VISIBLE_DEVICES of the task; "-1" is none.
    """

    threads: int
    gpus: str


def divide(tasks: Sequence[tuple[str, int]], gpus: Sequence[str],
           num_cores: int) -> list[Share]:
    """Divides a machine among tasks.

    A ps and the evaluator compute on CPUs: a ps adds, and an evaluator would hold a whole GPU for
    the little that it does, unless there are GPUs to spare.

    Args:
      tasks: (role, index) of each task.
      gpus: Ids of the GPUs.
      num_cores: Number of cores that this process may use.

    Returns:
      The share of each task, in the same order.
    """
    threads = max(1, num_cores // len(tasks))
    trainers = [task for task in tasks if task[0] in ("chief", "worker")]
    users = trainers + [task for task in tasks if task[0] == "evaluator"
                        and len(gpus) > len(trainers)]
    return [Share(threads, ",".join(_gpus_of(users.index(task), len(users), gpus))
                  if task in users and gpus else machine.NO_GPU) for task in tasks]


def _gpus_of(position: int, num_users: int, gpus: Sequence[str]) -> Sequence[str]:
    """Returns the GPUs of one user: a run of its own, or one in turn where there are too few."""
    if len(gpus) < num_users:
        return [gpus[position % len(gpus)]]
    return gpus[position * len(gpus) // num_users:(position + 1) * len(gpus) // num_users]
