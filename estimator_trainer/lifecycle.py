"""How a role ends: the final evaluation and export, and what is reported."""

from __future__ import annotations

import posixpath

from absl import logging
import tensorflow as tf

from estimator_trainer import checkpoints
from estimator_trainer import presence
from estimator_trainer import result
from estimator_trainer.config import TrainerConfig
from estimator_trainer.estimator import Experiment
from estimator_trainer.exporters import EvaluationRecord
from estimator_trainer.task_config import TaskConfig


def finish(experiment: Experiment, single: tf.estimator.Estimator, record: EvaluationRecord,
           final: list[tf.estimator.Exporter]) -> None:
    """Evaluates and exports the last checkpoint, whatever of that is still undone.

    In a cluster without an evaluator nobody else does it (pains P05).

    Args:
      experiment: The one that was trained.
      single: An Estimator of the same model in this process alone, to evaluate with.
      record: What was evaluated so far.
      final: Exporters of the final export.
    """
    latest = single.latest_checkpoint()
    if latest is None:
        logging.warning("training ended without a checkpoint: nothing to evaluate or export")
        return
    chosen = final
    if record.checkpoint_path != latest:
        chosen = [*experiment.eval_spec.exporters, *final]
        metrics = single.evaluate(
            experiment.eval_spec.input_fn, steps=experiment.eval_spec.steps,
            hooks=[record.progress], checkpoint_path=latest)
    else:
        metrics = record.metrics
    for exporter in chosen:
        path = posixpath.join(single.model_dir, "export", exporter.name)
        exporter.export(single, path, latest, metrics, True)


def is_covered_by_evaluator(config: TrainerConfig, task: TaskConfig) -> bool:
    """Returns whether an evaluator takes care of the final evaluation and export; says so."""
    if task.is_local and not task.has_evaluator:
        return False
    step = checkpoints.step_of(tf.train.latest_checkpoint(config.model_dir) or "")
    if task.has_evaluator or presence.evaluator_covers(config.model_dir, step):
        logging.info("the evaluator evaluates and exports the final checkpoint")
        return True
    logging.info("no evaluator in this job: %s evaluates and exports", task.name)
    return False


def report(config: TrainerConfig, task: TaskConfig, record: EvaluationRecord,
           trained_step: int) -> result.Result:
    """Describes how this task ended; the task that evaluated writes `result.json`.

    Args:
      config: Tells where and how far to train.
      task: Whose end it is.
      record: What it evaluated and exported.
      trained_step: The last step it saw in training; 0 in a role that does not train.
    """
    step = checkpoints.step_of(tf.train.latest_checkpoint(config.model_dir) or "")
    if task.role == "worker":
        # The chief may not have saved its last steps yet.
        step = max(step, trained_step)
    # Other workers train on while an asynchronous chief saves, so a checkpoint can hold a step
    # that is later than its name says.
    step = record.metrics.get("global_step", step)
    ended = result.Result(
        role=task.name, status="done", step=step,
        reason="train_steps" if config.max_steps and step >= config.max_steps
        else "input_exhausted",
        metrics=record.metrics, exports=tuple(record.exports))
    if record.metrics:
        checkpoints.write_text(posixpath.join(config.model_dir, "result.json"),
                               result.to_json(ended))
    return ended
