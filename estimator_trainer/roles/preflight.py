"""Preflight tries, before the first step of training, what would fail at its end."""

from __future__ import annotations

import posixpath
from typing import Any

import tensorflow as tf

from estimator_trainer import environment, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import shared_files
from estimator_trainer.estimator import random_state
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import evaluation_log
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from estimator_trainer.settings.trainer_config import TrainerConfig


@random_state.kept()
def check(plan: Plan, parts: LoadedPlugins, evaluation: KeptEvaluation | None) -> None:
    """Builds the evaluation's and the export's graphs once, and writes to model_dir once.

    Args:
      plan: The plan of this task.
      parts: The user's functions, adapted.
      evaluation: The evaluation, which keeps its graph where that can be used again; None for a
        script, whose functions are called when the Estimator calls them, and where nothing is
        evaluated.

    Raises:
      ConfigError: for a metric that does not exist, and a model_dir that cannot be written; and
        whatever the user's functions raise.
    """
    if evaluation:
        _check_metrics(plan.config, evaluation.metrics)
    if plan.config.exporters != ("none",):
        _check_export(parts)
    if not plan.task.is_chief:
        # The chief has written its lease.
        _check_writable(plan.config, plan.task.name)


def _check_metrics(config: TrainerConfig, names: list[str]) -> None:
    wanted = {"best_metric": config.best_metric if "best" in config.exporters else "",
              "early_stopping_metric": config.early_stopping_metric}
    for flag, name in wanted.items():
        if name:
            evaluation_log.check_metric(flag, name, names)


def _check_export(parts: LoadedPlugins) -> None:
    with tf.Graph().as_default():
        tf.compat.v1.train.create_global_step()
        assert parts.receiver_fn is not None
        receiver = parts.receiver_fn()
        _call(parts, receiver.features, None, tf.estimator.ModeKeys.PREDICT)


def _call(parts: LoadedPlugins, features: Any, labels: Any,
          mode: str) -> tf.estimator.EstimatorSpec:
    with environment.no_cluster():
        config = tf.estimator.RunConfig()
    return parts.model_fn(features, labels, mode, parts.params, config)


def _check_writable(config: TrainerConfig, task: str) -> None:
    path = posixpath.join(config.model_dir, f".{task.replace(':', '-')}.probe")
    try:
        # The file is not empty, since some file systems cannot rename an empty one.
        shared_files.write_text(path, "may be removed\n")
        tf.io.gfile.remove(path)
    except (tf.errors.OpError, OSError) as error:
        raise unwritable(config, task, error) from error


def unwritable(config: TrainerConfig, task: str, error: Exception) -> errors.ConfigError:
    """Returns the error of a task that cannot write model_dir, of what that raised."""
    return errors.ConfigError(
        f"model_dir is {config.model_dir!r} (from --model_dir), which cannot be written:"
        f" {errors.first_line(error)}. Expected a directory that {task} may write.")
