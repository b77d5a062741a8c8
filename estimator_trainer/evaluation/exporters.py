"""Exporters: checkpoints become SavedModels, after every evaluation or at the end.

Early stopping is an exporter too, since exporters alone see each evaluation in every role.
"""

import math
import posixpath
import time
from typing import Any, Callable, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.coordination import checkpoints, shared_files
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.serving_input import ReceiverFn
from estimator_trainer.evaluation.evaluation_log import check_metric, EvaluationLog, plain_metrics
from estimator_trainer.patches import saving_patches
from estimator_trainer.record import record_file, recorded_run
from estimator_trainer.result import Status
from estimator_trainer.settings.trainer_config import TrainerConfig

# The reason of a training that stopped early.
EARLY_STOPPING = "early_stopping"
# Requests the end of training, with a status, a reason and a task.
RequestEnd = Callable[[Status, str, str], None]
# The classes that export after any evaluation, the last or not.
_AFTER_EVALUATIONS = (tf.estimator.LatestExporter, tf.estimator.BestExporter)


class RecordedExporter(tf.estimator.Exporter):
    """An exporter that runs another one, and logs and lists what that exported."""

    def __init__(self, exporter: tf.estimator.Exporter, evaluations: EvaluationLog):
        self._exporter, self._evaluations = exporter, evaluations

    @property
    def name(self) -> str:
        return str(self._exporter.name)

    @property
    def is_of_latest(self) -> bool:
        """Whether a later export counts as one of a later step."""
        return isinstance(_own(self._exporter), tf.estimator.LatestExporter)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> Any:
        log = self._evaluations
        if log.is_made_elsewhere():
            # Two exports of one second would have one name, and the later one counts as newer.
            return None
        began, step = int(time.time()), int(eval_result["global_step"])
        try:
            path = export_with_record(
                lambda: self._exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                              is_the_final_export), estimator.model_dir, step)
        except Exception:
            _remove_unfinished(export_path, began)
            raise
        if path and log.is_made_elsewhere() and _is_second(path, estimator.model_dir, step):
            logging.info("removes this export: another process has made one of step %d", step)
            tf.io.gfile.rmtree(path)
            return None
        if path:
            log.exports.append(tf.compat.as_str_any(path))
        if log.returned_exports is not None:
            log.returned_exports.append(path)
        if is_the_final_export:
            log.final_exporters.add(self.name)
        return path


class WithSets(tf.estimator.Exporter):
    """An exporter that runs another one with the metrics of all sets, or of one set alone.

    Attributes:
      exporter: The other one.
    """

    def __init__(self, exporter: tf.estimator.Exporter, evaluations: EvaluationLog,
                 set_name: str | None = None):
        """`set_name` is that of the one set, "" of the main evaluation; None: all sets."""
        self.exporter, self._evaluations, self._set_name = exporter, evaluations, set_name

    @property
    def name(self) -> str:
        return str(self.exporter.name)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> Any:
        log = self._evaluations
        # The Estimator passes the metrics of the main evaluation alone.
        found = {**(log.result or log.metrics), **eval_result}
        if self._set_name is not None:
            found = log.part(found, self._set_name)
        return self.exporter.export(estimator, export_path, checkpoint_path, found,
                                    is_the_final_export)


def _own(exporter: tf.estimator.Exporter) -> tf.estimator.Exporter:
    """Returns the user's exporter, without what chooses its metrics."""
    return exporter.exporter if isinstance(exporter, WithSets) else exporter


