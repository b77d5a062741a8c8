"""The advice to compute in bfloat16, where the CPU can and steps take long."""

from __future__ import annotations

from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer import machine
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training.loop_size import Pace

# Steps of 2 ms became slower where they were tried, those of 3 ms and of 90 ms faster
# (docs/scaling.md).
_LONG_STEP_SECS = 0.005
_RUNS_SECS = 2.0


class Bfloat16Advice(tf.estimator.SessionRunHook):
    """Logs one line once the pace is known, if the line is due."""

    def __init__(self, pace: Pace, instructions: str):
        """Makes the hook.

        Args:
          pace: The pace of training.
          instructions: The name of the CPU's instructions for bfloat16.
        """
        self._pace, self._instructions = pace, instructions
        self._is_done = False

    def after_run(self, run_context: Any, run_values: Any) -> None:
        _, secs = self._pace.waiting
        if self._is_done or secs < _RUNS_SECS:
            return
        self._is_done = True
        step_secs = self._pace.least_step_secs
        if step_secs >= _LONG_STEP_SECS and not self._pace.is_input_limit:
            logging.info(
                "a step takes %.0f ms, and this CPU multiplies in bfloat16 (%s):"
                " --mixed_precision=bfloat16 is worth a try", 1000 * step_secs, self._instructions)


def for_training(config: TrainerConfig, pace: Pace, task: TaskConfig) -> Bfloat16Advice | None:
    """Builds the hook; None where it would have nothing to say.

    A step with a ps is timed as a whole, and nobody knows how much of it is computing.
    """
    instructions = machine.bfloat16_instructions()
    if (not task.is_chief or "ps" in task.cluster or not instructions or
            config.mixed_precision != "none" or tf.config.list_physical_devices("GPU")):
        return None
    return Bfloat16Advice(pace, instructions)
