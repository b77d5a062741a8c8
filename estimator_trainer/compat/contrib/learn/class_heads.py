"""Heads of classes of `tf.contrib.learn`.

Source: tensorflow/contrib/learn/python/learn/estimators/head.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.learn import head_metrics, losses
from estimator_trainer.compat.contrib.learn.heads import class_alternatives, Head, SingleHead
from estimator_trainer.compat.contrib.learn.keys import MetricKey, PredictionKey, ProblemType

_metrics = tf.compat.v1.metrics


def _with_zeros(logits: Any) -> Any:
    return tf.concat([tf.zeros_like(logits), logits], 1)


class BinaryLogisticHead(SingleHead):
    """Two classes."""

    scope_name, problem_type = "binary_logistic_head", ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = _with_zeros(logits)
        return {PredictionKey.LOGITS: logits, PredictionKey.LOGISTIC: tf.sigmoid(logits),
                PredictionKey.PROBABILITIES: tf.nn.softmax(both),
                PredictionKey.CLASSES: tf.argmax(both, 1)}

    def _own_metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        logistic = predictions[PredictionKey.LOGISTIC]
        classes = predictions[PredictionKey.CLASSES]
        return {
            MetricKey.ACCURACY: _metrics.accuracy(labels, classes, weights),
            MetricKey.PREDICTION_MEAN: head_metrics.mean(logistic, weights),
            MetricKey.LABEL_MEAN: head_metrics.mean(labels, weights),
            MetricKey.ACCURACY_BASELINE: head_metrics.mean(labels, weights),
            MetricKey.AUC: head_metrics.auc(logistic, labels, weights),
            MetricKey.AUC_PR: head_metrics.auc(logistic, labels, weights, curve="PR"),
            **head_metrics.at_thresholds(logistic, labels, weights, self._thresholds)}

    def _alternatives(self, predictions: Any) -> dict[Any, Any]:
        return class_alternatives(self, predictions)


class BinarySvmHead(SingleHead):
    """Two classes, by the hinge loss."""

    scope_name, problem_type = "binary_svm_head", ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {PredictionKey.LOGITS: logits,
                PredictionKey.CLASSES: tf.argmax(_with_zeros(logits), 1)}

    def _own_metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        return {MetricKey.ACCURACY: _metrics.accuracy(
            labels, predictions[PredictionKey.CLASSES], weights)}


class MultiClassHead(SingleHead):
    """One class of several, as a number or, with label_keys, as a string."""

    scope_name, problem_type = "multi_class_head", ProblemType.CLASSIFICATION

    def __init__(self, class_ids: Any, label_keys: Any, n_classes: int, loss_fn: Any, *args: Any,
                 **kwargs: Any) -> None:
        super().__init__(n_classes, self._loss_of_ids, *args, **kwargs)
        self._loss_of, self._names = loss_fn, label_keys
        self._class_ids = _checked_ids(class_ids, n_classes)
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")

    def _labels(self, labels: Any) -> Any:
        found = super()._labels(labels)
        if not self._names:
            return {"labels": found, "ids": found}
        from tensorflow.python.ops import lookup_ops
        table = lookup_ops.index_table_from_tensor(self._names, name="label_id_lookup")
        return {"labels": found, "ids": table.lookup(found)}

    def _loss_of_ids(self, labels: Any, logits: Any, weights: Any = None) -> Any:
        return self._loss_of(labels["ids"], logits, weights)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        classes = tf.argmax(logits, 1)
        if self._names:
            classes = tf.gather(tf.constant(list(self._names)), classes)
        return {PredictionKey.LOGITS: logits, PredictionKey.PROBABILITIES: tf.nn.softmax(logits),
                PredictionKey.CLASSES: classes}

    def _own_metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        found = {MetricKey.ACCURACY: _metrics.accuracy(labels["labels"], classes, weights)}
        for number in () if self._names else self._class_ids:
            found[MetricKey.CLASS_PREDICTION_MEAN % number] = head_metrics.share_of_class(
                classes, weights, number)
            found[MetricKey.CLASS_LABEL_MEAN % number] = head_metrics.share_of_class(
                labels["ids"], weights, number)
            found.update(_means_of_class(predictions, weights, number))
        return found

    def _alternatives(self, predictions: Any) -> dict[Any, Any]:
        return class_alternatives(self, predictions, self._names)


def _means_of_class(predictions: Any, weights: Any, number: int) -> dict[str, Any]:
    return {
        MetricKey.CLASS_PROBABILITY_MEAN % number: head_metrics.mean(
            predictions[PredictionKey.PROBABILITIES], weights, number),
        MetricKey.CLASS_LOGITS_MEAN % number: head_metrics.mean(
            predictions[PredictionKey.LOGITS], weights, number)}


def _checked_ids(class_ids: Any, n_classes: int) -> tuple[int, ...]:
    for number in class_ids or ():
        if not 0 <= number < n_classes:
            raise ValueError(f"Class ID {number} not in [0, {n_classes}).")
    return tuple(class_ids or ())


class MultiLabelHead(SingleHead):
    """Several classes, each of which may be right."""

    scope_name, problem_type = "multi_label_head", ProblemType.CLASSIFICATION

    def __init__(self, class_ids: Any, n_classes: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(n_classes, *args, **kwargs)
        self._class_ids = _checked_ids(class_ids, n_classes)

    def _labels(self, labels: Any) -> Any:
        found = labels[self.label_name] if isinstance(labels, dict) else labels
        found = tf.compat.v1.convert_to_tensor_or_sparse_tensor(found)
        if isinstance(found, tf.sparse.SparseTensor):
            if self.logits_dimension < 2:
                raise ValueError("Must set num_classes >= 2 when passing labels as a SparseTensor.")
            found = tf.cast(tf.sparse.to_indicator(found, self.logits_dimension), tf.int64)
        return found

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {PredictionKey.LOGITS: logits, PredictionKey.PROBABILITIES: tf.sigmoid(logits),
                PredictionKey.CLASSES: tf.cast(logits > 0, tf.int64)}

    def _own_metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        probabilities = predictions[PredictionKey.PROBABILITIES]
        found = {
            MetricKey.ACCURACY: _metrics.accuracy(labels, classes, weights),
            MetricKey.AUC: head_metrics.auc(probabilities, labels, weights),
            MetricKey.AUC_PR: head_metrics.auc(probabilities, labels, weights, curve="PR")}
        for number in self._class_ids:
            found[MetricKey.CLASS_PREDICTION_MEAN % number] = head_metrics.mean(
                classes, weights, number)
            found[MetricKey.CLASS_LABEL_MEAN % number] = head_metrics.mean(labels, weights, number)
            found.update(_means_of_class(predictions, weights, number))
            found[MetricKey.CLASS_AUC % number] = head_metrics.auc(
                probabilities, labels, weights, number)
            found[MetricKey.CLASS_AUC_PR % number] = head_metrics.auc(
                probabilities, labels, weights, number, "PR")
        return found

    def _alternatives(self, predictions: Any) -> dict[Any, Any]:
        return class_alternatives(self, predictions)


def multi_class_head(n_classes: int, label_name: Any = None, weight_column_name: Any = None,
                     enable_centered_bias: bool = False, head_name: Any = None,
                     thresholds: Any = None, metric_class_ids: Any = None, loss_fn: Any = None,
                     label_keys: Any = None) -> Head:
    """Returns a head of one class of several.

    Args:
      n_classes: How many classes; 2 have one logit.
      label_name, weight_column_name, enable_centered_bias, head_name: As in `regression_head`.
      thresholds: Scores at which metrics of two classes are taken, (0.5,) by default.
      metric_class_ids: Classes of more that have metrics of their own.
      loss_fn: A function of labels, logits and weights.
      label_keys: The names of more classes, where labels are strings.

    Raises:
      ValueError: n_classes is less than 2, or an argument is for another number of classes.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    loss = losses.own(loss_fn) if loss_fn else None
    options = (label_name, weight_column_name, enable_centered_bias, head_name, thresholds)
    if n_classes > 2:
        return MultiClassHead(metric_class_ids, label_keys, n_classes,
                              loss or losses.one_of_many, *options)
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    return BinaryLogisticHead(1, loss or losses.two_classes, *options)


def binary_svm_head(label_name: Any = None, weight_column_name: Any = None,
                    enable_centered_bias: bool = False, head_name: Any = None,
                    thresholds: Any = None) -> Head:
    """Returns a head of two classes by the hinge loss; arguments as in `multi_class_head`."""
    return BinarySvmHead(1, losses.hinge, label_name, weight_column_name, enable_centered_bias,
                         head_name, thresholds)


def multi_label_head(n_classes: int, label_name: Any = None, weight_column_name: Any = None,
                     enable_centered_bias: bool = False, head_name: Any = None,
                     thresholds: Any = None, metric_class_ids: Any = None,
                     loss_fn: Any = None) -> Head:
    """Returns a head of several classes, each of which may be right, of labels [batch, n_classes].

    Arguments as in `multi_class_head`.

    Raises:
      ValueError: n_classes is less than 2, or an id is none of a class.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiLabelHead(metric_class_ids, n_classes,
                          losses.own(loss_fn) if loss_fn else losses.many_labels, label_name,
                          weight_column_name, enable_centered_bias, head_name, thresholds)
