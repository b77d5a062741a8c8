"""Kin of Adam: lazy Adam, Adam by the global step, AdaMax, Nadam.

Definition: Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015 (sections 2 and
7.1); Dozat, "Incorporating Nesterov Momentum into Adam", 2016; and tensorflow/contrib/opt of
TensorFlow 1.15, whose names of variables these optimizers have.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.opt.updates import kernel, moving, numbers, resolved, Updates

_V1: Any = tf.compat.v1
_Adam: Any = tf.compat.v1.train.AdamOptimizer


class _Moments(Updates):
    """A base of the optimizers that have Adam's two moments and hyperparameters."""

    def _numbers(self, var: Any) -> list[Any]:
        """Returns the powers of beta1 and beta2, the rate, beta1, beta2 and epsilon."""
        return numbers(var, *self._get_beta_accumulators(), self._lr_t, self._beta1_t,
                       self._beta2_t, self._epsilon_t)

    def _moments(self, var: Any) -> tuple[Any, Any]:
        return self.get_slot(var, "m"), self.get_slot(var, "v")

    def _dense(self, grad: Any, var: Any) -> Any:
        return kernel("apply_adam", [var, *self._moments(var)], *self._numbers(var), grad,
                      use_locking=self._use_locking)


class _Lazy(_Moments):
    """Updates the moments of those rows alone that a sparse gradient has."""

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        power1, power2, rate, beta1, beta2, epsilon = self._numbers(var)
        m, v = self._moments(var)
        rate = rate * tf.sqrt(1 - power2) / (1 - power1)
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        step = rate * m_rows / (tf.sqrt(v_rows) + epsilon)
        return tf.group(_V1.scatter_update(m, indices, m_rows, self._use_locking),
                        _V1.scatter_update(v, indices, v_rows, self._use_locking),
                        _V1.scatter_sub(var, indices, step, self._use_locking))


class LazyAdamOptimizer(_Lazy, _Adam):
    """Adam that leaves the moments of rows alone that a sparse gradient lacks."""


class AdamGSOptimizer(_Moments):
    """Adam whose powers of beta come from the global step, and so need no variables.

    Args:
      global_step: The number of steps before this one, an int Tensor or variable.
      learning_rate, beta1, beta2, epsilon: Numbers, Tensors, or functions that return them.
    """

    def __init__(self, global_step: Any = 0, learning_rate: Any = 0.001, beta1: Any = 0.9,
                 beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adam") -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._global_step, self._global_step_on_worker = global_step, None

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = resolved(self._lr, "learning_rate")
        self._beta1_t = resolved(self._beta1, "beta1")
        self._beta2_t = resolved(self._beta2, "beta2")
        self._epsilon_t = resolved(self._epsilon, "epsilon")
        self._global_step_on_worker = tf.cast(tf.identity(self._global_step) + 1, tf.float32)

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return (tf.pow(self._beta1_t, self._global_step_on_worker),
                tf.pow(self._beta2_t, self._global_step_on_worker))

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        power1, power2, rate, beta1, beta2, epsilon = self._numbers(var)
        m, v = self._moments(var)
        rate = rate * tf.sqrt(1 - power2) / (1 - power1)
        m_now = moving(m, beta1, indices, grad * (1 - beta1), self._use_locking)
        v_now = moving(v, beta2, indices, grad * grad * (1 - beta2), self._use_locking)
        return _V1.assign_sub(var, rate * m_now / (tf.sqrt(v_now) + epsilon),
                              self._use_locking)


class LazyAdamGSOptimizer(_Lazy, AdamGSOptimizer):
    """Lazy Adam whose powers of beta come from the global step."""


class NadamOptimizer(_Moments, _Adam):
    """Adam with Nesterov's momentum."""

    def _dense(self, grad: Any, var: Any) -> Any:
        return kernel("apply_adam", [var, *self._moments(var)], *self._numbers(var), grad,
                      use_locking=self._use_locking, use_nesterov=True)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        power1, power2, rate, beta1, beta2, epsilon = self._numbers(var)
        m, v = self._moments(var)
        rate = rate * tf.sqrt(1 - power2) / (1 - power1)
        new = grad * (1 - beta1)
        m_now = moving(m, beta1, indices, new, self._use_locking)
        v_now = moving(v, beta2, indices, grad * grad * (1 - beta2), self._use_locking)
        ahead = new + beta1 * tf.gather(m_now, indices)
        step = rate * ahead / (tf.sqrt(tf.gather(v_now, indices)) + epsilon)
        return tf.group(_V1.scatter_add(var, indices, -step, self._use_locking), m_now, v_now)


class AdaMaxOptimizer(_Moments, _Adam):
    """Adam by the infinity norm; sparse gradients update the rows that they have alone."""

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
                 epsilon: Any = 1e-8, use_locking: bool = False, name: str = "AdaMax") -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        graph = None if tf.executing_eagerly() else _V1.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda each: each.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _numbers(self, var: Any) -> list[Any]:
        return numbers(var, self._get_beta_accumulators(), self._lr_t, self._beta1_t,
                       self._beta2_t, self._epsilon_t)

    def _dense(self, grad: Any, var: Any) -> Any:
        return kernel("apply_ada_max", [var, *self._moments(var)], *self._numbers(var), grad,
                      use_locking=self._use_locking)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        power, rate, beta1, beta2, epsilon = self._numbers(var)
        m, v = self._moments(var)
        m_rows = tf.gather(m, indices) * beta1 + grad * (1 - beta1)
        v_rows = tf.maximum(tf.gather(v, indices) * beta2, tf.abs(grad))
        step = -rate / (1 - power) * (m_rows / (v_rows + epsilon))
        return tf.group(_V1.scatter_update(m, indices, m_rows, self._use_locking),
                        _V1.scatter_update(v, indices, v_rows, self._use_locking),
                        _V1.scatter_add(var, indices, step, self._use_locking))

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            with _V1.colocate_with(power):
                update = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, update, name=name_scope)
