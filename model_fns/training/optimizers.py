"""Optimizers by name, and wrappers that change how gradients are applied.

The optimizers are TensorFlow 1's, whose variables have the names in old checkpoints. A wrapper is
an optimizer too: it computes gradients like the optimizer inside, and applies them differently.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence, TypeAlias

import tensorflow as tf

from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    "optimizer": "sgd",  # adadelta, adagrad, adagrad_da, adam, ftrl, lazy_adam, momentum,
    # nesterov, proximal_adagrad, proximal_sgd, rmsprop or sgd
    "momentum": 0.9,  # for momentum, nesterov and rmsprop: decay of the sum of past gradients
    "adam_beta1": 0.9,  # for adam and lazy_adam: decay of the gradients' mean
    "adam_beta2": 0.999,  # decay of their squares' mean
    "epsilon": 1e-8,  # for adadelta, adam, lazy_adam and rmsprop: added to divisors
    "l1_strength": 0.0,  # L1 penalty, for adagrad_da, ftrl, proximal_adagrad, proximal_sgd
    "l2_strength": 0.0,  # L2 penalty, for the same
}
Optimizer: TypeAlias = tf.compat.v1.train.Optimizer
_GradsAndVars = Sequence[tuple[Any, tf.Variable]]
_train = tf.compat.v1.train


class LazyAdam(tf.compat.v1.train.AdamOptimizer):
    """Adam that changes, of a table, only the rows that a batch uses: values and moments.

    Adam changes every row in every step, which takes as long as the table is large.
    """

    def _resource_apply_sparse(self, grad: tf.Tensor, handle: tf.Variable,
                               indices: tf.Tensor) -> tf.Operation:
        """Updates the rows `indices`, each of which is there once, by `grad`, [rows, ...]."""
        dtype = grad.dtype
        rate, beta1, beta2, epsilon = (tf.cast(value, dtype) for value in (
            self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t))
        power1, power2 = (tf.cast(power, dtype) for power in self._get_beta_accumulators())
        mean, square = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        means = beta1 * tf.gather(mean, indices) + (1 - beta1) * grad
        squares = beta2 * tf.gather(square, indices) + (1 - beta2) * tf.square(grad)
        change = rate * tf.sqrt(1 - power2) / (1 - power1) * means / (tf.sqrt(squares) + epsilon)
        return tf.group(mean.scatter_update(tf.IndexedSlices(means, indices)),
                        square.scatter_update(tf.IndexedSlices(squares, indices)),
                        handle.scatter_sub(tf.IndexedSlices(change, indices)))


_BY_NAME: dict[str, Callable[[tf.Tensor, dict[str, Any]], Optimizer]] = {
    "adadelta": lambda rate, p: _train.AdadeltaOptimizer(rate, epsilon=p["epsilon"]),
    "adagrad": lambda rate, p: _train.AdagradOptimizer(rate),
    "adagrad_da": lambda rate, p: _train.AdagradDAOptimizer(
        rate, _train.get_or_create_global_step(), **_strengths(p)),
    "adam": lambda rate, p: _train.AdamOptimizer(
        rate, p["adam_beta1"], p["adam_beta2"], p["epsilon"]),
    "ftrl": lambda rate, p: _train.FtrlOptimizer(rate, **_strengths(p)),
    "lazy_adam": lambda rate, p: LazyAdam(
        rate, p["adam_beta1"], p["adam_beta2"], p["epsilon"]),
    "momentum": lambda rate, p: _train.MomentumOptimizer(rate, p["momentum"]),
    "nesterov": lambda rate, p: _train.MomentumOptimizer(rate, p["momentum"], use_nesterov=True),
    "proximal_adagrad": lambda rate, p: _train.ProximalAdagradOptimizer(rate, **_strengths(p)),
    "proximal_sgd": lambda rate, p: _train.ProximalGradientDescentOptimizer(
        rate, **_strengths(p)),
    "rmsprop": lambda rate, p: _train.RMSPropOptimizer(
        rate, momentum=p["momentum"], epsilon=p["epsilon"]),
    "sgd": lambda rate, p: _train.GradientDescentOptimizer(rate),
}


def by_name(params: dict[str, Any], learning_rate: tf.Tensor) -> Optimizer:
    """Returns the optimizer that the params name.

    Args:
      params: See DEFAULT_PARAMS, which has the values of missing ones.
      learning_rate: float32 [].

    Raises:
      ParamError: The name is unknown.
    """
    params = {**DEFAULT_PARAMS, **params}
    name = params["optimizer"]
    if name not in _BY_NAME:
        raise ParamError(f"optimizer is {name!r}; expected one of {', '.join(sorted(_BY_NAME))}."
                         " For example: --param optimizer=adam")
    return _BY_NAME[name](learning_rate, params)


def _strengths(params: dict[str, Any]) -> dict[str, float]:
    return {"l1_regularization_strength": params["l1_strength"],
            "l2_regularization_strength": params["l2_strength"]}


def mean_over_replicas(pairs: list[tuple[Any, tf.Variable]]) -> list[Any]:
    """Returns the gradients of the global batch: the mean of the gradients of all replicas.

    Every replica has to compute them in every step, because the replicas wait for each other.

    Args:
      pairs: The gradients of this replica, none of them None, and their variables.
    """
    if tf.distribute.get_replica_context().num_replicas_in_sync == 1:
        return [grad for grad, _ in pairs]
    # Each replica's loss is divided by the number of replicas already: the sum is the mean.
    return list(_merged(lambda strategy, pairs: strategy.extended.batch_reduce_to(
        tf.distribute.ReduceOp.SUM, pairs), pairs))


class _Wrapper(Optimizer):
    """Behaves like the optimizer inside."""

    def __init__(self, optimizer: Optimizer):
        super().__init__(use_locking=False, name=type(self).__name__)
        self._inside = optimizer

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, tf.Variable]]:
        pairs: list[tuple[Any, tf.Variable]] = self._inside.compute_gradients(*args, **kwargs)
        return pairs

    def apply_gradients(self, grads_and_vars: _GradsAndVars, global_step: tf.Variable = None,
                        name: str | None = None) -> tf.Operation:
        return self._inside.apply_gradients(grads_and_vars, global_step, name)


class Clipping(_Wrapper):
    """Scales the gradients of a step down to a global norm.

    The norm is computed for the mean over synchronous replicas, so their number does not matter.
    """

    def __init__(self, optimizer: Optimizer, norm: float):
        super().__init__(optimizer)
        self._norm = norm

    def apply_gradients(self, grads_and_vars: _GradsAndVars, global_step: tf.Variable = None,
                        name: str | None = None) -> tf.Operation:
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        clipped, _ = tf.clip_by_global_norm(mean_over_replicas(pairs), self._norm)
        count = tf.distribute.get_replica_context().num_replicas_in_sync
        parts = [grad if count == 1 else tf.convert_to_tensor(grad) / count for grad in clipped]
        return super().apply_gradients(
            [(part, var) for part, (_, var) in zip(parts, pairs)], global_step)


class Averaging(_Wrapper):
    """Updates moving averages of the variables with each global step.

    The averages forget faster in the first steps: min(decay, (1 + step) / (10 + step)).
    """

    def __init__(self, optimizer: Optimizer, decay: float):
        super().__init__(optimizer)
        self._decay = decay

    def apply_gradients(self, grads_and_vars: _GradsAndVars, global_step: tf.Variable = None,
                        name: str | None = None) -> tf.Operation:
        pairs = list(grads_and_vars)
        before = tf.identity(global_step)
        with tf.control_dependencies([before]):
            update = super().apply_gradients(pairs, global_step, name)
        with tf.control_dependencies([update]):
            after = global_step.read_value()
            step = tf.cast(after, tf.float32)
            decay = tf.minimum(self._decay, (1.0 + step) / (10.0 + step))
            # The averages cannot be made inside a branch around the update.
            decay = tf.where(tf.equal(before, after), 1.0, decay)
            return tf.train.ExponentialMovingAverage(decay).apply([var for _, var in pairs])


class Accumulating(_Wrapper):
    """Applies the mean gradients of `steps` batches at once, as one global step.

    Each process has its own sums, which are not in checkpoints.
    """

    def __init__(self, optimizer: Optimizer, steps: int):
        super().__init__(optimizer)
        self._steps = steps

    def apply_gradients(self, grads_and_vars: _GradsAndVars, global_step: tf.Variable = None,
                        name: str | None = None) -> tf.Operation:
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        runs = _local(lambda: tf.zeros([], tf.int64), "runs")
        totals = [_local(functools.partial(tf.zeros, var.shape, var.dtype), "accumulated")
                  for _, var in pairs]
        added = [total.assign_add(tf.convert_to_tensor(grad))
                 for total, (grad, _) in zip(totals, pairs)]
        with tf.control_dependencies([*added, runs.assign_add(1)]):
            is_due = tf.equal(runs.read_value() % self._steps, 0)
            sums = [total.read_value() for total in totals]
        means = [(each / self._steps, var) for each, (_, var) in zip(sums, pairs)]
        update = _merged(self._apply_if, means, global_step, is_due)
        with tf.control_dependencies([update]):
            # Multiplying by 0 would keep a NaN.
            return tf.group(*(total.assign(tf.where(is_due, tf.zeros_like(each), each))
                              for total, each in zip(totals, sums)))

    def _apply_if(self, strategy: tf.distribute.Strategy, pairs: Any, global_step: tf.Variable,
                  is_due: Any) -> tf.Operation:
        all_due = strategy.experimental_local_results(is_due)
        return tf.cond(all_due[0], lambda: _in_each_replica(
            strategy, self._inside.apply_gradients, pairs, global_step), tf.no_op)


def _merged(function: Callable[..., Any], *args: Any) -> Any:
    """Calls `function(strategy, *args)` once for all replicas.

    Replicas must not synchronise inside a branch, so a branch has to contain all of them.
    """
    return tf.distribute.get_replica_context().merge_call(function, args=args)


def _in_each_replica(strategy: tf.distribute.Strategy, function: Callable[..., tf.Operation],
                     *args: Any) -> tf.Operation:
    return strategy.group(strategy.extended.call_for_each_replica(function, args=args))


def _local(value: Callable[[], tf.Tensor], name: str) -> tf.Variable:
    """Makes a variable for this replica alone, on a worker's device even if variables are on ps.
    """
    with tf.device(tf.no_op().device or None):
        return tf.compat.v1.Variable(
            value, name=name, trainable=False, use_resource=True,
            collections=[tf.compat.v1.GraphKeys.LOCAL_VARIABLES],
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM)
