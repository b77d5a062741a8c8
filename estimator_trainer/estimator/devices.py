"""The device that the user names is there, or the run ends before it begins."""

from __future__ import annotations

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.settings.trainer_config import TrainerConfig


def check(config: TrainerConfig, task: TaskConfig) -> None:
    """Raises ConfigError if --device names a GPU that TensorFlow does not see.

    Soft placement would let the model compute on a CPU in its place, and say nothing.
    """
    kind, _, number = config.device.partition(":")
    gpus = tf.config.list_physical_devices("GPU")
    if kind != "gpu" or int(number) < len(gpus) or task.role == "ps":
        return
    seen = ", ".join(f"gpu:{i}" for i in range(len(gpus))) or "no GPU"
    example = f"gpu:{len(gpus) - 1}" if gpus else "cpu:0"
    raise errors.ConfigError(
        f"device is {config.device!r} (from --device), and TensorFlow sees {seen} in {task.name};"
        f" expected a device that is there. For example: --device={example}")
