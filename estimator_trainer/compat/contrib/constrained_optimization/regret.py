"""Optimizers that play against the constraints: each step, their multipliers grow where they break.

Follows the API of `tensorflow/contrib/constrained_optimization/python/` of TensorFlow 1.15, and
Cotter, Jiang and Sridharan, 2019, "Two-player games for efficient non-convex constrained
optimization". Projections are those of Duchi et al., 2008.
"""

from __future__ import annotations

import abc
import math
from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.constrained_optimization.optimizer import ConstrainedOptimizer

_V1 = tf.compat.v1


class _RegretOptimizer(ConstrainedOptimizer):
    """An optimizer with a state, of which the weights of objective and constraints are made."""

    _STATE_NAME = ""

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None) -> None:
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """The optimizer of the state; None is that of the model's variables."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Any:
        """Returns the first state."""

    @abc.abstractmethod
    def _loss(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        """Returns the loss of the variables, and the direction in which the state grows."""

    @abc.abstractmethod
    def _projected(self, state: Any) -> Any:
        """Returns the nearest state that is allowed."""

    def _minimize_constrained(self, minimization_problem: Any, global_step: Any = None,
                              var_list: Any = None, gate_gradients: int = 1,
                              aggregation_method: Any = None,
                              colocate_gradients_with_ops: bool = False, name: Any = None,
                              grad_loss: Any = None) -> Any:
        objective, constraints = minimization_problem.objective, minimization_problem.constraints
        proxies = minimization_problem.proxy_constraints
        proxies = constraints if proxies is None else proxies
        if len({each.dtype.base_dtype for each in (objective, constraints, proxies)}) > 1:
            raise ValueError("objective, constraints and proxy_constraints must have the same "
                             "dtype")
        number = minimization_problem.num_constraints
        constraints, proxies = tf.reshape(constraints, [number]), tf.reshape(proxies, [number])
        state = _V1.Variable(lambda: self._initial_state(number), trainable=False,
                             name=self._STATE_NAME)
        loss, growth = self._loss(state, objective, constraints, proxies)
        pairs = self.optimizer.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        own = [(-growth, state)]
        if self.constraint_optimizer is None:
            updates = [self.optimizer.apply_gradients(pairs + own, name="update")]
        else:
            # Both players move at once.
            with tf.control_dependencies([each for each, _ in pairs + own if each is not None]):
                updates = [
                    self.optimizer.apply_gradients(pairs, name="update"),
                    self.constraint_optimizer.apply_gradients(own, name="optimizer_state_update")]
        with tf.control_dependencies(updates):
            if global_step is None:
                return _V1.assign(state, self._projected(state), name=name)
            projected = _V1.assign(state, self._projected(state), name="project")
            step = _V1.assign_add(global_step, 1, name="global_step_increment")
            return tf.group(projected, step, name=name)


class AdditiveExternalRegretOptimizer(_RegretOptimizer):
    """Lagrange multipliers of the constraints, not negative, that grow by addition."""

    _STATE_NAME = "external_regret_optimizer_state"

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None,
                 maximum_multiplier_radius: Any = None) -> None:
        """Takes the largest sum of multipliers, None for no limit.

        Raises:
          ValueError: `maximum_multiplier_radius` is negative.
        """
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        return tf.zeros([num_constraints])

    def _loss(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        loss = objective + tf.tensordot(tf.cast(state, proxies.dtype), proxies, 1)
        return loss, tf.cast(constraints, state.dtype.base_dtype)

    def _projected(self, state: Any) -> Any:
        positive = tf.maximum(state, 0.)
        if not self._radius:
            return positive
        on_simplex = _on_simplex(state[:, tf.newaxis], self._radius)[:, 0]
        return tf.where(tf.reduce_sum(positive) <= self._radius, positive, on_simplex)


class _SwapRegretOptimizer(_RegretOptimizer):
    """A state that is a matrix, whose largest eigenvector weighs objective and constraints."""

    _STATE_NAME = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Any:
        """Returns the matrix, whose columns have the sum 1."""

    def _loss(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        vector = tf.abs(_largest_eigenvector(self._stochastic_matrix(state)))
        weights = vector / tf.reduce_sum(vector)
        values = tf.concat([tf.expand_dims(objective, 0), proxies], 0)
        broken = tf.cast(tf.concat([tf.zeros([1], constraints.dtype), constraints], 0),
                         weights.dtype)
        return (tf.tensordot(tf.cast(weights, values.dtype), values, 1),
                broken[:, tf.newaxis] * weights[tf.newaxis])


class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """A matrix that grows by addition."""

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        return tf.concat([tf.ones([1, size]), tf.zeros([size - 1, size])], 0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return tf.convert_to_tensor(state)

    def _projected(self, state: Any) -> Any:
        return _on_simplex(tf.convert_to_tensor(state), 1.)


class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """A matrix of which the logarithm grows."""

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None,
                 minimum_multiplier_radius: float = 1e-3,
                 initial_multiplier_radius: Any = None) -> None:
        """Takes the least weight of the constraints, and the first, which is the least by default.

        Raises:
          ValueError: A radius is out of its range.
        """
        super().__init__(optimizer, constraint_optimizer)
        least, first = minimum_multiplier_radius, initial_multiplier_radius
        if not 0. < least < 1.:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if first is not None and first < least:
            raise ValueError("initial_multiplier_radius must be in the range "
                             "[minimum_multiplier_radius,1]")
        self._least, self._first = least, least if first is None else first

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        return tf.concat([
            tf.fill([1, size], math.log(1. - self._first * (size - 1) / size)),
            tf.fill([size - 1, size], math.log(self._first / size))], 0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return tf.exp(state)

    def _projected(self, state: Any) -> Any:
        normalized = tf.nn.log_softmax(state, axis=0)
        return tf.maximum(normalized, math.log(self._least / state.shape.as_list()[0]))


def _on_simplex(matrix: Any, radius: float) -> Any:
    """Returns the nearest matrix of numbers not below 0 whose columns have the sum `radius`."""
    ordered = tf.sort(matrix, axis=0, direction="DESCENDING")
    counts = tf.range(1, tf.shape(matrix)[0] + 1)[:, tf.newaxis]
    excess = (tf.cumsum(ordered, axis=0) - radius) / tf.cast(counts, matrix.dtype)
    used = tf.reduce_sum(tf.cast(ordered > excess, tf.int32), axis=0, keepdims=True)
    threshold = tf.reduce_sum(tf.where(tf.equal(counts, used), excess, tf.zeros_like(excess)),
                              axis=0, keepdims=True)
    return tf.maximum(matrix - threshold, 0.)


def _largest_eigenvector(matrix: Any, epsilon: float = 1e-6, most: int = 100) -> Any:
    """Returns the eigenvector of the largest eigenvalue, by powers of the matrix."""
    def step(iteration: Any, vector: Any, _: Any) -> tuple[Any, Any, Any]:
        new = tf.linalg.matvec(matrix, vector)
        return iteration + 1, new / tf.norm(new), vector

    ones = tf.ones_like(matrix[:, 0])
    start = step(tf.constant(0), ones / tf.norm(ones), None)
    return _V1.while_loop(
        lambda iteration, new, old: tf.logical_and(
            iteration < most, tf.norm(new - old) > epsilon), step, start)[1]
