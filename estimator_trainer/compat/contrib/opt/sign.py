"""Optimizers by the sign of gradient and momentum, and how the sign's weight decays.

Definition: Bello et al., "Neural Optimizer Search with Reinforcement Learning", ICML 2017, and
tensorflow/contrib/opt/python/training/{addsign,powersign,sign_decay}.py of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.opt.updates import kernel, numbers, Updates

_V1: Any = tf.compat.v1
Decay = Callable[[Any], Any]


def _fraction(name: str, global_step: Any, decay_steps: int) -> Any:
    """Returns the part of the steps that are done, at most 1."""
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")
    step = tf.minimum(tf.cast(global_step, tf.int64), tf.cast(decay_steps, tf.int64))
    return tf.cast(step, tf.float32) / tf.cast(decay_steps, tf.float32)


def _half_cosine(fraction: Any) -> Any:
    return 0.5 * (1.0 + tf.cos(math.pi * fraction))


def _until(zero_after: Optional[float], fraction: Any, decayed: Any) -> Any:
    if zero_after is None:
        return decayed
    return tf.where(fraction >= zero_after, tf.zeros_like(decayed), decayed)


def get_linear_decay_fn(decay_steps: int) -> Decay:
    """Returns a function of the global step that falls from 1 to 0."""
    return lambda global_step: tf.maximum(
        0.0, 1.0 - _fraction("linear_decay", global_step, decay_steps))


def get_cosine_decay_fn(decay_steps: int, num_periods: float = 0.5,
                        zero_after: Optional[float] = None) -> Decay:
    """Returns a function of the global step: `num_periods` waves of a cosine between 0 and 1.

    Args:
      zero_after: The number of waves after which the value is 0.
    """
    def decay(global_step: Any) -> Any:
        waves = num_periods * _fraction("cosine_decay", global_step, decay_steps)
        return _until(zero_after, waves, _half_cosine(2.0 * waves))

    return decay


def get_restart_decay_fn(decay_steps: int, num_periods: int = 1,
                         zero_after: Optional[float] = None) -> Decay:
    """Returns a function of the global step: `num_periods` falls of a cosine from 1 to 0."""
    def decay(global_step: Any) -> Any:
        falls = num_periods * _fraction("cosine_decay", global_step, decay_steps)
        return _until(zero_after, falls, _half_cosine(falls % 1.0))

    return decay


class _Sign(Updates):
    """A base of both: a moving average of the gradients, a rate, and the decay of the sign."""

    def __init__(self, learning_rate: Any, beta: Any, sign_decay_fn: Optional[Decay],
                 use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._sign_decay_t = None

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        if self._sign_decay_fn is not None:
            self._sign_decay_t = tf.convert_to_tensor(self._sign_decay_fn(global_step),
                                                      name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = tf.convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = tf.convert_to_tensor(self._beta, name="beta")
        if self._sign_decay_fn is None:
            self._sign_decay_t = tf.convert_to_tensor(1.0, name="sign_decay")

    def _update(self, name: str, grad: Any, var: Any, number: Any) -> Any:
        return kernel(name, [var, self.get_slot(var, "m")],
                      *numbers(var, self._lr_t, number, self._sign_decay_t, self._beta_t), grad,
                      use_locking=self._use_locking)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        (rate, beta, decay), m = (
            numbers(var, self._lr_t, self._beta_t, self._sign_decay_t), self.get_slot(var, "m"))
        dense = tf.scatter_nd(indices[:, None], grad, tf.shape(var, out_type=indices.dtype))
        m_now = _V1.assign(m, m * beta + dense * (1 - beta), use_locking=self._use_locking)
        agreed = decay * tf.gather(tf.sign(m_now), indices) * tf.sign(grad)
        update = _V1.scatter_sub(var, indices, rate * self._factor(agreed, var) * grad,
                                 self._use_locking)
        return tf.group(update, m_now)

    def _factor(self, agreed: Any, var: Any) -> Any:
        """Returns by what a gradient is multiplied, if its sign is the momentum's times so much."""
        raise NotImplementedError


class AddSignOptimizer(_Sign):
    """The step is `learning_rate * (alpha + decay * sign(g) * sign(m)) * g`."""

    def __init__(self, learning_rate: Any = 0.1, alpha: Any = 1.0, beta: Any = 0.9,
                 sign_decay_fn: Optional[Decay] = None, use_locking: bool = False,
                 name: str = "AddSignOptimizer") -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _dense(self, grad: Any, var: Any) -> Any:
        return self._update("apply_add_sign", grad, var, self._alpha)

    def _factor(self, agreed: Any, var: Any) -> Any:
        return tf.cast(self._alpha, var.dtype.base_dtype) + agreed


class PowerSignOptimizer(_Sign):
    """The step is `learning_rate * base ** (decay * sign(g) * sign(m)) * g`."""

    def __init__(self, learning_rate: Any = 0.1, base: float = math.e, beta: Any = 0.9,
                 sign_decay_fn: Optional[Decay] = None, use_locking: bool = False,
                 name: str = "PowerSignOptimizer") -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)

    def _dense(self, grad: Any, var: Any) -> Any:
        return self._update("apply_power_sign", grad, var, self._logbase)

    def _factor(self, agreed: Any, var: Any) -> Any:
        return tf.exp(tf.cast(self._logbase, var.dtype.base_dtype) * agreed)
