"""Shares: which cores and GPUs of this machine each task of a job gets."""

from __future__ import annotations

import dataclasses
from typing import Sequence

from estimator_trainer import machine


@dataclasses.dataclass(frozen=True)
class Share:
    """What one task gets.

    Attributes:
      threads: Threads for the inside of an op, so that all tasks together have about one a core.
      gpus: CUDA_VISIBLE_DEVICES; "-1" is none.
    """

    threads: int
    gpus: str


def divide(tasks: Sequence[tuple[str, int]], gpus: Sequence[str],
           num_cores: int) -> list[Share]:
    """Divides a machine among tasks.

    A ps and the evaluator compute on CPUs: a ps adds, and an evaluator would hold a whole GPU for
    the little that it does, unless there are GPUs to spare.

    Args:
      tasks: (role, index) of each.
      gpus: The GPUs' ids.
      num_cores: Cores that this process may use.

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
    """Returns a run of GPUs of its own for each user; where there are too few, one in turn."""
    if len(gpus) < num_users:
        return [gpus[position % len(gpus)]]
    return gpus[position * len(gpus) // num_users:(position + 1) * len(gpus) // num_users]