class BestExporter(tf.estimator.Exporter):
    """Exports each checkpoint that evaluates best so far, and keeps a copy of the best one.

    `model_dir/best.json` holds the best so far, so a restart exports nothing worse;
    `tf.estimator.BestExporter` forgets (tensorflow/tensorflow#47396). NaN is never best.
    """

    name = "best"

    def __init__(self, config: TrainerConfig, receiver_fn: ReceiverFn | None):
        self._config = config
        # Exports, and removes old exports; this class decides what is worth exporting.
        self._exporter = tf.estimator.LatestExporter("best", receiver_fn,
                                                     exports_to_keep=config.exports_to_keep)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> Any:
        metrics = plain_metrics(eval_result)
        if not is_best(metrics, checkpoints.read_best(estimator.model_dir), self._config):
            return None
        checkpoints.copy_best(estimator.model_dir, checkpoint_path)
        path = self._exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                     is_the_final_export)
        # The first read has warned of a damaged file.
        best = checkpoints.read_best(estimator.model_dir, lambda sentence: None)
        if not is_best(metrics, best, self._config):
            # A chief that took this process for gone has evaluated a better one meanwhile.
            tf.io.gfile.rmtree(path)
            checkpoints.remove_others_than_best(estimator.model_dir)
            return None
        checkpoints.write_best(
            estimator.model_dir, as_best(metrics, self._config, tf.compat.as_str_any(path)),
            checkpoint_path)
        return path


class EarlyStopping(tf.estimator.Exporter):
    """Ends training when a metric has not improved for a number of steps; exports nothing.

    The task that evaluates requests the end of the job. Checkpoints hold no trace of this, so a
    later run in the same model_dir trains on; `tf.estimator.experimental.stop_if_no_decrease_hook`
    stores its flag there, raises under most strategies, and leaves the evaluator waiting
    (early_stopping.py).
    """

    name = EARLY_STOPPING

    def __init__(self, config: TrainerConfig, request_end: RequestEnd, task: str):
        self._metric, self._mode = config.early_stopping_metric, config.early_stopping_mode
        self._patience_steps = config.early_stopping_steps
        self._request_end, self._task = request_end, task
        self._best, self._best_step = math.nan, 0

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> None:
        metrics = plain_metrics(eval_result)
        check_metric("early_stopping_metric", self._metric, metrics)
        value, step = metrics[self._metric], metrics["global_step"]
        if math.isnan(self._best) or is_better(value, self._best, self._mode):
            self._best, self._best_step = value, step
        elif step - self._best_step >= self._patience_steps:
            logging.info("early stopping at step %d: %s was best, %.4g, at step %d", step,
                         self._metric, self._best, self._best_step)
            self._request_end("done", EARLY_STOPPING, self._task)


def export_with_record(export: Callable[[], Any], model_dir: str, step: int) -> Any:
    """Makes an export, puts a copy of model_dir's record into it, and logs where it is.

    Returns the path, as `export` returns it: a str or bytes; None if nothing was exported.
    """
    with saving_patches.renaming_again():
        path = export()
    if path:
        text = tf.compat.as_str_any(path)
        record_file.copy_into(text, model_dir, step)
        logging.info("exported step %d to %s", step, text)
    return path


def _remove_unfinished(export_path: str, since: int) -> None:
    """Removes what a failed export has left; TensorFlow names the folder after the second."""
    for path in tf.io.gfile.glob(posixpath.join(shared_files.escape(export_path), "temp-*")):
        began = posixpath.basename(path.rstrip("/")).removeprefix("temp-")
        if began.isdigit() and int(began) >= since:
            tf.io.gfile.rmtree(path)


def _is_second(path: str | bytes, model_dir: str, step: int) -> bool:
    """Returns whether the folder of an export holds another one of the same step."""
    folder = posixpath.dirname(tf.compat.as_str_any(path))
    return [posixpath.dirname(each) for each in exports_of(model_dir, step)].count(folder) > 1


def unfinished(model_dir: str) -> list[str]:
    """Returns the folders and records of exports that are unfinished, or will stay so."""
    folder = posixpath.join(shared_files.escape(model_dir), "export", "*")
    patterns = [posixpath.join(folder, "temp-*")]
    if not storage.is_object_store(model_dir):
        # In a bucket an object gets its final name at once.
        patterns.append(posixpath.join(folder, "*", recorded_run.EXTRA, "*.new"))
    return [path.rstrip("/") for path in tf.io.gfile.glob(patterns)]


