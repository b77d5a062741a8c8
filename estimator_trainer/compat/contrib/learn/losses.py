"""Losses of the heads of `tf.contrib.learn`: of a batch, and of its examples by their weights.

Each function of labels, logits and weights returns the mean of the weighted losses, which is
trained, and their weighted mean, which is reported.

Source: tensorflow/contrib/learn/python/learn/estimators/head.py of TensorFlow 1.15.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable

import tensorflow as tf


def _reduced(losses: Any, weights: Any) -> tuple[Any, Any]:
    if weights is None:
        mean = tf.reduce_mean(losses)
        return mean, mean
    from tensorflow.python.ops import weights_broadcast_ops
    weights = weights_broadcast_ops.broadcast_weights(weights, losses)
    weighted = losses * weights
    total = tf.cast(tf.reduce_sum(weights), tf.float32)
    return tf.reduce_mean(weighted), tf.divide(tf.reduce_sum(weighted), total)


def _column(tensor: Any) -> Any:
    tensor = tf.convert_to_tensor(tensor)
    return tf.expand_dims(tensor, 1) if tensor.shape.ndims == 1 else tensor


def mean_squared(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """The squared error of numbers."""
    labels, logits = _column(labels), _column(logits)
    logits.shape.assert_is_compatible_with(labels.shape)
    return _reduced(tf.math.squared_difference(logits, tf.cast(labels, tf.float32)), weights)


def poisson(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """The negative log likelihood of counts whose mean is exp(logits)."""
    labels, logits = _column(labels), _column(logits)
    logits.shape.assert_is_compatible_with(labels.shape)
    return _reduced(tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True), weights)


def two_classes(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """The cross entropy of 0 or 1."""
    labels = _column(tf.cast(labels, tf.float32))
    return _reduced(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), weights)


def many_labels(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """The cross entropy of each class, of which several may be right."""
    return _reduced(tf.nn.sigmoid_cross_entropy_with_logits(
        labels=tf.cast(labels, tf.float32), logits=logits), weights)


def one_of_many(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """The cross entropy of one class of several.

    Raises:
      ValueError: the labels are no integers.
    """
    labels = tf.convert_to_tensor(labels)
    if not labels.dtype.is_integer:
        raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
    is_column = labels.shape.ndims == 2
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.squeeze(labels, axis=[1]) if is_column else labels, logits=logits)
    return _reduced(tf.expand_dims(losses, 1) if is_column else losses, weights)


def hinge(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """The hinge loss of 0 or 1."""
    v1 = tf.compat.v1
    check = tf.debugging.Assert(tf.rank(labels) <= 2, [
        "labels shape should be either [batch_size, 1] or [batch_size]"])
    with tf.control_dependencies([check]):
        labels = tf.reshape(labels, [-1, 1])
    return _reduced(v1.losses.hinge_loss(labels, logits, reduction=v1.losses.Reduction.NONE),
                    weights)


def own(loss_fn: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """Returns a user's loss as the functions here are.

    Raises:
      ValueError: loss_fn has no arguments called labels, logits and weights.
    """
    arguments = inspect.signature(loss_fn).parameters
    for name in ("labels", "logits", "weights"):
        if name not in arguments:
            raise ValueError(f"Argument {name} not found in loss_fn.")

    def loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        found = loss_fn(labels, logits) if weights is None else loss_fn(labels, logits, weights)
        return found, found

    return loss
