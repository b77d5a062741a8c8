"""An optimizer that scales its loss, and managers of the scale.

Definition: Micikevicius et al., "Mixed Precision Training", ICLR 2018, and
tensorflow/contrib/mixed_precision/python/{loss_scale_manager,loss_scale_optimizer}.py of
TensorFlow 1.15.
"""

from __future__ import annotations

import abc
from typing import Any, Optional

import tensorflow as tf

_V1: Any = tf.compat.v1
_Optimizer: Any = tf.compat.v1.train.Optimizer


class LossScaleManager(abc.ABC):
    """Knows the scale of the loss, and how it changes."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """Returns the scale, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Returns the op that changes the scale.

        Args:
          finite_grads: Whether all gradients of the step were finite, a bool scalar.
        """


class FixedLossScaleManager(LossScaleManager):
    """A scale that does not change.

    Raises:
      ValueError: The scale is less than 1.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after good steps and shrinks after bad ones, but not below 1.

    Args:
      init_loss_scale: The scale at first.
      incr_every_n_steps: The number of good steps after which it grows.
      decr_every_n_nan_or_inf: The number of bad steps after which it shrinks; good ones between
        them do not matter.
      incr_ratio, decr_ratio: The factors.
    """

    def __init__(self, init_loss_scale: float, incr_every_n_steps: int,
                 decr_every_n_nan_or_inf: int = 2, incr_ratio: float = 2,
                 decr_ratio: float = 0.8) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale = _V1.Variable(tf.convert_to_tensor(init_loss_scale, tf.float32),
                                        name="loss_scale", dtype=tf.float32, trainable=False)
        self._num_good_steps = _V1.Variable(0, name="good_steps", dtype=tf.int32, trainable=False)
        self._num_bad_steps = _V1.Variable(0, name="bad_steps", dtype=tf.int32, trainable=False)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return tf.cond(finite_grads, self._good, self._bad)

    def _good(self) -> Any:
        def grow() -> Any:
            larger = self._loss_scale * self._incr_ratio
            return self._scaled(tf.where(tf.math.is_finite(larger), larger, self._loss_scale))

        return tf.cond(self._num_good_steps + 1 >= self._incr_every_n_steps, grow,
                       lambda: tf.group(_V1.assign_add(self._num_good_steps, 1)))

    def _bad(self) -> Any:
        return tf.cond(
            self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf,
            lambda: self._scaled(tf.maximum(1.0, self._loss_scale * self._decr_ratio)),
            lambda: tf.group(_V1.assign_add(self._num_bad_steps, 1),
                             _V1.assign(self._num_good_steps, 0)))

    def _scaled(self, scale: Any) -> Any:
        """Returns the op that sets the scale, and begins to count again."""
        return tf.group(_V1.assign(self._loss_scale, scale), _V1.assign(self._num_good_steps, 0),
                        _V1.assign(self._num_bad_steps, 0))


class LossScaleOptimizer(_Optimizer):
    """Scales the loss, unscales its gradients, and leaves out steps whose gradients overflow.

    Args:
      opt: The optimizer.
      loss_scale_manager: The LossScaleManager.
    """

    def __init__(self, opt: Any, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(False, type(self).__name__)
        self._opt, self._loss_scale_manager = opt, loss_scale_manager

    def compute_gradients(self, loss: Any, var_list: Any = None,
                          gate_gradients: int = _Optimizer.GATE_OP,
                          aggregation_method: Any = None,
                          colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> Any:
        scale = self._loss_scale_manager.get_loss_scale()

        def scaled() -> Any:
            value = loss() if callable(loss) else loss
            return value * tf.cast(scale, value.dtype.base_dtype)

        pairs = self._opt.compute_gradients(
            scaled if tf.executing_eagerly() else scaled(), var_list=var_list,
            gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        inverse = tf.math.reciprocal(scale)
        # As in TensorFlow 1.15, a product of rows is dense.
        return [(None if grad is None else tf.convert_to_tensor(grad) * tf.cast(
            inverse, grad.dtype.base_dtype), var) for grad, var in pairs]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        grads_and_vars = list(grads_and_vars)
        finite = tf.reduce_all([
            tf.reduce_all(tf.math.is_finite(getattr(grad, "values", grad)))
            for grad, _ in grads_and_vars if grad is not None])
        update = tf.cond(finite, lambda: tf.group(
            self._opt.apply_gradients(grads_and_vars, global_step, name)), tf.no_op)
        return tf.group(update, self._loss_scale_manager.update_loss_scale(finite))

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        return self._opt.variables()
