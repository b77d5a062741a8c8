"""Exporters: what happens after each evaluation, and the record of it."""

from __future__ import annotations

import math
from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import task_events
from estimator_trainer.coordination import checkpoints
from estimator_trainer.estimator.serving_input import ReceiverFn
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.steps.progress import EvaluationProgress


class EvaluationRecord(tf.estimator.Exporter):
    """Remembers and logs every evaluation; exports nothing.

    An exporter is what the Estimator's public API tells about each evaluation, in every role.

    Attributes:
      name: The exporter's name.
      progress: The hook that counts the evaluation's examples.
      checkpoint_path: The checkpoint evaluated last, or "".
      metrics: Its metrics, plain Python numbers by name.
      exports: Paths of all that was exported in this process.
    """

    name = "evaluation_record"

    def __init__(self, on_batch: Callable[[], None] = lambda: None) -> None:
        """Makes an empty record; `on_batch` is called after each batch that is evaluated."""
        self.progress = EvaluationProgress(on_batch)
        self.checkpoint_path = ""
        self.metrics: dict[str, Any] = {}
        self.exports: list[str] = []

    @property
    def step(self) -> int:
        """The global step that was evaluated last; 0 before the first evaluation."""
        return int(self.metrics.get("global_step", 0))

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> None:
        self.checkpoint_path = checkpoint_path
        self.metrics = plain_metrics(eval_result)
        log_evaluation(self.metrics, self.progress)


class RecordedExporter(tf.estimator.Exporter):
    """Runs another exporter; logs and records what it exported."""

    def __init__(self, exporter: tf.estimator.Exporter, record: EvaluationRecord):
        self._exporter = exporter
        self._record = record

    @property
    def name(self) -> str:
        return self._exporter.name

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> Any:
        path = self._exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                     is_the_final_export)
        if path:
            text = tf.compat.as_str_any(path)
            logging.info("exported step %s to %s", eval_result["global_step"], text)
            self._record.exports.append(text)
        return path


class BestExporter(tf.estimator.Exporter):
    """Exports a checkpoint that evaluates better than every one before it, and keeps a copy of it.

    The best so far is remembered in `model_dir/best.json`, so a restart exports nothing worse;
    `tf.estimator.BestExporter` forgets (tensorflow/tensorflow#47396). NaN is never best.
    """

    name = "best"

    def __init__(self, config: TrainerConfig, receiver_fn: ReceiverFn):
        self._metric, self._mode = config.best_metric, config.best_mode
        # Exports and collects old exports; what is worth exporting is decided here.
        self._exporter = tf.estimator.LatestExporter("best", receiver_fn,
                                                     exports_to_keep=config.exports_to_keep)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> Any:
        metrics = plain_metrics(eval_result)
        best = checkpoints.read_best(estimator.model_dir)
        if not self._is_best(metrics[self._metric], best):
            return None
        path = self._exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                     is_the_final_export)
        checkpoints.write_best(estimator.model_dir, checkpoints.Best(
            metric=self._metric, value=metrics[self._metric], step=metrics["global_step"],
            export=tf.compat.as_str_any(path)), checkpoint_path)
        return path

    def _is_best(self, value: float, best: checkpoints.Best | None) -> bool:
        if best is None or best.metric != self._metric:
            return not math.isnan(value)
        return is_better(value, best.value, self._mode)


def during_training(config: TrainerConfig, receiver_fn: ReceiverFn,
                    record: EvaluationRecord) -> list[tf.estimator.Exporter]:
    """Builds the exporters that run after every evaluation, the record of it first."""
    chosen: list[tf.estimator.Exporter] = []
    if "latest" in config.exporters:
        chosen.append(tf.estimator.LatestExporter("latest", receiver_fn,
                                                  exports_to_keep=config.exports_to_keep))
    if "best" in config.exporters:
        chosen.append(BestExporter(config, receiver_fn))
    return [record, *(RecordedExporter(exporter, record) for exporter in chosen)]


def at_the_end(config: TrainerConfig, receiver_fn: ReceiverFn,
               record: EvaluationRecord) -> list[tf.estimator.Exporter]:
    """Builds the exporters that run once, after the final evaluation."""
    if "final" not in config.exporters:
        return []
    return [RecordedExporter(tf.estimator.FinalExporter("final", receiver_fn), record)]


def is_better(value: float, best: float, mode: str) -> bool:
    """Returns whether `value` is better than `best`; NaN never is. `mode` is "min" or "max"."""
    return value < best if mode == "min" else value > best


def plain_metrics(eval_result: dict[str, Any]) -> dict[str, Any]:
    """Returns metrics as plain Python numbers (bytes, as of text summaries, left out)."""
    values = {name: getattr(value, "item", lambda v=value: v)()
              for name, value in sorted(eval_result.items()) if not isinstance(value, bytes)}
    return {name: value for name, value in values.items() if isinstance(value, (int, float))}


def log_evaluation(metrics: dict[str, Any], progress: EvaluationProgress) -> None:
    """Logs one line for an evaluation."""
    shown = "  ".join(f"{k} {v:.4g}" for k, v in metrics.items() if k != "global_step")
    logging.info("evaluated step %s  %s  (%d examples in %.1f s)", metrics.get("global_step"),
                 shown, progress.examples, progress.secs)
    task_events.tell("evaluates")
