"""Preflight tries before the first step of training what would else fail at its end."""

from __future__ import annotations

import posixpath

import tensorflow as tf

from estimator_trainer import environment, errors
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import shared_files
from estimator_trainer.errors import Problem
from estimator_trainer.estimator import random_state
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import evaluation_log
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation


@random_state.kept()
def check(plan: Plan, plugins: LoadedPlugins, evaluation: KeptEvaluation | None) -> None:
    """Builds the evaluation's and the export's graphs once, and writes to model_dir once.

    `evaluation` is None where nothing is evaluated, and for a script, whose functions only the
    Estimator calls.

    Raises:
      ConfigError: for a metric that does not exist, and a model_dir that cannot be written; and
        whatever the user's functions raise.
    """
    if evaluation:
        names, config = evaluation.build(), plan.config
        if "best" in config.exporters and config.best_metric:
            evaluation_log.check_metric("best_metric", config.best_metric, names)
        if config.early_stopping_metric:
            evaluation_log.check_metric("early_stopping_metric", config.early_stopping_metric,
                                        names)
    if plan.config.exporters != ("none",):
        _build_export(plugins)
    if not plan.task.is_chief:
        # The chief has written its lease.
        _check_writable(plan.config.model_dir, plan.task.name)


def _build_export(plugins: LoadedPlugins) -> None:
    with environment.no_cluster():
        config = tf.estimator.RunConfig()
    with tf.Graph().as_default():
        tf.compat.v1.train.create_global_step()
        assert plugins.receiver_fn is not None
        plugins.model_fn(plugins.receiver_fn().features, None, tf.estimator.ModeKeys.PREDICT,
                         plugins.params, config)


def _check_writable(model_dir: str, task: str) -> None:
    path = posixpath.join(model_dir, f".{task.replace(':', '-')}.probe")
    try:
        # The file is not empty, since some file systems cannot rename an empty one.
        shared_files.write_text(path, "may be removed\n")
        tf.io.gfile.remove(path)
    except (tf.errors.OpError, OSError) as error:
        raise unwritable(model_dir, task, error) from error


def unwritable(model_dir: str, task: str, error: Exception) -> errors.ConfigError:
    """Returns the error of a task that cannot write model_dir, made of what the attempt raised."""
    return errors.ConfigError(
        Problem("model_dir", model_dir, f"which cannot be written: {errors.first_line(error)}",
                f"a directory that {task} may write"))
