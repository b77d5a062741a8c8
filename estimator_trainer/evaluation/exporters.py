"""Exporters export checkpoints as SavedModels, after every evaluation or at the end."""

from __future__ import annotations

import math
import posixpath
import time
from typing import Any, Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.coordination import checkpoints, shared_files
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.serving_input import ReceiverFn
from estimator_trainer.evaluation import evaluation_log as record_lib
from estimator_trainer.evaluation.evaluation_log import EvaluationLog
from estimator_trainer.patches import saving_patches
from estimator_trainer.record import record_file, recorded_run
from estimator_trainer.settings.trainer_config import TrainerConfig

# They export after any evaluation, be it the last or not.
_AFTER_EVALUATIONS = (tf.estimator.LatestExporter, tf.estimator.BestExporter)


class RecordedExporter(tf.estimator.Exporter):
    """An exporter that runs another one, and logs and records what that exported."""

    def __init__(self, exporter: tf.estimator.Exporter, record: EvaluationLog):
        self._exporter = exporter
        self._record = record

    @property
    def name(self) -> str:
        return str(self._exporter.name)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> Any:
        if self._record.is_made_elsewhere():
            # Two exports of one second would have one name, and a later one is the newer.
            return None
        began, step = int(time.time()), int(eval_result["global_step"])
        try:
            path = recorded(
                lambda: self._exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                              is_the_final_export), estimator.model_dir, step)
        except Exception:
            _remove_unfinished(export_path, began)
            raise
        if path and self._record.is_made_elsewhere() and _is_second(path, estimator.model_dir,
                                                                    step):
            logging.info("removes this export: another process has made one of step %d", step)
            tf.io.gfile.rmtree(path)
            return None
        if path:
            self._record.exports.append(tf.compat.as_str_any(path))
        if self._record.returned_exports is not None:
            self._record.returned_exports.append(path)
        if is_the_final_export:
            self._record.final_exporters.add(self.name)
        return path


class BestExporter(tf.estimator.Exporter):
    """An exporter of each checkpoint that evaluates best so far; it keeps a copy of the best one.

    The best so far is remembered in `model_dir/best.json`, so a restart exports nothing worse;
    `tf.estimator.BestExporter` forgets (tensorflow/tensorflow#47396). NaN is never best.
    """

    name = "best"

    def __init__(self, config: TrainerConfig, receiver_fn: ReceiverFn | None):
        self._metric, self._mode = config.best_metric, config.best_mode
        # This one exports, and removes old exports; what is worth exporting is decided here.
        self._exporter = tf.estimator.LatestExporter("best", receiver_fn,
                                                     exports_to_keep=config.exports_to_keep)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> Any:
        metrics = record_lib.plain_metrics(eval_result)
        best = checkpoints.read_best(estimator.model_dir)
        if not self._is_best(metrics[self._metric], best):
            return None
        checkpoints.copy_best(estimator.model_dir, checkpoint_path)
        path = self._exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                     is_the_final_export)
        # The first look has told of a damaged file.
        best = checkpoints.read_best(estimator.model_dir, lambda sentence: None)
        if not self._is_best(metrics[self._metric], best):
            # A chief that took this process for gone has found a better one meanwhile.
            tf.io.gfile.rmtree(path)
            checkpoints.remove_others_than_best(estimator.model_dir)
            return None
        checkpoints.write_best(estimator.model_dir, checkpoints.Best(
            metric=self._metric, value=metrics[self._metric], step=metrics["global_step"],
            export=tf.compat.as_str_any(path)), checkpoint_path)
        return path

    def _is_best(self, value: float, best: checkpoints.Best | None) -> bool:
        if best is None or best.metric != self._metric:
            return not math.isnan(value)
        return is_better(value, best.value, self._mode)


