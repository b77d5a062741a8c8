"""Target columns: the losses, predictions and metrics of a model's labels.

Source: tensorflow/contrib/layers/python/layers/target_column.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat.tensorflow1 import homes

_metrics: Any = homes.resolve("tf_slim.metrics")


class ProblemType:
    """The kinds of problems."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _TargetColumn:
    """Losses of logits [batch, n] and labels, weighted by a feature if one is named."""

    def __init__(self, loss_fn: Callable[[Any, Any], Any], num_label_columns: int, label_name: Any,
                 weight_column_name: Any, problem_type: int) -> None:
        self._loss_fn = loss_fn
        self.num_label_columns = num_label_columns
        self.label_name = label_name
        self.weight_column_name = weight_column_name
        self.problem_type = problem_type

    def get_weight_tensor(self, features: Any) -> Any:
        """Returns the weights of a batch, [batch], or None."""
        if not self.weight_column_name:
            return None
        return tf.reshape(tf.cast(features[self.weight_column_name], tf.float32), [-1])

    def _losses(self, logits: Any, target: Any, features: Any) -> Any:
        losses, weights = self._loss_fn(logits, target), self.get_weight_tensor(features)
        return losses if weights is None else tf.reshape(losses, [-1]) * weights

    def training_loss(self, logits: Any, target: Any, features: Any,
                      name: str = "training_loss") -> Any:
        """Returns the mean of the weighted losses over all examples."""
        return tf.reduce_mean(self._losses(logits, target, features), name=name)

    def loss(self, logits: Any, target: Any, features: Any) -> Any:
        """Returns the weighted mean of the losses."""
        losses, weights = self._losses(logits, target, features), self.get_weight_tensor(features)
        if weights is None:
            return tf.reduce_mean(losses, name="loss")
        return tf.divide(tf.reduce_sum(losses), tf.reduce_sum(weights), name="loss")

    def _metrics(self, predictions: Any, labels: Any, metrics: Any, features: Any) -> Any:
        weights = self.get_weight_tensor(features)
        options = {} if weights is None else {"weights": weights}
        labels = tf.cast(labels, predictions.dtype)
        return {name: metric(predictions, labels, **options)
                for name, metric in (metrics or {}).items()}


class _RegressionTargetColumn(_TargetColumn):
    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """Returns the numbers, [batch] where there is one for each example."""
        return tf.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(self, features: Any, logits: Any, labels: Any, metrics: Any = None) -> Any:
        """Returns metrics by name: the loss, and those of `metrics`."""
        found = {"loss": tf.compat.v1.metrics.mean(self.loss(logits, labels, features))}
        predictions = self.logits_to_predictions(logits)
        return {**found, **self._metrics(predictions, labels, metrics, features)}


class _MultiClassTargetColumn(_TargetColumn):
    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """Returns the classes, [batch], or with `proba` their probabilities, [batch, n]."""
        if self.num_label_columns == 1:
            logits = tf.concat([tf.zeros_like(logits), logits], 1)
        return tf.nn.softmax(logits) if proba else tf.argmax(logits, 1)

    def get_eval_ops(self, features: Any, logits: Any, labels: Any, metrics: Any = None) -> Any:
        """Returns metrics by name: the loss, the usual ones, and those of `metrics`.

        Args:
          features, logits, labels: The tensors of a batch.
          metrics: Functions by name, or by a name and what they judge, "classes" or
            "probabilities".

        Raises:
          ValueError: a name of `metrics` is another.
        """
        v1 = tf.compat.v1
        found = {"loss": v1.metrics.mean(self.loss(logits, labels, features))}
        if metrics is None:
            metrics = {("accuracy", "classes"): _metrics.streaming_accuracy}
        if self.num_label_columns == 1:
            usual = get_default_binary_metrics_for_eval([0.5])
            sigmoid, numbers = tf.sigmoid(logits), tf.cast(labels, tf.float32)
            found.update((name, metric(sigmoid, numbers)) for name, metric in usual.items())
        chosen: dict[str, dict[str, Any]] = {"classes": {}, "probabilities": {}}
        for key, metric in metrics.items():
            name, kind = _name_and_kind(key)
            chosen[kind][name] = metric
        for kind, functions in chosen.items():
            if functions:
                predictions = self.logits_to_predictions(logits, kind == "probabilities")
                found.update(self._metrics(predictions, labels, functions, features))
        return found


