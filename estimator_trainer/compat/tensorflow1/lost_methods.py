"""Methods of TensorFlow 1's classes that the classes lack, or only declare, today, and an argument.

Source: `tf.Variable.initialized_value` and `tf.distribute.Strategy.experimental_run_v2` of
TensorFlow 1.15's API, and its `tensorflow/python/framework/test_util.py`
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import tensorflow as tf
from tensorflow.python.framework import test_util
from tensorflow.python.ops import resource_variable_ops


def _initialized_value(self: Any) -> tf.Tensor:
    """Returns the value of a variable, or its initial value where it has not been initialized."""
    with tf.init_scope():
        return tf.compat.v1.cond(tf.compat.v1.is_variable_initialized(self), self.read_value,
                                 lambda: self.initial_value)


def _run(self: Any, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
    return self.run(fn, args, kwargs)


def _without_reset_test(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """Takes `reset_test`, with which a test's two runs had a fresh object, as they have now."""
    @functools.wraps(decorator)
    def with_reset_test(*args: Any, reset_test: bool = True, **kwargs: Any) -> Any:
        return decorator(*args, **kwargs)

    return with_reset_test


def supply() -> None:
    """Puts the methods back."""
    # The class inherits a declaration that raises NotImplementedError.
    variable = resource_variable_ops.BaseResourceVariable
    if "initialized_value" not in vars(variable):
        setattr(variable, "initialized_value", _initialized_value)
    for strategy in (tf.distribute.Strategy, tf.compat.v1.distribute.Strategy):
        if not hasattr(strategy, "experimental_run_v2"):
            setattr(strategy, "experimental_run_v2", _run)
    name = "run_in_graph_and_eager_modes"
    setattr(test_util, name, _without_reset_test(getattr(test_util, name)))
