"""The optimizers of `tf.train`, with `minimize` as `tf.contrib.optimizer_v2` has it.

Definition: tensorflow/contrib/optimizer_v2 of TensorFlow 1.15. Steps, hyperparameters that are
functions, and names of variables are those of `tf.train`.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.optimizer_v2.optimizer import Minimizing

_Train: Any = tf.compat.v1.train


class AdadeltaOptimizer(Minimizing, _Train.AdadeltaOptimizer):
    """Adadelta."""


class AdagradOptimizer(Minimizing, _Train.AdagradOptimizer):
    """Adagrad."""


class AdamOptimizer(Minimizing, _Train.AdamOptimizer):
    """Adam."""


class GradientDescentOptimizer(Minimizing, _Train.GradientDescentOptimizer):
    """Gradient descent."""


class MomentumOptimizer(Minimizing, _Train.MomentumOptimizer):
    """Gradient descent with momentum."""


class RMSPropOptimizer(Minimizing, _Train.RMSPropOptimizer):
    """RMSProp whose mean squares begin as `epsilon`, which is not added later."""

    def _create_slots(self, var_list: Any) -> None:
        epsilon = self._call_if_callable(self._epsilon)
        for var in var_list:
            dtype = var.dtype.base_dtype
            self._get_or_make_slot_with_initializer(
                var, tf.cast(epsilon, dtype) * tf.ones_like(var), var.shape, dtype, "rms",
                self._name)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._epsilon_tensor = tf.constant(0.0)