def exports_of(model_dir: str, step: int) -> list[str]:
    """Returns the paths of the exports whose variables hold this global step."""
    return [path for path in checkpoints.exports_in(model_dir) if exported_step(path) == step]


def newest_of(model_dir: str, step: int) -> list[str]:
    """Returns the exports of a global step after which no other was made in their folder."""
    newest = {posixpath.dirname(path): path for path in checkpoints.exports_in(model_dir)}
    return [path for path in newest.values() if exported_step(path) == step]


def exported_step(export: str) -> int | None:
    """Returns the global step of an export; None if it cannot be read."""
    return saved_step(posixpath.join(export, "variables", "variables"))


def saved_step(checkpoint: str) -> int | None:
    """Returns the global step in a checkpoint, whose name may have another; None if unreadable."""
    try:
        return int(tf.train.load_checkpoint(checkpoint).get_tensor("global_step"))
    except (tf.errors.OpError, ValueError, RuntimeError):
        return None


def during_training(config: TrainerConfig, plugins: LoadedPlugins,
                    evaluations: EvaluationLog) -> list[tf.estimator.Exporter]:
    """Builds the exporters that run after every evaluation, the log of evaluations first."""
    chosen = _of_script(plugins, evaluations)
    if "latest" in config.exporters:
        chosen.append(tf.estimator.LatestExporter("latest", plugins.receiver_fn,
                                                  exports_to_keep=config.exports_to_keep))
    if "best" in config.exporters:
        chosen.append(WithSets(BestExporter(config, plugins.receiver_fn), evaluations))
    return [evaluations, *(RecordedExporter(exporter, evaluations) for exporter in chosen)]


def at_the_end(names: Sequence[str], plugins: LoadedPlugins,
               evaluations: EvaluationLog) -> list[tf.estimator.Exporter]:
    """Builds the exporters that run once, after the final evaluation.

    A script's own class of exporter may wait for the final export, which the Estimator makes at
    `max_steps` alone, and a cluster at every end. `names` are the exporters that the user wants.
    """
    chosen = [each for each in _of_script(plugins, evaluations)
              if not isinstance(_own(each), _AFTER_EVALUATIONS)
              ] if plugins.script and not plugins.script.is_alone else []
    if "final" in names:
        chosen.append(tf.estimator.FinalExporter("final", plugins.receiver_fn))
    return [RecordedExporter(exporter, evaluations) for exporter in chosen]


def _of_script(plugins: LoadedPlugins,
               evaluations: EvaluationLog) -> list[tf.estimator.Exporter]:
    """Returns the exporters of a script's EvalSpecs; of several, each with its own metrics."""
    own = plugins.script.exporters if plugins.script else ()
    if not plugins.eval_sets:
        return list(own)
    return [*(WithSets(exporter, evaluations, "") for exporter in own),
            *(WithSets(exporter, evaluations, each.name)
              for each in plugins.eval_sets for exporter in each.exporters)]


def is_best(metrics: dict[str, Any], best: checkpoints.Best | None, config: TrainerConfig) -> bool:
    """Returns whether an evaluation is better than the best so far; None: there is none."""
    value = metrics[config.best_metric]
    if best is None or best.metric != config.best_metric:
        return not math.isnan(value)
    return is_better(value, best.value, config.best_mode)


def as_best(metrics: dict[str, Any], config: TrainerConfig, export: str = "") -> checkpoints.Best:
    """Returns an evaluation as the best so far."""
    return checkpoints.Best(metric=config.best_metric, value=metrics[config.best_metric],
                            step=metrics["global_step"], export=export, metrics=metrics)


def is_better(value: float, best: float, mode: str) -> bool:
    """Returns whether `value` is better than `best`; NaN never is. `mode` is "min" or "max"."""
    return value < best if mode == "min" else value > best
