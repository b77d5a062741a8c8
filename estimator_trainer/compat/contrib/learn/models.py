"""Regressions of one layer of `tf.contrib.learn.models`, as tutorials of TensorFlow 0.8 had them.

Source: tensorflow/contrib/learn/python/learn/models.py and ops/losses_ops.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

_V1 = tf.compat.v1
_CLASS_WEIGHT = "class_weight:0"


def linear_regression(x: Any, y: Any, init_mean: Optional[float] = None,
                      init_stddev: float = 1.0) -> Any:
    """Returns the predictions of a linear layer, and their mean squared error.

    Args:
      x: Numbers of shape [batch, features].
      y: Numbers of shape [batch] or [batch, outputs].
      init_mean, init_stddev: Weights are drawn from this normal distribution; by default as
        `tf.get_variable` draws them.
    """
    units = 1 if y.shape.rank == 1 else y.shape[1]
    return _regression("linear_regression", x, y, units, mean_squared_error_regressor,
                       init_mean, init_stddev)


def logistic_regression(x: Any, y: Any, class_weight: Any = None,
                        init_mean: Optional[float] = None, init_stddev: float = 1.0) -> Any:
    """Returns the probabilities of classes, and their cross entropy.

    Args:
      x: Numbers of shape [batch, features].
      y: The probability of each class, of shape [batch, classes].
      class_weight: Factors of the logits; by default the tensor "class_weight:0", if there is one.
      init_mean, init_stddev: As in `linear_regression`.
    """
    def loss(x: Any, y: Any, weights: Any, bias: Any) -> Any:
        factors = class_weight
        if factors is None:
            try:
                factors = _V1.get_default_graph().get_tensor_by_name(_CLASS_WEIGHT)
            except KeyError:
                pass
        return softmax_classifier(x, y, weights, bias, factors)

    return _regression("logistic_regression", x, y, y.shape[-1], loss, init_mean, init_stddev)


def _regression(name: str, x: Any, y: Any, units: Any, loss: Callable[..., Any],
                init_mean: Optional[float], init_stddev: float) -> Any:
    with _V1.variable_scope(name):
        scope = _V1.get_variable_scope().name
        dtype = x.dtype.base_dtype
        initializer = None if init_mean is None else _V1.random_normal_initializer(
            init_mean, init_stddev, dtype=dtype)
        _V1.summary.histogram(f"{scope}.x", x)
        _V1.summary.histogram(f"{scope}.y", y)
        weights = _V1.get_variable("weights", [x.shape[1], units], dtype, initializer)
        bias = _V1.get_variable("bias", [units], dtype, initializer)
        _V1.summary.histogram(f"{scope}.weights", weights)
        _V1.summary.histogram(f"{scope}.bias", bias)
        return loss(x, y, weights, bias)


def linear_regression_zero_init(x: Any, y: Any) -> Any:
    """Is `linear_regression` whose weights are 0 at first."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression_zero_init(x: Any, y: Any) -> Any:
    """Is `logistic_regression` whose weights are 0 at first."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def mean_squared_error_regressor(tensor_in: Any, labels: Any, weights: Any, biases: Any,
                                 name: Optional[str] = None) -> Any:
    """Returns the predictions of a linear layer, and their mean squared error."""
    with _V1.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = _V1.nn.xw_plus_b(tensor_in, weights, biases)
        if labels.shape.rank == 1 and predictions.shape.rank == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, _V1.losses.mean_squared_error(labels, predictions)


def softmax_classifier(tensor_in: Any, labels: Any, weights: Any, biases: Any,
                       class_weight: Any = None, name: Optional[str] = None) -> Any:
    """Returns the probabilities of classes, and their cross entropy."""
    with _V1.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = _V1.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return tf.nn.softmax(logits), _V1.losses.softmax_cross_entropy(labels, logits)