def _name_and_kind(key: Any) -> tuple[str, str]:
    name, kind = key if isinstance(key, tuple) and len(key) == 2 else (key, "classes")
    if not isinstance(name, str) or kind not in ("classes", "probabilities"):
        raise ValueError(f"metrics has the name {key!r}; expected a string, or a pair of a string "
                         "and 'classes' or 'probabilities'.")
    return name, kind


class _BinarySvmTargetColumn(_MultiClassTargetColumn):
    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        if proba:
            raise ValueError("proba is True (from a support vector machine); expected False.")
        return super().logits_to_predictions(logits)


def _as_column(target: Any) -> Any:
    return tf.expand_dims(target, 1) if target.shape.ndims == 1 else target


def _squared(logits: Any, target: Any) -> Any:
    target = _as_column(target)
    logits.shape.assert_is_compatible_with(target.shape)
    return tf.math.squared_difference(logits, tf.cast(target, tf.float32))


def _two_classes(logits: Any, target: Any) -> Any:
    return tf.nn.sigmoid_cross_entropy_with_logits(
        labels=tf.cast(_as_column(target), tf.float32), logits=logits)


def _many_classes(logits: Any, target: Any) -> Any:
    if not target.dtype.is_integer:
        raise ValueError(f"The labels' type is {target.dtype}; expected integers.")
    target = tf.squeeze(target, axis=[1]) if target.shape.ndims == 2 else target
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _hinge(logits: Any, target: Any) -> Any:
    target = tf.reshape(target, [tf.shape(target)[0], 1])
    return homes.resolve("tf_slim.losses.hinge_loss")(logits, target)


def regression_target(label_name: Any = None, weight_column_name: Any = None,
                      label_dimension: int = 1) -> Any:
    """Returns a target of `label_dimension` numbers, whose loss is the squared error."""
    return _RegressionTargetColumn(_squared, label_dimension, label_name, weight_column_name,
                                   ProblemType.LINEAR_REGRESSION)


def multi_class_target(n_classes: int, label_name: Any = None,
                       weight_column_name: Any = None) -> Any:
    """Returns a target of one class of several, whose loss is the cross entropy.

    Raises:
      ValueError: n_classes is less than 2.
    """
    if n_classes < 2:
        raise ValueError(f"n_classes is {n_classes} (from multi_class_target); expected 2 or more.")
    return _MultiClassTargetColumn(
        _two_classes if n_classes == 2 else _many_classes, 1 if n_classes == 2 else n_classes,
        label_name, weight_column_name, ProblemType.CLASSIFICATION)


def binary_svm_target(label_name: Any = None, weight_column_name: Any = None) -> Any:
    """Returns a target of two classes, whose loss is the hinge loss."""
    return _BinarySvmTargetColumn(_hinge, 1, label_name, weight_column_name,
                                  ProblemType.CLASSIFICATION)


def get_default_binary_metrics_for_eval(thresholds: Any) -> dict[str, Any]:
    """Returns metrics of probabilities and labels by name, some for each threshold."""
    def mean_of(number: int) -> Any:
        return lambda predictions, labels, weights=None: _metrics.streaming_mean(
            (predictions, labels)[number], weights=weights)

    found = {"labels/prediction_mean": mean_of(0), "labels/actual_target_mean": mean_of(1),
             "accuracy/baseline_target_mean": mean_of(1), "auc": _metrics.streaming_auc}
    for threshold in thresholds:
        found["accuracy/threshold_%f_mean" % threshold] = _accuracy_at(threshold)
        found["precision/positive_threshold_%f_mean" % threshold] = _at(
            _metrics.streaming_precision_at_thresholds, threshold)
        found["recall/positive_threshold_%f_mean" % threshold] = _at(
            _metrics.streaming_recall_at_thresholds, threshold)
    return found


def _accuracy_at(threshold: float) -> Any:
    def accuracy(predictions: Any, labels: Any, weights: Any = None) -> Any:
        chosen = tf.cast(predictions >= threshold, tf.float32)
        return _metrics.streaming_accuracy(chosen, labels, weights=weights)
    return accuracy


def _at(metric: Any, threshold: float) -> Any:
    def at_threshold(predictions: Any, labels: Any, weights: Any = None) -> Any:
        value, update = metric(predictions, labels, [threshold], weights=weights)
        return tf.squeeze(value), update
    return at_threshold
