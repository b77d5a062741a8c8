"""Shares: which cores and GPUs of this machine each task of a job gets."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from typing import Sequence

from estimator_trainer import gpus as gpus_lib

_LIST_GPUS_SECS = 10
_CPU_ONLY = "-1"


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
                  if task in users and gpus else _CPU_ONLY) for task in tasks]


def _gpus_of(position: int, num_users: int, gpus: Sequence[str]) -> Sequence[str]:
    """Returns a run of GPUs of its own for each user; where there are too few, one in turn."""
    if len(gpus) < num_users:
        return [gpus[position % len(gpus)]]
    return gpus[position * len(gpus) // num_users:(position + 1) * len(gpus) // num_users]


def visible_gpus(cuda_visible_devices: str | None) -> list[str]:
    """Returns the ids of the GPUs that this process may use.

    Args:
      cuda_visible_devices: The variable of that name; None if it is not set.
    """
    if cuda_visible_devices is not None:
        ids = [part.strip() for part in cuda_visible_devices.split(",")]
        # What follows an invalid id is not seen (CUDA C++ Programming Guide, J.2).
        invalid = next((i for i, part in enumerate(ids) if part in ("", _CPU_ONLY)), len(ids))
        return ids[:invalid]
    try:
        return [str(i) for i in range(len(gpus_lib.listed(_LIST_GPUS_SECS)))]
    except (OSError, subprocess.TimeoutExpired):
        return []


def num_cores() -> int:
    """Returns how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
