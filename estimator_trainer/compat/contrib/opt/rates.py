"""Optimizers that choose a rate of their own: LARS by layer, RegAdagrad by stored gradients.

Definition: You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks", 2017; Duchi,
Hazan and Singer, "Adaptive Subgradient Methods", 2011; and
tensorflow/contrib/opt/python/training/{lars_optimizer,reg_adagrad_optimizer}.py of TensorFlow 1.15.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.opt.updates import kernel, numbers, resolved, Updates

_Adagrad: Any = tf.compat.v1.train.AdagradOptimizer


class LARSOptimizer(Updates):
    """Momentum whose rate is scaled for each variable by its norm over its gradient's norm.

    Args:
      skip_list: Parts of the names of variables that are neither scaled nor decayed.

    Raises:
      ValueError: The momentum or the weight decay is negative.
    """

    def __init__(self, learning_rate: Any, momentum: Any = 0.9, weight_decay: float = 0.0001,
                 eeta: float = 0.001, epsilon: float = 0.0, name: str = "LARSOptimizer",
                 skip_list: Optional[Sequence[str]] = None, use_nesterov: bool = False) -> None:
        for key, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if value < 0:
                raise ValueError(f"{key} should be positive: {value}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate, self._momentum, self._weight_decay = (
            learning_rate, momentum, weight_decay)
        self._eeta, self._epsilon, self._skip_list = eeta, epsilon, skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = resolved(self._learning_rate, "learning_rate")
        self._momentum_tensor = resolved(self._momentum, "momentum")

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """Returns the rate of a variable and its gradient with the weight decay."""
        if any(each in var.name for each in self._skip_list or ()):
            return self._learning_rate, grad
        weight, slope = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        ratio = self._eeta * weight / (slope + self._weight_decay * weight + self._epsilon)
        one = tf.ones_like(ratio)
        ratio = tf.where(weight > 0, tf.where(slope > 0, ratio, one), one)
        return self._learning_rate * ratio, grad + self._weight_decay * var

    def _dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        one, momentum = numbers(var, 1.0, self._momentum_tensor)
        return kernel("apply_momentum", [var, self.get_slot(var, "momentum")], one, grad * rate,
                      momentum, use_nesterov=self._use_nesterov)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, momentum = numbers(var, self._learning_rate_tensor, self._momentum_tensor)
        return kernel("sparse_apply_momentum", [var, self.get_slot(var, "momentum")], rate, grad,
                      indices, momentum, use_nesterov=self._use_nesterov)


class RegAdagradOptimizer(Updates, _Adagrad):
    """Adagrad whose accumulated squares can stay as they are, for a regularizer's gradients."""

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 use_locking: bool = False, name: str = "RegAdagrad") -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Leaves the accumulated squares alone in steps that are made inside."""
        old, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = old

    def _options(self) -> dict[str, bool]:
        return {"use_locking": self._use_locking, "update_slots": self._should_update_slots}

    def _dense(self, grad: Any, var: Any) -> Any:
        return kernel("apply_adagrad", [var, self.get_slot(var, "accumulator")],
                      *numbers(var, self._learning_rate_tensor), grad, **self._options())

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        return kernel("sparse_apply_adagrad", [var, self.get_slot(var, "accumulator")],
                      *numbers(var, self._learning_rate_tensor), grad, indices, **self._options())
