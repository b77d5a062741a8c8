"""The replicas that share a global batch, as far as they are known before TensorFlow is."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from estimator_trainer import machine
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.plugins.params import Params
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.settings.trainer_config import TrainerConfig

_IN_ONE_PROCESS = ("mirrored", "central_storage")


class SharedBatch(NamedTuple):
    """The params with a batch that the replicas can share.

    Attributes:
      params: The params.
      note: A sentence on a batch size that was rounded, or "".
      problem: What is wrong with the batch that the user asks for, or "".
    """

    params: Params
    note: str = ""
    problem: str = ""


def problems(config: TrainerConfig) -> list[str]:
    """Returns what is wrong with --num_replicas."""
    strategies = {config.train_distribute, config.eval_distribute}
    if config.num_replicas < 2 or strategies & set(_IN_ONE_PROCESS):
        return []
    return [f"num_replicas is {config.num_replicas} (from --num_replicas), and neither"
            f" --train_distribute nor --eval_distribute takes replicas in one process; expected"
            f" {' or '.join(_IN_ONE_PROCESS)}. For example: --train_distribute=mirrored"]


def count(config: TrainerConfig, task: TaskConfig, cuda_visible_devices: str | None) -> int:
    """Returns how many replicas take a step together.

    Every trainer of an all-reduce is taken to have as many GPUs as this machine.

    Args:
      config: The settings.
      task: The place of this process in the job.
      cuda_visible_devices: The variable of that name; None if it is not set.
    """
    if config.sync_replicas:
        return config.sync_replicas
    if config.train_distribute not in (*_IN_ONE_PROCESS, "multi_worker_mirrored"):
        return 1
    here = len(machine.visible_gpus(cuda_visible_devices)) or 1
    if config.is_collective:
        return here * max(1, task.num_trainers)
    return config.num_replicas or here


def share(config: TrainerConfig, data: Plugin, params: Params, replicas: int) -> SharedBatch:
    """Returns the params with a batch that the replicas can share.

    A batch size that the user gives has to be a multiple of the replicas; a default is rounded up.

    Args:
      config: The settings.
      data: The input_fn of training.
      params: The params of the plug-ins.
      replicas: Number of replicas.
    """
    key = data.global_batch_param
    if config.global_batch_size % replicas:
        return SharedBatch(params, problem=_problem(
            "global_batch_size", config.global_batch_size, replicas, "--global_batch_size"))
    size = params.values.get(key) if key else None
    if not isinstance(size, int):
        return SharedBatch(params)
    if size < 1:
        return SharedBatch(params, problem=_problem(key, size, 1, f"--param {key}"))
    if size % replicas == 0:
        return SharedBatch(params)
    if key in params.given:
        return SharedBatch(params, problem=_problem(key, size, replicas, f"--param {key}"))
    rounded = -(-size // replicas) * replicas
    return SharedBatch(
        dataclasses.replace(params, values={**params.values, key: rounded}),
        f"{key} is {rounded}, not {size}, so that the {replicas} replicas can share it")


def _problem(name: str, size: int, replicas: int, source: str) -> str:
    expected = f"a multiple of the {replicas} replicas" if size > 0 else "1 or more"
    example = max(1, -(-size // replicas)) * replicas
    return (f"{name} is {size} (from {source}), the examples of one global step; expected"
            f" {expected}. For example: {source}={example}")
