"""An optimizer whose workers average their variables, once an interval.

Definition: McDonald, Hall and Mann, "Distributed Training Strategies for the Structured
Perceptron", 2010, and tensorflow/contrib/opt/python/training/model_average_optimizer.py of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.opt import worker_copies
from estimator_trainer.compat.contrib.opt.wrapper import Wrapper

_V1: Any = tf.compat.v1


class ModelAverageOptimizer(Wrapper):
    """Steps a worker's variables, and once an interval gives all workers the variables' means.

    Args:
      opt: The optimizer of the worker's variables.
      num_worker: The number of workers.
      is_chief: Whether this is the worker that computes the means.
      ma_custom_getter: The ModelAverageCustomGetter that made the variables.
      interval_steps: The number of local steps between two means.
    """

    def __init__(self, opt: Any, num_worker: int, is_chief: bool, ma_custom_getter: Any,
                 interval_steps: int = 100, use_locking: bool = True,
                 name: str = "ModelAverageOptimizer") -> None:
        super().__init__(opt, use_locking, name)
        self._num_worker, self._is_chief, self._interval_steps = (
            num_worker, is_chief, interval_steps)
        self._local_2_global = ma_custom_getter._local_2_global
        self._accumulators: list[Any] = []
        self._chief_init_op: Any = None
        self._local_step = worker_copies.local_step()
        opt._prepare()

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        update = self._opt.apply_gradients(grads_and_vars)
        variables = [var for grad, var in grads_and_vars if grad is not None]
        update = worker_copies.every(self._interval_steps, self._local_step, [update],
                                     lambda: self._average(variables, global_step))
        self._chief_init_op = tf.group(*(each.set_global_step(global_step, name="SetGlobalStep")
                                         for each in self._accumulators))
        return update

    def _average(self, variables: Sequence[Any], global_step: Any) -> Any:
        """Returns the op that waits for all workers' variables, and takes their means."""
        centers = [self._local_2_global[var] for var in variables]
        with _V1.colocate_with(global_step):
            tokens = tf.queue.FIFOQueue(-1, [tf.bool], shapes=[[]], shared_name="sync_queue")
        sent, means = [], []
        for var, center in zip(variables, centers):
            with _V1.device(center.device):
                accumulator = _V1.ConditionalAccumulator(
                    var.dtype.base_dtype, shape=var.shape, shared_name=f"{center.name}/var_accum")
                sent.append(accumulator.apply_grad(var.read_value(), local_step=global_step))
                means.append(accumulator.take_grad(self._num_worker))
            self._accumulators.append(accumulator)
        with tf.control_dependencies(sent):
            synced = (self._publish(tokens, centers, means, global_step) if self._is_chief
                      else tokens.dequeue())
        with tf.control_dependencies([synced]):
            return self._take_centers(variables)

    def _publish(self, tokens: Any, centers: Any, means: Any, global_step: Any) -> Any:
        updates = [_V1.assign(center, mean) for center, mean in zip(centers, means)]
        updates.append(_V1.assign_add(global_step, 1))
        with tf.control_dependencies(updates):
            return tokens.enqueue_many(tf.fill([self._num_worker - 1], False))

    def _take_centers(self, variables: Sequence[Any]) -> Any:
        if not variables:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for var in variables:
            with _V1.device(var.device):
                updates.append(_V1.assign(var, self._local_2_global[var].read_value()))
        return tf.group(*updates)

    def get_init_op(self) -> Any:
        """Returns the op that gives a worker's variables the values of the centers."""
        return self._take_centers(_V1.trainable_variables())

    def make_session_run_hook(self) -> Any:
        """Returns the hook that has the ops of the start."""
        return _Hook(self, self._is_chief)


class _Hook(tf.compat.v1.train.SessionRunHook):
    """Has the initialization ops; as in TensorFlow 1.15, a program runs them itself."""

    def __init__(self, optimizer: ModelAverageOptimizer, is_chief: bool) -> None:
        self._optimizer, self._is_chief = optimizer, is_chief

    def begin(self) -> None:
        self._local_init_op = _V1.local_variables_initializer()
        self._global_init_op = None
        if self._is_chief:
            self._global_init_op = _V1.global_variables_initializer()
            self._chief_init_op = self._optimizer._chief_init_op
        self._variable_init_op = self._optimizer.get_init_op()
