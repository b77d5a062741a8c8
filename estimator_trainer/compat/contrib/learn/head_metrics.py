"""Metrics of the heads of `tf.contrib.learn`.

Source: tensorflow/contrib/learn/python/learn/estimators/head.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.learn.keys import MetricKey

_metrics = tf.compat.v1.metrics


def _broadcast(weights: Any, values: Any) -> Any:
    from tensorflow.python.ops import weights_broadcast_ops
    return None if weights is None else weights_broadcast_ops.broadcast_weights(
        tf.cast(weights, tf.float32), values)


def _of_class(values: Any, class_id: Optional[int]) -> Any:
    return values if values is None or class_id is None else values[:, class_id]


def mean(values: Any, weights: Any = None, class_id: Optional[int] = None) -> Any:
    """The weighted mean of numbers, or of one class' column."""
    values = tf.cast(values, tf.float32)
    weights = _broadcast(weights, values)
    return _metrics.mean(_of_class(values, class_id), _of_class(weights, class_id))


def share_of_class(values: Any, weights: Any, class_id: int) -> Any:
    """The weighted share of examples that are of a class."""
    is_it = tf.equal(tf.cast(values, tf.int32), class_id)
    return _metrics.mean(tf.cast(is_it, values.dtype), weights)


def auc(predictions: Any, labels: Any, weights: Any = None, class_id: Optional[int] = None,
        curve: str = "ROC") -> Any:
    """The area under a curve, of all classes or of one."""
    predictions = tf.cast(predictions, tf.float32)
    labels, weights = tf.cast(labels, tf.bool), _broadcast(weights, predictions)
    return _metrics.auc(_of_class(labels, class_id), _of_class(predictions, class_id),
                        _of_class(weights, class_id), curve=curve)


def at_thresholds(predictions: Any, labels: Any, weights: Any,
                  thresholds: Sequence[float]) -> dict[str, Any]:
    """Accuracy, precision and recall, each at each threshold, by name."""
    found = {}
    for each in thresholds:
        chosen = tf.cast(predictions >= each, tf.float32)
        found[MetricKey.ACCURACY_MEAN % each] = _metrics.accuracy(labels, chosen, weights)
        for key, metric in ((MetricKey.PRECISION_MEAN, _metrics.precision_at_thresholds),
                            (MetricKey.RECALL_MEAN, _metrics.recall_at_thresholds)):
            value, update = metric(labels, predictions, (each,), weights)
            found[key % each] = (tf.squeeze(value), tf.squeeze(update))
    return found
