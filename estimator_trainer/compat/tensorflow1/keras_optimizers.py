"""Lets canned Estimators take the optimizers that `tf.compat.v2.keras` has today.

TensorFlow 1.15's Keras optimizers are called `tf.keras.optimizers.legacy` since TensorFlow 2.11,
and Estimators refuse the newer ones of the old names.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow_estimator.python.estimator.canned import optimizers

# `learning_rate` returns a schedule's value, and refuses to set one.
_RATE = "_learning_rate"


def supply() -> None:
    """Makes canned Estimators take Keras's newer optimizers, as the legacy ones of their names."""
    original = optimizers.get_optimizer_instance_v2

    def get_optimizer_instance_v2(opt: Any, learning_rate: Any = None) -> Any:
        newer = tf.keras.optimizers.experimental.Optimizer
        if isinstance(opt, type) and issubclass(opt, newer):
            return original(getattr(tf.keras.optimizers.legacy, opt.__name__), learning_rate)
        if callable(opt) and not isinstance(opt, str):
            opt = opt()
        return original(_legacy(opt) if isinstance(opt, newer) else opt, learning_rate)

    optimizers.get_optimizer_instance_v2 = get_optimizer_instance_v2


def _legacy(optimizer: Any) -> Any:
    """Returns the legacy optimizer with the same hyperparameters."""
    rate = getattr(optimizer, _RATE)
    _forget([rate, *optimizer.variables])
    if isinstance(rate, tf.Variable):
        # A variable of a graph has no value yet; the number that it begins with is a constant.
        with tf.init_scope():
            setattr(optimizer, _RATE,
                    rate.numpy() if tf.executing_eagerly() else _first_value(rate))
    return tf.keras.__internal__.optimizers.convert_to_legacy_optimizer(optimizer)


def _forget(variables: Any) -> None:
    """Keeps the newer optimizer's variables out of a graph's checkpoints."""
    found = tf.compat.v1.get_collection_ref(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    forgotten = {id(each) for each in variables}
    found[:] = [each for each in found if id(each) not in forgotten]


def _first_value(variable: Any) -> Any:
    return tf.get_static_value(variable.initial_value)
