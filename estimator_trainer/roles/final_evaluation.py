"""The final evaluation and export are made once, of the checkpoint with which training ended."""

from __future__ import annotations

import posixpath
from typing import Any, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.evaluation import (evaluation_log as record_lib, exporters as exporters_lib,
                                          judgement)
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.evaluation.exporters import RecordedExporter
from estimator_trainer.record import record_file
from estimator_trainer.reports import tensorboard


def evaluate(spec: tf.estimator.EvalSpec, single: tf.estimator.Estimator,
             record: EvaluationLog, path: str, max_steps: int | None) -> None:
    """Evaluates one checkpoint and runs the exporters that follow every evaluation.

    Args:
      spec: The evaluation's input, steps and exporters; `record` is one of these.
      single: An Estimator of the model that computes in this process alone.
      record: The record of evaluations, which gets this one.
      path: The checkpoint.
      max_steps: The last step of training, whose export is the final one; None: there is none.
    """
    metrics = single.evaluate(spec.input_fn, steps=spec.steps, hooks=spec.hooks,
                              checkpoint_path=path, name=spec.name)
    is_final = bool(max_steps and metrics["global_step"] >= max_steps)
    _export(spec.exporters, single, path, metrics, is_final)


def finish(spec: tf.estimator.EvalSpec, single: tf.estimator.Estimator, record: EvaluationLog,
           final: list[tf.estimator.Exporter], max_steps: int | None) -> None:
    """Evaluates the last checkpoint and makes the final export, each if that is still undone.

    Args:
      spec: The evaluation's input, steps and exporters.
      single: An Estimator of the model that computes in this process alone.
      record: The record of what was evaluated so far.
      final: The exporters of the final export.
      max_steps: The last step of training, or None.
    """
    latest = checkpoints.latest(single.model_dir, known=record.checkpoint_path)
    if not latest:
        logging.warning("training ended without a checkpoint: nothing to evaluate or export")
        return
    if record.unfinished:
        _remove_unfinished(record, single.model_dir)
    is_final = bool(max_steps and checkpoints.step_of(latest) >= max_steps)
    if record.checkpoint_path != latest:
        # An evaluator that is gone may have evaluated it.
        _restore_kept(single.model_dir, record, latest)
    if record.checkpoint_path != latest:
        evaluate(spec, single, record, latest, max_steps)
    elif record.is_cut_off:
        cut_off = [each for each in spec.exporters if isinstance(each, RecordedExporter)]
        _export(_undone(cut_off, single, record), single, latest, record.metrics, is_final)
    undone = _undone([exporter for exporter in final
                      if exporter.name not in record.final_exporters], single, record)
    _export(undone, single, latest, record.returned or record.metrics, is_final=True)


def _undone(exporters: Sequence[tf.estimator.Exporter], single: tf.estimator.Estimator,
            record: EvaluationLog) -> list[tf.estimator.Exporter]:
    """Returns the exporters whose folder has no export that `record` tells of."""
    return [exporter for exporter in exporters if not any(
        _folder(single, exporter) == posixpath.dirname(path) for path in record.exports)]


def _remove_unfinished(record: EvaluationLog, model_dir: str) -> None:
    """Removes the exports, and completes the records, that nobody has since this process began."""
    for path in record.unfinished.intersection(exporters_lib.unfinished(model_dir)):
        if path.endswith(".new"):
            export = posixpath.dirname(posixpath.dirname(path))
            record_file.copy_into(export, model_dir, exporters_lib.exported_step(export) or 0)
            continue
        logging.info("removes %s, an export that a killed process left unfinished", path)
        tf.io.gfile.rmtree(path)


def judge(plan: Plan, parts: LoadedPlugins, single: tf.estimator.Estimator,
          record: EvaluationLog, stop: Stop) -> None:
    """Keeps what a report shows of the evaluation that was made last, in files and in events."""
    if plan.config.report:
        content = judgement.write(single, parts, record, plan.config.eval_steps, stop)
        tensorboard.write(single.model_dir, record.metrics, content)


def restore(model_dir: str, record: EvaluationLog, step: int) -> None:
    """Puts into `record` what earlier processes evaluated and exported of the final checkpoint."""
    before, latest = checkpoints.read_result(model_dir), checkpoints.latest(model_dir)
    if before and before.status == "done" and before.step == step == before.metrics.get(
            "global_step"):
        logging.info("step %d was evaluated before: see result.json", step)
        record.checkpoint_path, record.is_restored = latest, True
        record.metrics = dict(before.metrics)
        record.exports = [path for path in before.exports if tf.io.gfile.exists(path)]
    elif latest:
        _restore_kept(model_dir, record, latest)


def _restore_kept(model_dir: str, record: EvaluationLog, path: str) -> None:
    """Puts into `record` what was evaluated and exported of a checkpoint, if it was the last."""
    metrics = record_lib.kept(model_dir, path)
    if metrics is None:
        return
    logging.info("step %d was evaluated before: exports what is missing",
                 checkpoints.step_of(path))
    record.checkpoint_path, record.metrics = path, metrics
    record.is_restored = record.is_cut_off = True
    record.exports = exporters_lib.exports_of(model_dir, record.step)


def _export(exporters: Sequence[tf.estimator.Exporter], single: tf.estimator.Estimator, path: str,
            metrics: dict[str, Any], is_final: bool) -> None:
    for exporter in exporters:
        exporter.export(single, _folder(single, exporter), path, metrics,
                        is_the_final_export=is_final)


def _folder(single: tf.estimator.Estimator, exporter: tf.estimator.Exporter) -> str:
    return posixpath.join(single.model_dir, "export", exporter.name)
