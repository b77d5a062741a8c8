"""Optimizers whose update of a reference variable and of a resource variable is written once."""

from __future__ import annotations

from typing import Any, Sequence

import tensorflow as tf
from tensorflow.python.ops import gen_training_ops, resource_variable_ops

_V1: Any = tf.compat.v1
_Optimizer: Any = tf.compat.v1.train.Optimizer


def kernel(name: str, variables: Sequence[Any], *args: Any, **options: Any) -> Any:
    """Returns the op of a kernel, such as "apply_adam".

    Args:
      name: The kernel's name for reference variables.
      variables: The variable and its slots, all references or all resources.
      *args: The numbers and the gradient, in the kernel's order.
      **options: The kernel's attributes.
    """
    if resource_variable_ops.is_resource_variable(variables[0]):
        return getattr(gen_training_ops, f"resource_{name}")(
            *(each.handle for each in variables), *args, **options)
    return getattr(gen_training_ops, name)(
        *(each._ref() for each in variables), *args, **options).op


class Updates(_Optimizer):
    """An optimizer that has `_dense` and `_rows`, for both kinds of variables.

    The mixin stands before the optimizer of which it changes the updates.
    """

    def _dense(self, grad: Any, var: Any) -> Any:
        """Returns the op that updates `var` by a Tensor of its shape."""
        raise NotImplementedError

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        """Returns the op that updates rows of `var`; each index occurs once."""
        raise NotImplementedError

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._dense(grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._dense(grad, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._rows(grad, var, indices)


def numbers(var: Any, *values: Any) -> list[Any]:
    """Returns values as Tensors of a variable's dtype."""
    return [tf.cast(each, var.dtype.base_dtype) for each in values]


def resolved(value: Any, name: str) -> Any:
    """Returns the Tensor of a hyperparameter, which may be a function without arguments."""
    return tf.convert_to_tensor(value() if callable(value) else value, name=name)


def moving(slot: Any, decay: Any, indices: Any, rows: Any, use_locking: bool) -> Any:
    """Returns `slot` after it was multiplied by `decay` and got `rows` added at `indices`."""
    scaled = _V1.assign(slot, slot * decay, use_locking=use_locking)
    with tf.control_dependencies([scaled]):
        return tf.identity(_V1.scatter_add(slot, indices, rows, use_locking))