def recorded(export: Callable[[], Any], model_dir: str, step: int) -> Any:
    """Makes an export, puts a copy of model_dir's record into it, and logs where it is.

    Args:
      export: Makes the export and returns its path, a text or bytes; or None, if there is none.
      model_dir: The directory whose record it is.
      step: The global step that is exported.

    Returns:
      What `export` returns.
    """
    with saving_patches.renaming_again():
        path = export()
    if path:
        text = tf.compat.as_str_any(path)
        record_file.copy_into(text, model_dir, step)
        logging.info("exported step %d to %s", step, text)
    return path


def _remove_unfinished(export_path: str, since: int) -> None:
    """Removes what an export that failed has left; TensorFlow names it after the second."""
    for path in tf.io.gfile.glob(posixpath.join(shared_files.escape(export_path), "temp-*")):
        began = posixpath.basename(path.rstrip("/")).removeprefix("temp-")
        if began.isdigit() and int(began) >= since:
            tf.io.gfile.rmtree(path)


def _is_second(path: str | bytes, model_dir: str, step: int) -> bool:
    """Returns whether there are two exports of one step beside each other, of which this is one."""
    folder = posixpath.dirname(tf.compat.as_str_any(path))
    return [posixpath.dirname(each) for each in exports_of(model_dir, step)].count(folder) > 1


def unfinished(model_dir: str) -> list[str]:
    """Returns what is being exported, or was when a process was killed: folders and records."""
    folder = posixpath.join(shared_files.escape(model_dir), "export", "*")
    patterns = [posixpath.join(folder, "temp-*")]
    if not storage.is_object_store(model_dir):
        # An object has its name at once.
        patterns.append(posixpath.join(folder, "*", recorded_run.EXTRA, "*.new"))
    return [path.rstrip("/") for path in tf.io.gfile.glob(patterns)]


def exports_of(model_dir: str, step: int) -> list[str]:
    """Returns the paths of the exports of a step, by the step that is among their variables."""
    pattern = posixpath.join(shared_files.escape(model_dir), "export", "*", "[0-9]*")
    paths = (path.rstrip("/") for path in sorted(tf.io.gfile.glob(pattern)))
    return [path for path in paths if exported_step(path) == step]


def exported_step(export: str) -> int | None:
    """Returns the global step of an export; None if it cannot be read."""
    try:
        variables = posixpath.join(export, "variables", "variables")
        return int(tf.train.load_checkpoint(variables).get_tensor("global_step"))
    except (tf.errors.OpError, ValueError, RuntimeError):
        return None


def during_training(config: TrainerConfig, parts: LoadedPlugins,
                    record: EvaluationLog) -> list[tf.estimator.Exporter]:
    """Builds the exporters that run after every evaluation, the record of it first."""
    chosen = list(parts.script.exporters) if parts.script else []
    if "latest" in config.exporters:
        chosen.append(tf.estimator.LatestExporter("latest", parts.receiver_fn,
                                                  exports_to_keep=config.exports_to_keep))
    if "best" in config.exporters:
        chosen.append(BestExporter(config, parts.receiver_fn))
    return [record, *(RecordedExporter(exporter, record) for exporter in chosen)]


def at_the_end(config: TrainerConfig, parts: LoadedPlugins,
               record: EvaluationLog) -> list[tf.estimator.Exporter]:
    """Builds the exporters that run once, after the final evaluation.

    A script's own class of exporter may be one that waits for the final export. The Estimator makes
    that at `max_steps` alone, and a cluster at every end.
    """
    chosen = [each for each in parts.script.exporters
              if not isinstance(each, _AFTER_EVALUATIONS)
              ] if parts.script and not parts.script.is_alone else []
    if "final" in config.exporters:
        chosen.append(tf.estimator.FinalExporter("final", parts.receiver_fn))
    return [RecordedExporter(exporter, record) for exporter in chosen]


def is_better(value: float, best: float, mode: str) -> bool:
    """Returns whether `value` is better than `best`; NaN never is. `mode` is "min" or "max"."""
    return value < best if mode == "min" else value > best
