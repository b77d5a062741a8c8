"""TrainSpec and EvalSpec."""

from __future__ import annotations

import tensorflow as tf

from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.estimator.input_fn_adapter import InputFn
from estimator_trainer.evaluation.record import EvaluationRecord
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.steps import progress


def train_spec(config: TrainerConfig, task: TaskConfig, input_fn: InputFn,
               hooks: list[tf.estimator.SessionRunHook]) -> tf.estimator.TrainSpec:
    """Builds the training spec: the steps and the hooks of this role."""
    trained = [hook for hook in hooks if isinstance(hook, progress.TrainingProgress)]
    evaluates_in_process = task.is_local or task.head_evaluates
    # The Estimator calls none in an all-reduce, and warns.
    is_heard = not config.is_collective
    return tf.estimator.TrainSpec(
        input_fn=input_fn, max_steps=config.max_steps, hooks=hooks,
        saving_listeners=[progress.SavingListener(hook, evaluates_in_process)
                          for hook in trained if is_heard])


def eval_spec(config: TrainerConfig, input_fn: InputFn, record: EvaluationRecord,
              exporters: list[tf.estimator.Exporter]) -> tf.estimator.EvalSpec:
    """Builds the evaluation spec: the whole set by default, every checkpoint, no idle waiting.

    The Estimator's own defaults are 100 batches, 120 s before the first evaluation and 600 s
    between two.
    """
    return tf.estimator.EvalSpec(
        input_fn=input_fn,
        steps=config.eval_steps or None,
        hooks=[record.progress],
        exporters=exporters,
        start_delay_secs=0,
        throttle_secs=config.eval_throttle_secs)
