"""Shampoo: a preconditioner for each dimension of a variable.

Definition: Gupta, Koren and Singer, "Shampoo: Preconditioned Stochastic Tensor Optimization", ICML
2018, and tensorflow/contrib/opt/python/training/shampoo.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.opt import matrix_functions
from estimator_trainer.compat.contrib.opt.updates import Updates

_V1: Any = tf.compat.v1


def GetParam(var: Any, timestep: Any) -> Any:  # pylint: disable=invalid-name
    """Returns a hyperparameter, which may be a function of the step."""
    return var(timestep) if callable(var) else var


class ShampooOptimizer(Updates):
    """Multiplies a gradient by a power of the mean of `g g'` along each dimension.

    Args:
      global_step: The number of steps so far.
      max_matrix_size: Longer dimensions have the diagonal of their matrix alone.
      gbar_decay, gbar_weight: The momentum is `decay * momentum + weight * gradient`.
      mat_gbar_decay, mat_gbar_weight: The matrices are so averaged too.
      svd_interval: The number of steps between two powers of a matrix.
      precond_update_interval: The number of steps between two updates of a matrix.
      epsilon: What is added to a matrix's diagonal.
      alpha: The power, divided among a variable's dimensions.
      use_iterative_root: Whether products of matrices replace the singular value decomposition.

    Weights, decays, intervals, the rate and alpha may be functions of the step.
    """

    def __init__(self, global_step: Any = 0, max_matrix_size: int = 768, gbar_decay: Any = 0.0,
                 gbar_weight: Any = 1.0, mat_gbar_decay: Any = 1.0, mat_gbar_weight: Any = 1.0,
                 learning_rate: Any = 1.0, svd_interval: Any = 1,
                 precond_update_interval: Any = 1, epsilon: float = 1e-4, alpha: Any = 0.5,
                 use_iterative_root: bool = False, use_locking: bool = False,
                 name: str = "Shampoo") -> None:
        super().__init__(use_locking, name)
        self._global_step = tf.cast(global_step, tf.float32)
        self._max_matrix_size, self._epsilon, self._alpha = max_matrix_size, epsilon, alpha
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate, self._svd_interval = learning_rate, svd_interval
        self._precond_update_interval = precond_update_interval
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: Any) -> None:
        keeps_powers = callable(self._svd_interval) or self._svd_interval > 1
        for var in var_list:
            with _V1.colocate_with(var):
                self._zeros_slot(var, "gbar", self._name)
                for axis, size in enumerate(var.shape.as_list()):
                    start = tf.zeros([size])
                    if size <= self._max_matrix_size:
                        start = tf.zeros([size, size])
                        if keeps_powers:
                            self._get_or_make_slot(var, tf.eye(size), f"H_{axis}", self._name)
                    self._get_or_make_slot(var, start, f"Gbar_{axis}", self._name)

    def _dense(self, grad: Any, var: Any) -> Any:
        return self._update(grad, var)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        if var.shape.as_list()[0] <= self._max_matrix_size or self._gbar_decay != 0.0:
            return self._update(tf.scatter_nd(
                indices[:, None], grad, tf.shape(var, out_type=indices.dtype)), var)
        return self._update(grad, var, indices)

    def _update(self, grad: Any, var: Any, indices: Any = None) -> Any:
        step, rank = self._global_step + 1, len(var.shape)
        if indices is None:
            direction = _average(self.get_slot(var, "gbar"), self._gbar_decay,
                                 GetParam(self._gbar_decay, step),
                                 GetParam(self._gbar_weight, step) * grad)
        else:
            direction = grad
        power = -GetParam(self._alpha, step) / rank
        for axis, size in enumerate(var.shape.as_list()):
            if size <= self._max_matrix_size:
                matrix = self._matrix(grad, var, axis, size, power)
                direction = tf.tensordot(direction, matrix, axes=([0], [0]))
            else:
                scale = self._diagonal(grad, var, axis, indices)
                scale = tf.where(scale > 0, tf.pow(scale, power), tf.zeros_like(scale))
                direction = tf.transpose(direction, [*range(1, rank), 0]) * scale
        change = GetParam(self._learning_rate, step) * direction
        if indices is None:
            return _V1.assign_sub(var, change)
        return _V1.scatter_add(var, indices, -change)

    def _matrix(self, grad: Any, var: Any, axis: int, size: int, power: Any) -> Any:
        """Returns the preconditioner [size, size] of a dimension."""
        step, mean = self._global_step + 1, self.get_slot(var, f"Gbar_{axis}")
        interval = GetParam(self._precond_update_interval, step)
        others = [each for each in range(len(var.shape)) if each != axis]

        def averaged() -> Any:
            outer = tf.tensordot(grad, grad, axes=(others, others))
            weight = GetParam(self._mat_gbar_weight, step) * interval
            return tf.identity(_average(mean, self._mat_gbar_decay,
                                        GetParam(self._mat_gbar_decay, step), weight * outer))

        mean = tf.cond(tf.math.floormod(step, interval) < 1, averaged, lambda: tf.identity(mean))
        mean = mean / float(size)
        if not callable(self._svd_interval) and self._svd_interval == 1:
            return self._compute_power(mean, size, power)
        kept = self.get_slot(var, f"H_{axis}")
        return tf.cond(
            tf.math.floormod(step, GetParam(self._svd_interval, step)) < 1,
            lambda: tf.identity(_V1.assign(kept, self._compute_power(mean, size, power))),
            lambda: tf.identity(kept))

    def _compute_power(self, matrix: Any, size: int, power: Any) -> Any:
        """Returns the power of a matrix, whose diagonal gets `epsilon` added."""
        if self._use_iterative_root:
            root = matrix_functions.matrix_square_root(matrix, size, 100, self._epsilon)
            return matrix_functions.matrix_inverse_pth_root(root, size, 2 * power, 100, 1e-6, 0.0)
        if size == 1:
            return tf.pow(matrix + self._epsilon, power)
        values, left, right = tf.linalg.svd(matrix + self._epsilon * tf.eye(size),
                                            full_matrices=True)
        return tf.matmul(right * tf.pow(tf.maximum(values, self._epsilon), power),
                         tf.transpose(left))

    def _diagonal(self, grad: Any, var: Any, axis: int, indices: Optional[Any]) -> Any:
        """Returns the mean squares along a dimension that is too long for a matrix."""
        step, mean = self._global_step + 1, self.get_slot(var, f"Gbar_{axis}")
        others = [each for each in range(len(var.shape)) if each != axis]
        squares, weight = grad * grad, GetParam(self._mat_gbar_weight, step)
        if others:
            count = 1.0 if indices is not None else float(var.shape.as_list()[axis])
            squares = tf.reduce_sum(squares, axis=others) / count
        if axis == 0 and indices is not None:
            assert self._mat_gbar_decay == 1.0
            return tf.gather(_V1.scatter_add(mean, indices, weight * squares), indices)
        return _average(mean, self._mat_gbar_decay, GetParam(self._mat_gbar_decay, step),
                        weight * squares)


def _average(var: Any, decay: Any, decay_now: Any, new: Any) -> Any:
    """Returns `decay * var + new`, which becomes the variable's value unless the decay is 0."""
    if not callable(decay) and decay == 0.0:
        return new
    if not callable(decay) and decay == 1.0:
        return _V1.assign_add(var, new)
    return var.assign_add((decay_now - 1) * var + new)
