"""The log of evaluations holds the last one's metrics and time, and what was exported.

Each evaluation is written to `model_dir/evaluated.json` at once, so that a process that starts
after a kill between evaluation and result.json need not evaluate again.
"""

import dataclasses
import functools
import json
import posixpath
import time
from typing import Any, Callable, Collection, Iterable, Mapping

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors, schema, task_events
from estimator_trainer.coordination import shared_files
from estimator_trainer.estimator.evaluation_sets import LoadedSet
from estimator_trainer.graph import graph_state

_FILE = "evaluated.json"


@dataclasses.dataclass(frozen=True)
class _LastEvaluation:
    """The content of `evaluated.json`."""

    checkpoint: str
    # Seconds since 1970, since another training may save a checkpoint under the same name.
    saved: int
    metrics: Mapping[str, bool | int | float]


class EvaluationLog(tf.estimator.Exporter):
    """An exporter that logs every evaluation and keeps the last one, and exports nothing.

    In the Estimator's public API, exporters alone see each evaluation in every role. So this one
    evaluates the further sets too, on the checkpoint of each evaluation.

    Attributes:
      checkpoint_path: The checkpoint evaluated last, or "".
      metrics: Metrics of that evaluation, plain Python numbers by name; those of a further set are
        SET/NAME.
      result: All that was returned for that evaluation, arrays too, by the same names; None if this
        process did not make it.
      sets: The further sets of evaluation data.
      exports: Paths of all exports of this process.
      returned: What `Estimator.evaluate` returned for it; None likewise.
      returned_exports: What the user's exporters returned after that, each one's path or None.
      final_exporters: Names of the exporters that were called for the final export.
      is_restored: Whether an earlier process made the last evaluation.
      is_cut_off: Whether that process may not have made all exports after it.
      unfinished: Paths of the exports that were not finished when this process began.
      is_made_elsewhere: Returns whether another process evaluates and exports in place of this one.
    """

    name = "evaluation_log"

    def __init__(self, on_batch: Callable[[], None] = lambda: None,
                 unfinished: Collection[str] = (),
                 is_made_elsewhere: Callable[[], bool] = lambda: False,
                 sets: Iterable[LoadedSet] = ()):
        """Makes an empty log, which calls `on_batch` after each batch that is evaluated."""
        self.progress = EvaluationProgress(on_batch)
        self.sets = [EvaluationSet(each, on_batch) for each in sets]
        self.checkpoint_path = ""
        self.metrics: dict[str, Any] = {}
        self.exports: list[str] = []
        self.result: dict[str, Any] | None = None
        self.returned: dict[str, Any] | None = None
        self.returned_exports: list[Any] | None = None
        self.final_exporters: set[str] = set()
        self.is_restored = self.is_cut_off = False
        self.unfinished = frozenset(unfinished)
        self.is_made_elsewhere = is_made_elsewhere

    @property
    def step(self) -> int:
        """The global step that was evaluated last; 0 before the first evaluation."""
        return int(self.metrics.get("global_step", 0))

    def export(self, estimator: Any, export_path: str, checkpoint_path: str,
               eval_result: dict[str, Any], is_the_final_export: bool) -> None:
        self.keep(estimator.model_dir, checkpoint_path,
                  self.with_sets(estimator, checkpoint_path, eval_result))

    def with_sets(self, estimator: Any, checkpoint_path: str,
                  eval_result: dict[str, Any]) -> dict[str, Any]:
        """Logs an evaluation, evaluates the checkpoint on the further sets too, and returns all."""
        check_names(eval_result, [each.name for each in self.sets])
        log_metrics(plain_metrics(eval_result), self.progress)
        found = eval_result
        for each in self.sets:
            found = {**found, **each.evaluate(estimator, checkpoint_path)}
        emit_evaluation(plain_metrics(found), self.progress)
        return found

    def keep(self, model_dir: str, checkpoint_path: str, result: dict[str, Any]) -> None:
        """Takes what `with_sets` returned for the last evaluation."""
        if self.is_restored:
            self.exports, self.is_restored, self.is_cut_off = [], False, False
        self.checkpoint_path = checkpoint_path
        self.metrics, self.result = plain_metrics(result), result
        self.returned, self.returned_exports = self.part(result), []
        if not self.is_made_elsewhere():
            _keep(model_dir, checkpoint_path, self.metrics)

    def restore(self, checkpoint_path: str, metrics: Mapping[str, Any], exports: Iterable[str],
                is_cut_off: bool = True) -> None:
        """Takes an evaluation of an earlier process as the last one, and the exports after it."""
        self.checkpoint_path, self.metrics, self.exports = (
            checkpoint_path, dict(metrics), list(exports))
        self.result = self.returned = self.returned_exports = None
        self.is_restored, self.is_cut_off = True, is_cut_off

    def complete(self, estimator: Any) -> None:
        """Evaluates the sets without metrics on the checkpoint that was evaluated last."""
        missing = [each for each in self.sets if len(self.part(self.metrics, each.name)) < 2]
        for each in missing:
            self.metrics |= plain_metrics(each.evaluate(estimator, self.checkpoint_path))
        if missing:
            _keep(estimator.model_dir, self.checkpoint_path, self.metrics)

    def part(self, result: dict[str, Any], set_name: str = "") -> dict[str, Any]:
        """Returns the metrics of the main evaluation, or of a set by their own names."""
        if set_name:
            return {"global_step": result["global_step"], **{
                name.removeprefix(f"{set_name}/"): value for name, value in result.items()
                if name.startswith(f"{set_name}/")}}
        return result if not self.sets else {
            name: value for name, value in result.items() if not any(
                name.startswith(f"{each.name}/") for each in self.sets)}

    @property
    def examples(self) -> int:
        """Number of examples of the last evaluation, in all sets."""
        return self.progress.examples + sum(each.progress.examples for each in self.sets)

    def forget(self, names: Collection[str]) -> None:
        """Takes the metrics of further sets out of the log."""
        self.metrics = {key: value for key, value in self.metrics.items() if not any(
            key.startswith(f"{name}/") for name in names)}


