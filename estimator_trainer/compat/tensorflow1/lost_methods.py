"""Methods of TensorFlow 1's classes that the classes lack, or only declare, today.

Source: `tf.Variable.initialized_value` and `tf.distribute.Strategy.experimental_run_v2` of
TensorFlow 1.15's API
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops


def _initialized_value(self: Any) -> tf.Tensor:
    """Returns the value of a variable, or its initial value where it has not been initialized."""
    with tf.init_scope():
        return tf.compat.v1.cond(tf.compat.v1.is_variable_initialized(self), self.read_value,
                                 lambda: self.initial_value)


def _run(self: Any, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
    return self.run(fn, args, kwargs)


def supply() -> None:
    """Puts the methods back."""
    # The class inherits a declaration that raises NotImplementedError.
    variable = resource_variable_ops.BaseResourceVariable
    if "initialized_value" not in vars(variable):
        setattr(variable, "initialized_value", _initialized_value)
    for strategy in (tf.distribute.Strategy, tf.compat.v1.distribute.Strategy):
        if not hasattr(strategy, "experimental_run_v2"):
            setattr(strategy, "experimental_run_v2", _run)
