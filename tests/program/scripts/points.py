"""Data and model of the scripts, which import this file as their neighbour."""

import numpy as np
import tensorflow as tf


def input_fn_of(num, seed, is_training):
    """Returns an input_fn that makes `num` points in the plane, and which side of a line is up."""

    def input_fn(params):
        points = np.random.RandomState(seed).rand(num, 2).astype(np.float32)
        labels = (points.sum(axis=1, keepdims=True) > 1).astype(np.int64)
        dataset = tf.data.Dataset.from_tensor_slices(({"points": points}, labels))
        return (dataset.repeat() if is_training else dataset).batch(params["batch_size"])

    return input_fn


def model_fn(features, labels, mode, params):
    """Builds a logistic regression, as programs of TensorFlow 1 do."""
    weights = tf.compat.v1.get_variable("weights", [2, 1])
    bias = tf.compat.v1.get_variable("bias", [1])
    logits = tf.matmul(features["points"], weights) + bias
    probabilities = tf.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"probabilities": probabilities})
    loss = tf.compat.v1.losses.sigmoid_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        right = tf.compat.v1.metrics.accuracy(labels, tf.cast(probabilities > 0.5, tf.int64))
        recalls = tf.compat.v1.metrics.recall_at_thresholds(labels > 0, probabilities, [0.3, 0.7])
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={
            "accuracy": right, "recalls": recalls})
    optimizer = tf.compat.v1.train.AdamOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def serving_input_receiver_fn():
    """Receives points as they are."""
    points = tf.compat.v1.placeholder(tf.float32, [None, 2], "points")
    return tf.estimator.export.ServingInputReceiver({"points": points}, {"points": points})
