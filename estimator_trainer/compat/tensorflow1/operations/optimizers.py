"""Optimizers that count the operations that TensorFlow 1.15's made.

Source: `tf.train.FtrlOptimizer` and `GradientDescentOptimizer` of TensorFlow 1.15's API
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.compat.tensorflow1.operations.replaced import Make
from estimator_trainer.patches import op_seeds


def _prepare(newer: Callable[..., Any]) -> Callable[..., Any]:
    def _prepare(self: Any) -> None:
        with op_seeds.uncounted():  # Today a beta has a share in the regularization.
            newer(self)
        made = (self._learning_rate, self._l1_regularization_strength,
                self._l2_regularization_strength, self._l2_shrinkage_regularization_strength,
                self._learning_rate_power)
        op_seeds.count(sum(not tf.is_tensor(each) for each in made))

    return _prepare


def _slots(newer: Callable[..., Any]) -> Callable[..., Any]:
    def _create_slots(self: Any, var_list: Any) -> None:
        op_seeds.count(-2 * len(var_list))  # A constant was an accumulator's first value.
        newer(self, var_list)

    return _create_slots


def _sparse(newer: Callable[..., Any]) -> Callable[..., Any]:
    def apply_sparse(self: Any, *args: Any) -> Any:
        op_seeds.count(not tf.is_tensor(self._learning_rate))  # A constant for each variable.
        return newer(self, *args)

    return apply_sparse


METHODS: dict[str, Make] = {
    "tf.train.FtrlOptimizer._prepare": _prepare,
    "tf.train.FtrlOptimizer._create_slots": _slots,
    "tf.train.GradientDescentOptimizer._resource_apply_sparse_duplicate_indices": _sparse,
}