class EvaluationSet:
    """A further set of evaluation data, which is evaluated on the checkpoints of the main one.

    Attributes:
      progress: The hook that counts its examples.
    """

    def __init__(self, loaded: LoadedSet, on_batch: Callable[[], None] = lambda: None):
        self.loaded, self.name = loaded, loaded.name
        self.progress = EvaluationProgress(on_batch)

    def evaluate(self, estimator: Any, checkpoint_path: str) -> dict[str, Any]:
        """Evaluates a checkpoint, logs it, and returns the metrics, as SET/NAME."""
        loaded = self.loaded
        found = estimator.evaluate(
            loaded.input_fn, loaded.steps, [self.progress, *loaded.hooks], checkpoint_path,
            self.name)
        metrics = plain_metrics(found)
        log_metrics(metrics, self.progress, self.name)
        task_events.emit("evaluation_set", {
            "eval_name": self.name, "step": metrics.get("global_step"),
            "examples": self.progress.examples, "secs": self.progress.secs,
            "metrics": _without_step(metrics)})
        return {f"{self.name}/{name}": value for name, value in _without_step(found).items()}


class EvaluationProgress(tf.estimator.SessionRunHook):
    """A hook that counts the examples of an evaluation, and its seconds once the graph is built."""

    def __init__(self, on_batch: Callable[[], None] = lambda: None):
        self.examples = 0
        self.secs = 0.0
        self.on_batch = on_batch

    def begin(self) -> None:
        self._fetch = tf.add_n(graph_state.EXAMPLES.all())

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self.on_batch()
        self.examples = 0
        self._start = time.monotonic()

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs:
        return tf.estimator.SessionRunArgs(self._fetch)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.examples += int(run_values.results)
        self.on_batch()

    def end(self, session: tf.compat.v1.Session) -> None:
        self.secs = time.monotonic() - self._start


