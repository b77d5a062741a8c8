"""What the classifiers here share: loss, metrics, train op, predictions and signatures."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def num_classes(params: dict[str, Any]) -> int:
    """Returns the number of classes.

    Raises:
      ValueError: if neither the user nor the data gives it.
    """
    if params["num_classes"] < 1:
        raise ValueError(
            f"num_classes is {params['num_classes']}, and the input_fn's module has no"
            " data_params that tells it. For example: --param num_classes=10")
    return int(params["num_classes"])


def spec(logits: tf.Tensor, labels: tf.Tensor | None, mode: str,
         learning_rate: float) -> tf.estimator.EstimatorSpec:
    """Builds the EstimatorSpec of a classifier in any mode.

    Args:
      logits: float32 [batch, classes].
      labels: int64 [batch], or None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      learning_rate: Of SGD.

    Returns:
      A spec whose predictions are `classes` (int64 [batch]) and `probabilities` (float32
      [batch, classes]), and whose metric is `accuracy`.
    """
    classes = tf.argmax(logits, axis=-1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"classes": classes, "probabilities": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions,
            export_outputs={"serving_default": tf.estimator.export.PredictOutput(predictions)})
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.compat.v1.metrics.accuracy(labels, classes)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(learning_rate)
    train_op = optimizer.minimize(loss, global_step=tf.compat.v1.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
