"""`tf.get_variable`'s regularizer runs once, and its loss is a tensor, as in TensorFlow 1.15.

Later versions run it twice, and wrap the second loss in an object that is no `tf.Tensor`.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf


def _single_variable(newer: Callable[..., Any]) -> Callable[..., Any]:
    def get(self: Any, name: str, *args: Any, regularizer: Any = None, **options: Any) -> Any:
        is_new = name not in self._vars
        variable = newer(self, name, *args, **options)
        if regularizer and is_new:
            v1: Any = tf.compat.v1
            with v1.colocate_with(variable), v1.name_scope(f"{name}/Regularizer/"):
                with tf.init_scope():
                    loss = regularizer(variable)
                if loss is not None:
                    v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable

    return get


METHODS = {
    "tensorflow.python.ops.variable_scope._VariableStore._get_single_variable": _single_variable}
