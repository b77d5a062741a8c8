"""Wrappers of an optimizer that change one step: clipped variables, dropped and absent gradients.

Definition: tensorflow/contrib/opt/python/training/{variable_clipping_optimizer,
drop_stale_gradient_optimizer,multitask_optimizer_wrapper}.py of TensorFlow 1.15.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Mapping, Optional, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer.compat.contrib.opt.wrapper import Wrapper

_V1: Any = tf.compat.v1


class VariableClippingOptimizer(Wrapper):
    """Clips the norms of variables after each step.

    Args:
      opt: The optimizer.
      vars_to_clip_dims: The dimensions over which each variable's norm is taken, by variable.
      max_norm: The greatest norm.
      colocate_clip_ops_with_vars: Whether the clipping happens on the variables' devices.
    """

    def __init__(self, opt: Any, vars_to_clip_dims: Mapping[Any, Sequence[int]], max_norm: float,
                 use_locking: bool = False, colocate_clip_ops_with_vars: bool = False,
                 name: str = "VariableClipping") -> None:
        super().__init__(opt, use_locking, name)
        self._vars_to_clip_dims = {var: list(dims) for var, dims in vars_to_clip_dims.items()}
        self._max_norm, self._colocate = max_norm, colocate_clip_ops_with_vars

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        grads_and_vars = list(grads_and_vars)
        with _V1.name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            with tf.control_dependencies([update]):
                clipped = [self._clip(grad, var) for grad, var in grads_and_vars
                           if grad is not None and var in self._vars_to_clip_dims]
            return tf.group(update, *clipped, name=scope)

    def _clip(self, grad: Any, var: Any) -> Any:
        dims = self._vars_to_clip_dims[var]
        rows = grad.indices if isinstance(grad, tf.IndexedSlices) else None
        if rows is not None and 0 in dims:
            logging.warning("Clipping norm across dims %s for %s is inefficient when including "
                            "sparse dimension 0.", dims, var.op.name)
            rows = None
        with _V1.name_scope(f"clip_{var.op.name}"):
            with _V1.colocate_with(var) if self._colocate else contextlib.nullcontext():
                value = var.read_value() if rows is None else tf.gather(var, rows)
                excess = value - tf.clip_by_norm(value, self._max_norm, dims)
            if rows is None:
                return var.assign_sub(excess, use_locking=self._use_locking)
            return _V1.scatter_sub(var, rows, excess, use_locking=self._use_locking)


class DropStaleGradientOptimizer(Wrapper):
    """Drops gradients that were computed more than `staleness` global steps ago.

    The variable `stale_counter` counts the dropped ones.
    """

    def __init__(self, opt: Any, staleness: int, use_locking: bool = False,
                 name: str = "DropStaleGradient") -> None:
        super().__init__(opt, use_locking, name)
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        with _V1.colocate_with(loss):
            self._local_step = _V1.train.get_global_step() + 0
        with tf.control_dependencies([self._local_step]):
            return self._opt.compute_gradients(tf.identity(loss), *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        grads_and_vars = list(grads_and_vars)
        with _V1.colocate_with(global_step):
            stale = _V1.get_variable("stale_counter", [], trainable=False,
                                     initializer=_V1.zeros_initializer())

        def accept() -> Any:
            with tf.control_dependencies([self._opt.apply_gradients(
                    grads_and_vars, global_step=global_step, name=name)]):
                return tf.identity(0.0)

        grads = [getattr(grad, "values", grad) for grad, _ in grads_and_vars if grad is not None]
        with tf.control_dependencies(grads), _V1.colocate_with(global_step):
            age = tf.reshape(global_step - self._local_step, [])
        update = stale.assign_add(tf.cond(tf.less_equal(age, self._staleness), accept,
                                          lambda: tf.identity(1.0)))
        _V1.summary.scalar("Gradient staleness percentage",
                           stale / tf.cast(global_step + 1, tf.float32))
        return update


class MultitaskOptimizerWrapper:
    """Lets an optimizer skip variables whose gradients are all zero, with their slots.

    A step of one of several tasks then leaves the momenta of the others' variables alone.

    Raises:
      TypeError: `opt` is no optimizer.
    """

    def __init__(self, opt: Any) -> None:
        if not isinstance(opt, _V1.train.Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse",
                     "_resource_apply_sparse"):
            setattr(opt, name, _unless_zero(getattr(opt, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _is_zero(grad: Any) -> Any:
    values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
    return tf.equal(tf.math.count_nonzero(values), 0)


def _unless_zero(update: Callable[..., Any]) -> Callable[..., Any]:
    def conditional(grad: Any, *args: Any, **kwargs: Any) -> Any:
        def updated() -> Any:
            with tf.control_dependencies([update(grad, *args, **kwargs)]):
                return tf.no_op()

        return tf.cond(_is_zero(grad), tf.no_op, updated)

    return conditional


def clip_gradients_by_global_norm(gradients_variables: Sequence[tuple[Any, Any]],
                                  clip_norm: float = 20.0) -> tuple[list[tuple[Any, Any]], Any]:
    """Returns (clipped gradient, variable) pairs, and the norm of the gradients that are not zero.

    Gradients that are all zero count as absent, for `MultitaskOptimizerWrapper`.
    """
    grads, variables = zip(*gradients_variables)

    def present(grad: Any) -> Any:
        if grad is None:
            return None
        return tf.cond(_is_zero(grad), lambda: tf.zeros([], grad.dtype),
                       lambda: tf.convert_to_tensor(grad))

    norm = tf.linalg.global_norm([present(grad) for grad in grads])
    clipped, _ = tf.clip_by_global_norm(grads, clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm
