"""A regressor that learns its label in units of the label's deviation, and answers in the label's.

A network starts near 0, and an optimizer takes steps of a fixed size, so a price of 273,500 would
be out of reach. The loss that is logged, the metrics and the predictions are in the label's unit.
"""

from __future__ import annotations

from typing import Any, Mapping

import tensorflow as tf

from model_fns.training.errors import ParamError

DEFAULT_PARAMS: dict[str, Any] = {
    "label_scale": {},  # {"mean": 9, "deviation": 2, "log": false}: of a number that is the label;
    # {}: from the data
}
# Beyond it, the exponential of a logarithm would be infinite.
_MOST_EXPONENT = 80.0


def is_set(scale: Mapping[str, Any]) -> bool:
    """Returns whether a label is scaled by the param `label_scale`.

    Raises:
      ParamError: The param is not a mean and a deviation.
    """
    if not scale:
        return False
    mean, deviation = scale.get("mean"), scale.get("deviation", 0)
    is_good = all(isinstance(number, (int, float)) for number in (mean, deviation)) and (
        set(scale) <= {"mean", "deviation", "log"})
    if not is_good or not deviation > 0:
        raise ParamError(
            f"label_scale is {dict(scale)}; expected the label's mean and its deviation, which is"
            " above 0, and whether they are of its logarithm. For example: --param"
            ' label_scale=\'{"mean": 0, "deviation": 1, "log": false}\'')
    return (mean, deviation, bool(scale.get("log"))) != (0, 1, False)


def scaled(labels: tf.Tensor, scale: Mapping[str, Any]) -> tf.Tensor:
    """Returns the labels as the network learns them, float32 of the same shape."""
    exact = tf.cast(labels, tf.float64)
    if scale.get("log"):
        # The evaluation may have a label that the logarithm does not take.
        exact = tf.math.log(tf.maximum(exact, 1e-30))
    return tf.cast((exact - scale["mean"]) / scale["deviation"], tf.float32)


def loss(outputs: tf.Tensor, labels: tf.Tensor, scale: Mapping[str, Any]) -> tf.Tensor:
    """Returns the mean squared error of a network's outputs in the label's unit, float32 []."""
    return _error(unscaled(outputs, scale), labels)


def spec(made: tf.estimator.EstimatorSpec, labels: tf.Tensor | None,
         scale: Mapping[str, Any]) -> tf.estimator.EstimatorSpec:
    """Returns the EstimatorSpec of a canned regressor of scaled labels, in the label's unit.

    Args:
      made: The spec, whose predictions are `{"predictions": float32 [batch, numbers]}`.
      labels: Numbers [batch] or [batch, numbers], unscaled; None in mode "infer".
      scale: The param `label_scale`.
    """
    predictions = {**made.predictions,
                   "predictions": unscaled(made.predictions["predictions"], scale)}
    if labels is None:
        return made._replace(predictions=predictions, export_outputs={
            "predict": tf.estimator.export.PredictOutput(predictions)})
    predicted = predictions["predictions"]
    labels = tf.reshape(tf.cast(labels, tf.float32), tf.shape(predicted))
    error = _error(predicted, labels)
    if made.mode == tf.estimator.ModeKeys.TRAIN:
        # The head writes the loss in its own unit; without a summary, the Estimator writes this.
        summaries = tf.compat.v1.get_collection_ref(tf.compat.v1.GraphKeys.SUMMARIES)
        summaries[:] = [each for each in summaries if each.op.name.rpartition("/")[2] != "loss"]
        return made._replace(loss=error, predictions=predictions)
    return made._replace(loss=error, predictions=predictions,
                         eval_metric_ops=_metrics(labels, predicted, scale))


def _error(predicted: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    labels = tf.reshape(tf.cast(labels, tf.float32), tf.shape(predicted))
    return tf.reduce_mean(tf.square(predicted - labels))


def unscaled(outputs: tf.Tensor, scale: Mapping[str, Any]) -> tf.Tensor:
    """Returns the network's outputs in the label's unit, float32 of the same shape."""
    exact = tf.cast(outputs, tf.float64) * scale["deviation"] + scale["mean"]
    if scale.get("log"):
        exact = tf.exp(tf.minimum(exact, _MOST_EXPONENT))
    return tf.cast(exact, tf.float32)


def _metrics(labels: tf.Tensor, predicted: tf.Tensor,
             scale: Mapping[str, Any]) -> dict[str, tf.keras.metrics.Metric]:
    """Returns the metrics of a canned regressor, and R², MAE and RMSE."""
    keras = tf.keras.metrics
    metrics = {"average_loss": keras.Mean(name="average_loss"),
               "label/mean": keras.Mean(name="label_mean"),
               "prediction/mean": keras.Mean(name="prediction_mean"),
               "mae": keras.Mean(name="mae"),
               "rmse": keras.RootMeanSquaredError(name="rmse"),
               "r2": _RSquared(name="r2")}
    metrics["average_loss"].update_state(tf.square(predicted - labels))
    metrics["label/mean"].update_state(labels)
    metrics["prediction/mean"].update_state(predicted)
    metrics["mae"].update_state(tf.abs(predicted - labels))
    metrics["rmse"].update_state(labels, predicted)
    center = tf.exp(tf.cast(scale["mean"], tf.float32)) if scale.get("log") else scale["mean"]
    unit = center if scale.get("log") else scale["deviation"]
    metrics["r2"].update_state((labels - center) / unit, (predicted - center) / unit)
    return metrics


class _RSquared(tf.keras.metrics.Metric):
    """The share of the labels' variance that the predictions explain: 1 - errors / variance."""

    def __init__(self, name: str):
        super().__init__(name=name)
        self._count, self._sum, self._squares, self._errors = (
            self.add_weight(name=each, initializer="zeros")
            for each in ("count", "sum", "squares", "errors"))

    def update_state(self, labels: tf.Tensor, predicted: tf.Tensor) -> None:
        self._count.assign_add(tf.cast(tf.size(labels), tf.float32))
        self._sum.assign_add(tf.reduce_sum(labels))
        self._squares.assign_add(tf.reduce_sum(tf.square(labels)))
        self._errors.assign_add(tf.reduce_sum(tf.square(labels - predicted)))

    def result(self) -> tf.Tensor:
        variance = self._squares - tf.math.divide_no_nan(tf.square(self._sum), self._count)
        # Where all labels are equal, errors explain nothing.
        share = tf.math.divide_no_nan(self._errors, variance)
        return 1.0 - tf.where((variance <= 0.0) & (self._errors > 0.0), tf.ones_like(share), share)
