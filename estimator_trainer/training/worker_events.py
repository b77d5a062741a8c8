"""The TensorBoard events that a worker beside ps writes of its own steps."""

from __future__ import annotations

import posixpath

import tensorflow as tf

from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.settings.trainer_config import TrainerConfig


def hooks_of(config: TrainerConfig, task: TaskConfig) -> list[tf.estimator.SessionRunHook]:
    """Returns the hooks that write the events of this task into a folder of its own in model_dir.

    The Estimator writes summaries in the chief alone.

    Args:
      config: The settings; without `worker_events` there are no such hooks.
      task: The task; only a worker beside ps has such hooks.
    """
    if not config.worker_events or "ps" not in task.cluster or task.is_chief:
        return []
    folder = posixpath.join(config.model_dir, task.name.replace(":", "_"))
    hooks = [tf.estimator.StepCounterHook(config.log_every_steps, output_dir=folder)]
    if config.save_summary_steps:  # The RunConfig of a script may want none.
        hooks.append(tf.estimator.SummarySaverHook(
            config.save_summary_steps, output_dir=folder, scaffold=_OfGraph()))
    return hooks


class _OfGraph(tf.compat.v1.train.Scaffold):
    """Knows the summaries of the graph, which a hook must find before there is a graph."""

    @property
    def summary_op(self) -> tf.Tensor | None:
        """All summaries as the session's own Scaffold has merged them, a string scalar."""
        merged = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARY_OP)
        return merged[0] if merged else None
