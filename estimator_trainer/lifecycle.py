"""How a role ends: the final evaluation and export, and what is reported."""

from __future__ import annotations

import posixpath
from typing import Any, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import checkpoints
from estimator_trainer import errors
from estimator_trainer import result
from estimator_trainer.config import TrainerConfig
from estimator_trainer.ending import Ending
from estimator_trainer.estimator import Experiment
from estimator_trainer.exporters import EvaluationRecord
from estimator_trainer.task_config import TaskConfig


def evaluate(experiment: Experiment, single: tf.estimator.Estimator, record: EvaluationRecord,
             path: str) -> None:
    """Evaluates one checkpoint and runs the exporters that follow every evaluation.

    Args:
      experiment: Its eval_spec is used.
      single: An Estimator of the model that computes in this process alone.
      record: Is one of the exporters, and remembers the evaluation.
      path: The checkpoint.
    """
    spec = experiment.eval_spec
    metrics = single.evaluate(spec.input_fn, steps=spec.steps, hooks=[record.progress],
                              checkpoint_path=path)
    _export(spec.exporters, single, path, metrics)


def finish(experiment: Experiment, single: tf.estimator.Estimator, record: EvaluationRecord,
           final: list[tf.estimator.Exporter]) -> None:
    """Evaluates the last checkpoint, if that is still undone, and makes the final export.

    Args:
      experiment: The one that was trained.
      single: An Estimator of the model that computes in this process alone.
      record: What was evaluated so far.
      final: Exporters of the final export.
    """
    latest = single.latest_checkpoint()
    if latest is None:
        logging.warning("training ended without a checkpoint: nothing to evaluate or export")
        return
    if record.checkpoint_path != latest:
        evaluate(experiment, single, record, latest)
    _export(final, single, latest, record.metrics)


def reached(config: TrainerConfig) -> tuple[int, str]:
    """Returns the step of the last checkpoint, and why training ended there."""
    step = checkpoints.step_of(tf.train.latest_checkpoint(config.model_dir) or "")
    return step, _reason(config, step)


def follow(task: TaskConfig, ending: Ending) -> result.Result:
    """Returns the result of a task that ends because training has ended.

    Raises:
      TrainerError: if training failed.
    """
    if ending.status == "failed":
        raise errors.TrainerError(
            f"training failed in {task.name_of('chief', 0)} ({ending.reason}); its log says why")
    logging.info("training has ended at step %d: %s", ending.step, ending.reason)
    return result.Result(task.name, "done", ending.step, ending.reason)


def report(config: TrainerConfig, task: TaskConfig, record: EvaluationRecord,
           step: int) -> result.Result:
    """Describes how a task that trained or evaluated ended.

    The task that evaluated writes `result.json`.

    Args:
      config: Tells where and how far to train.
      task: Whose end it is.
      record: What it evaluated and exported.
      step: The last step it knows of; what it evaluated last goes before.
    """
    # Other workers train on while an asynchronous chief saves, so a checkpoint can hold a step
    # that is later than its name says.
    step = record.metrics.get("global_step", step)
    ended = result.Result(role=task.name, status="done", step=step, reason=_reason(config, step),
                          metrics=record.metrics, exports=tuple(record.exports))
    if record.metrics:
        checkpoints.write_text(posixpath.join(config.model_dir, "result.json"),
                               result.to_json(ended))
    return ended


def _reason(config: TrainerConfig, step: int) -> str:
    return "train_steps" if config.max_steps and step >= config.max_steps else "input_exhausted"


def _export(exporters: Sequence[tf.estimator.Exporter], single: tf.estimator.Estimator, path: str,
            metrics: dict[str, Any]) -> None:
    for exporter in exporters:
        folder = posixpath.join(single.model_dir, "export", exporter.name)
        exporter.export(single, folder, path, metrics, is_the_final_export=True)
