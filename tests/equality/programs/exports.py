"""Exporters, what they leave and return; metrics of every shape; predictions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1
_EXPORT = tf.estimator.export


def _rich(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has all kinds of export outputs, and metrics that are arrays."""
    spec = models.linear(features, labels, mode)
    if mode == "infer":
        y = spec.predictions["y"]
        return spec._replace(export_outputs={
            "serving_default": _EXPORT.PredictOutput({"y": y, "double": 2.0 * y}),
            "regress": _EXPORT.RegressionOutput(y),
            "classify": _EXPORT.ClassificationOutput(scores=tf.concat([y, -y], 1))})
    if mode == "train":
        return spec
    matrix = v1.get_variable("matrix", [2, 2], tf.int64, v1.zeros_initializer(), trainable=False,
                             collections=[v1.GraphKeys.LOCAL_VARIABLES], use_resource=True)
    classes = tf.cast(labels[:, 0] > 1.5, tf.int64)
    update = matrix.assign_add(tf.math.confusion_matrix(classes, classes, 2, dtype=tf.int64))
    return spec._replace(eval_metric_ops={
        "matrix": (matrix.read_value(), update),
        "thresholds": v1.metrics.recall_at_thresholds(classes > 0, labels[:, 0] / 3.0, [0.3, 0.7]),
        "count": v1.metrics.true_positives(classes, classes),
        "mean": v1.metrics.mean(labels)})


def _keras_metric(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has a metric object of Keras."""
    spec = models.linear(features, labels, mode)
    if mode != "eval":
        return spec
    metric = tf.keras.metrics.Mean(name="keras_mean")
    metric.update_state(labels)
    return spec._replace(eval_metric_ops={"keras_mean": metric})


def _receiver() -> Any:
    return models.serving_input_receiver_fn()


def _exporting(*exporters: Any, **arguments: Any) -> Any:
    return lambda job: {"exporters": [make() for make in exporters], **arguments}


def _latest() -> Any:
    return tf.estimator.LatestExporter("latest", _receiver, exports_to_keep=2)


def _best() -> Any:
    return tf.estimator.BestExporter("best", _receiver, exports_to_keep=1)


def _best_by_mean() -> Any:
    return tf.estimator.BestExporter(
        "best", _receiver, compare_fn=lambda best_eval_result, current_eval_result:
        current_eval_result["mean"] < best_eval_result["mean"])


def _final() -> Any:
    return tf.estimator.FinalExporter("final", _receiver)


class _Own(tf.estimator.Exporter):
    """An exporter that writes no SavedModel."""

    name = "own"

    def __init__(self, job: Any):
        self._job = job

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
               is_the_final_export: bool) -> Any:
        self._job.call("export", checkpoint_path, sorted(eval_result), bool(is_the_final_export))
        return "nothing"


def _uses(job: Any) -> None:
    """Trains, then evaluates, predicts and exports by hand."""
    job.train_and_evaluate()
    estimator = job.estimator()
    job.keep("evaluated", estimator.evaluate(models.short_line_input_fn, name="after"))
    job.keep("predicted", list(estimator.predict(
        models.short_line_input_fn, yield_single_examples=False)))
    job.keep("exported", estimator.export_saved_model(f"{job.model_dir}/mine", _receiver))
    job.keep("everything", estimator.experimental_export_all_saved_models(
        f"{job.model_dir}/all", {"infer": _receiver}))


def _some_steps(job: Any) -> dict[str, Any]:
    return {"steps": 2, "name": "some"}


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn)
_LINEAR = dict(model_fn=models.linear, **_LINE)
_ALONE = dict(shapes=("one", "mirrored"), why="plain evaluates a cluster's end by the clock")

PROGRAMS = {
    "array_metrics": Program(_rich, **_LINE, is_plugin=True, **_ALONE),
    "keras_metric": Program(_keras_metric, **_LINE, is_plugin=True),
    "latest_exporter": Program(_rich, **_LINE, run_config={"save_checkpoints_steps": 2},
                               eval_spec=_exporting(_latest), **_ALONE),
    "best_exporter": Program(**_LINEAR, run_config={"save_checkpoints_steps": 2},
                             eval_spec=_exporting(_best), **_ALONE),
    "best_by_a_metric": Program(**_LINEAR, run_config={"save_checkpoints_steps": 2},
                                eval_spec=_exporting(_best_by_mean), **_ALONE),
    "final_exporter": Program(_rich, **_LINE, eval_spec=_exporting(_final)),
    "three_exporters": Program(**_LINEAR, run_config={"save_checkpoints_steps": 2},
                               eval_spec=_exporting(_latest, _best, _final), **_ALONE),
    "final_without_goal": Program(models.linear, models.line_input_fn, max_steps=None,
                                  eval_spec=_exporting(_final, _latest), **_ALONE),
    "own_exporter": Program(**_LINEAR, **_ALONE, eval_spec=lambda job: {
        "exporters": [_Own(job)]}),
    "some_eval_steps": Program(**_LINEAR, eval_spec=_some_steps, **_ALONE),
    "uses_after_training": Program(**_LINEAR, main=_uses, **_ALONE),
    "throttled": Program(**_LINEAR, eval_spec=lambda job: {"throttle_secs": 600}, **_ALONE),
}
