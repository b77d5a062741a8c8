"""Optimizers of `tf.contrib.opt`, and the one that `tf.contrib.estimator` makes."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_Optimizer: Any = tf.compat.v1.train.Optimizer
_Adam: Any = tf.compat.v1.train.AdamOptimizer


class LazyAdamOptimizer(_Adam):
    """Adam that updates the moments of those rows alone that a sparse gradient has."""

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._apply_rows(grad, var, indices)

    def _apply_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        v1 = tf.compat.v1

        def number(value: Any) -> Any:
            return tf.cast(value, var.dtype.base_dtype)

        beta1, beta2 = number(self._beta1_t), number(self._beta2_t)
        power1, power2 = (number(power) for power in self._get_beta_accumulators())
        rate = number(self._lr_t) * tf.sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        step = rate * m_rows / (tf.sqrt(v_rows) + number(self._epsilon_t))
        return tf.group(v1.scatter_update(m, indices, m_rows),
                        v1.scatter_update(v, indices, v_rows),
                        v1.scatter_sub(var, indices, step))


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """Returns a class of `base_optimizer` that takes the weight decay as its first argument.

    Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019.
    """

    class DecoupledWeightDecay(base_optimizer):
        """The decay happens before the gradients are applied."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            self._weight_decay, self._decayed = weight_decay, None
            super().__init__(*args, **kwargs)

        def minimize(self, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
            self._decayed = decay_var_list
            return super().minimize(*args, **kwargs)

        def apply_gradients(self, grads_and_vars: Any, *args: Any, decay_var_list: Any = None,
                            **kwargs: Any) -> Any:
            grads_and_vars = list(grads_and_vars)
            chosen = decay_var_list or self._decayed or [var for _, var in grads_and_vars]
            chosen = {id(var) for var in chosen}
            decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
            decays = [var.assign_sub(tf.cast(decay, var.dtype.base_dtype) * var)
                      for grad, var in grads_and_vars if grad is not None and id(var) in chosen]
            with tf.control_dependencies(decays):
                return super().apply_gradients(grads_and_vars, *args, **kwargs)

    return DecoupledWeightDecay


AdamWOptimizer = extend_with_decoupled_weight_decay(_Adam)
MomentumWOptimizer = extend_with_decoupled_weight_decay(tf.compat.v1.train.MomentumOptimizer)


class _Clipped(_Optimizer):
    """An optimizer whose gradients are clipped by their common norm first."""

    def __init__(self, optimizer: Any, clip_norm: float) -> None:
        super().__init__(False, f"Clipped{optimizer.get_name()}")
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Any = None) -> Any:
        grads, variables = zip(*grads_and_vars)
        clipped, _ = tf.clip_by_global_norm(grads, self._clip_norm)
        return self._optimizer.apply_gradients(list(zip(clipped, variables)), global_step, name)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> Any:
        return self._optimizer.get_slot_names()

    def variables(self) -> Any:
        return self._optimizer.variables()


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Any:
    """Returns an optimizer that clips the gradients to a global norm of `clip_norm`."""
    return _Clipped(optimizer, clip_norm)
