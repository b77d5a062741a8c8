"""TrainSpec and EvalSpec."""

from __future__ import annotations

import tensorflow as tf

from estimator_trainer import progress
from estimator_trainer import waiting
from estimator_trainer.config import TrainerConfig
from estimator_trainer.data import InputFn
from estimator_trainer.exporters import EvaluationRecord
from estimator_trainer.progress import TrainingProgress
from estimator_trainer.task_config import TaskConfig

# An evaluator looks for the next checkpoint this often; with 0 it would never sleep.
_EVALUATOR_POLL_SECS = 1


def train_spec(config: TrainerConfig, task: TaskConfig,
               input_fn: InputFn, trained: TrainingProgress) -> tf.estimator.TrainSpec:
    """Builds the training spec: the steps, and the hooks of this role."""
    hooks: list[tf.estimator.SessionRunHook] = [trained]
    if task.role == "worker" and "ps" in task.cluster:
        hooks.append(waiting.WaitForChief(task))
    evaluates_in_process = task.is_local or task.head_evaluates
    return tf.estimator.TrainSpec(
        input_fn=input_fn, max_steps=config.max_steps, hooks=hooks,
        saving_listeners=[progress.PauseToEvaluate(trained)] if evaluates_in_process else [])


def eval_spec(config: TrainerConfig, task: TaskConfig, input_fn: InputFn,
              record: EvaluationRecord,
              exporters: list[tf.estimator.Exporter]) -> tf.estimator.EvalSpec:
    """Builds the evaluation spec: the whole set by default, every checkpoint, no idle waiting.

    The Estimator's own defaults are 100 batches, 120 s before the first evaluation and 600 s
    between two.
    """
    is_evaluator = task.role == "evaluator"
    return tf.estimator.EvalSpec(
        input_fn=input_fn,
        steps=config.eval_steps or None,
        hooks=[record.progress],
        exporters=exporters,
        start_delay_secs=0,
        throttle_secs=max(config.eval_throttle_secs, _EVALUATOR_POLL_SECS if is_evaluator else 0))