def kept(model_dir: str, checkpoint_path: str) -> dict[str, Any] | None:
    """Returns the metrics of a checkpoint if its evaluation was the last in model_dir, else None.

    Raises OpError if the file cannot be read.
    """
    found = shared_files.read_or_warn(
        functools.partial(schema.parsed, _LastEvaluation), posixpath.join(model_dir, _FILE),
        "The last checkpoint is evaluated again.")
    wanted = _last_evaluation(checkpoint_path, found.metrics) if found else None
    return dict(found.metrics) if found and found == wanted else None


def _keep(model_dir: str, checkpoint_path: str, metrics: dict[str, Any]) -> None:
    try:
        content = dataclasses.asdict(_last_evaluation(checkpoint_path, metrics))
        shared_files.write_text(posixpath.join(model_dir, _FILE), json.dumps(content) + "\n")
    except tf.errors.NotFoundError:
        pass  # The checkpoint was deleted meanwhile, so no process evaluates it again.
    except tf.errors.OpError as error:
        logging.warning("cannot write %s: %s", _FILE, errors.first_line(error))


def _last_evaluation(checkpoint_path: str, metrics: Mapping[str, Any]) -> _LastEvaluation:
    saved = tf.io.gfile.stat(f"{checkpoint_path}.index").mtime_nsec
    # TensorFlow 2.15 rounds to whole seconds.
    return _LastEvaluation(posixpath.basename(checkpoint_path), saved // 1_000_000_000, metrics)


def plain_metrics(eval_result: dict[str, Any]) -> dict[str, Any]:
    """Returns the metrics that are numbers, as plain Python numbers.

    The event files alone hold the others: a metric of several numbers, such as
    `recall_at_thresholds`, and bytes, such as a text summary.
    """
    arrays = {name: np.asarray(value) for name, value in sorted(eval_result.items())}
    values = {name: array.item() for name, array in arrays.items() if array.size == 1}
    return {name: value for name, value in values.items() if isinstance(value, (int, float))}


def check_metric(flag: str, name: str, names: Collection[str], example: str = "loss") -> None:
    """Raises ConfigError if a metric that a flag names is not among `names`."""
    if name not in names:
        raise errors.ConfigError(
            errors.Problem(flag, name, "which is not a number that the model computes",
                           f"one of {', '.join(names)}", errors.Setting(flag, example),
                           advice=errors.near_match(name, names)))


def array_metrics(eval_result: dict[str, Any]) -> dict[str, Any]:
    """Returns the metrics of several numbers, as nested lists of plain Python numbers."""
    arrays = {name: np.asarray(value) for name, value in sorted(eval_result.items())}
    return {name: array.tolist() for name, array in arrays.items()
            if array.ndim and array.size != 1 and array.dtype.kind in "biuf"}


def check_names(metrics: Iterable[str], sets: Collection[str]) -> None:
    """Raises ConfigError if a metric of the main evaluation has a name like those of a set."""
    for metric in metrics:
        name = metric.partition("/")[0]
        if "/" in metric and name in sets:
            raise errors.ConfigError(errors.Problem(
                "eval_set", name, f"and the model has a metric {metric!r}, as if it were one of"
                " this set", "another name for the set"))


def log_metrics(metrics: dict[str, Any], counted: EvaluationProgress, eval_name: str = "") -> None:
    """Logs one line for an evaluation, of a further set if it has a name."""
    shown = "  ".join(f"{name} {value:.4g}" for name, value in _without_step(metrics).items())
    logging.info("evaluated step %s%s  %s  (%d examples in %.1f s)", metrics.get("global_step"),
                 f" on {eval_name}" if eval_name else "", shown, counted.examples, counted.secs)
    if not counted.examples:
        logging.warning("there was no example to evaluate%s, so the metrics mean nothing: the"
                        " input_fn yields an empty dataset in mode 'eval'",
                        f" in eval_set {eval_name}" if eval_name else "")


def emit_evaluation(metrics: dict[str, Any], counted: EvaluationProgress) -> None:
    """Sends the event of an evaluation; `metrics` are those of all sets."""
    task_events.emit("evaluation", {
        "step": metrics.get("global_step"), "examples": counted.examples, "secs": counted.secs,
        "metrics": _without_step(metrics)})


def _without_step(metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metrics.items() if name != "global_step"}
