"""Optimizers by name."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

DEFAULT_PARAMS = {
    "optimizer": "sgd",  # adadelta, adagrad, adam, ftrl, momentum, nesterov, rmsprop or sgd
    "momentum": 0.9,  # of momentum, nesterov and rmsprop
    "adam_beta1": 0.9,
    "adam_beta2": 0.999,
    "epsilon": 1e-8,  # of adam, adadelta and rmsprop
    "l1": 0.0,  # of ftrl
    "l2": 0.0,  # of ftrl
}
_train = tf.compat.v1.train
_Build = Callable[[tf.Tensor, dict[str, Any]], tf.compat.v1.train.Optimizer]
_BY_NAME: dict[str, _Build] = {
    "adadelta": lambda rate, p: _train.AdadeltaOptimizer(rate, epsilon=p["epsilon"]),
    "adagrad": lambda rate, p: _train.AdagradOptimizer(rate),
    "adam": lambda rate, p: _train.AdamOptimizer(
        rate, p["adam_beta1"], p["adam_beta2"], p["epsilon"]),
    "ftrl": lambda rate, p: _train.FtrlOptimizer(
        rate, l1_regularization_strength=p["l1"], l2_regularization_strength=p["l2"]),
    "momentum": lambda rate, p: _train.MomentumOptimizer(rate, p["momentum"]),
    "nesterov": lambda rate, p: _train.MomentumOptimizer(rate, p["momentum"], use_nesterov=True),
    "rmsprop": lambda rate, p: _train.RMSPropOptimizer(
        rate, momentum=p["momentum"], epsilon=p["epsilon"]),
    "sgd": lambda rate, p: _train.GradientDescentOptimizer(rate),
}


def optimizer(params: dict[str, Any], learning_rate: tf.Tensor) -> tf.compat.v1.train.Optimizer:
    """Returns an optimizer of TensorFlow 1, whose variables have the names of old checkpoints.

    Args:
      params: See DEFAULT_PARAMS.
      learning_rate: float32 [].

    Raises:
      ValueError: for an unknown name.
    """
    name = params["optimizer"]
    if name not in _BY_NAME:
        raise ValueError(f"optimizer is {name!r}; expected one of {', '.join(sorted(_BY_NAME))}."
                         " For example: --param optimizer=adam")
    return _BY_NAME[name](learning_rate, params)
