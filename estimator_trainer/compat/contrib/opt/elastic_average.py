"""An optimizer whose workers are drawn to a common center.

Definition: Zhang, Choromanska and LeCun, "Deep Learning with Elastic Averaging SGD", 2015, and
tensorflow/contrib/opt/python/training/elastic_average_optimizer.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf
from tensorflow.python.training.saving import saveable_object_util

from estimator_trainer.compat.contrib.opt import worker_copies
from estimator_trainer.compat.contrib.opt.wrapper import Wrapper

_V1: Any = tf.compat.v1
_Keys: Any = tf.compat.v1.GraphKeys


class ElasticAverageOptimizer(Wrapper):
    """Moves a worker's variables and the centers towards each other, once a period.

    Args:
      opt: The optimizer of the worker's variables.
      num_worker: The number of workers.
      ea_custom_getter: The ElasticAverageCustomGetter that made the variables.
      communication_period: The number of local steps between two moves.
      moving_rate: The part of the difference by which both move; None for 0.9 / (period *
        workers).
      rho: The weight of the difference in the loss; None for moving_rate / learning rate.
      synchronous: Whether all workers wait for each other at the start.
    """

    BETA = 0.9

    def __init__(self, opt: Any, num_worker: int, ea_custom_getter: Any,
                 communication_period: int = 10, moving_rate: Optional[float] = None,
                 rho: Optional[float] = None, use_locking: bool = True, synchronous: bool = False,
                 name: str = "ElasticAverageOptimizer") -> None:
        super().__init__(opt, use_locking, name)
        self._num_worker, self._period, self._synchronous = (
            num_worker, communication_period, synchronous)
        self._local_map = ea_custom_getter._local_map
        self._global_map = ea_custom_getter._global_map
        self._moving_rate = (self.BETA / communication_period / num_worker
                             if moving_rate is None else moving_rate)
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho
        self._local_step = worker_copies.local_step()
        opt._prepare()

    def compute_gradients(self, loss: Any, var_list: Any = None,
                          gate_gradients: int = _V1.train.Optimizer.GATE_OP,
                          aggregation_method: Any = None,
                          colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> Any:
        """Returns the gradients of the loss and of the distances from the centers."""
        variables = var_list or _V1.trainable_variables()
        distance = tf.add_n([tf.nn.l2_loss(var - self._local_map[var]) for var in variables])
        return self._opt.compute_gradients(
            loss + self._rho * distance, variables, gate_gradients, aggregation_method,
            colocate_gradients_with_ops, grad_loss)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        grads_and_vars = list(grads_and_vars)
        before = {each.op.name for each in _V1.global_variables()}
        update = self._opt.apply_gradients(grads_and_vars)
        _make_local({each.op.name for each in _V1.global_variables()} - before)
        variables = [var for grad, var in grads_and_vars if grad is not None]
        return worker_copies.every(self._period, self._local_step, [update],
                                   lambda: self._move(variables, global_step))

    def _move(self, variables: Any, global_step: Any) -> Any:
        centers = [self._global_map[var] for var in variables]
        locals_ = [self._local_map[var] for var in variables]
        with tf.control_dependencies([mine.assign(center)
                                      for mine, center in zip(locals_, centers)]):
            steps = [self._moving_rate * (var - mine) for var, mine in zip(variables, locals_)]
        updates = [_V1.assign_sub(var, step) for var, step in zip(variables, steps)]
        updates += [_V1.assign_add(center, step) for center, step in zip(centers, steps)]
        if global_step is not None:
            updates.append(_V1.assign_add(global_step, 1))
        return tf.group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """Returns the op that gives a worker's variables the values of the centers."""
        variables = _V1.trainable_variables()
        if not variables:
            raise ValueError("The lists of local_variables, global_center_variables, "
                             "local_center_variables should not be empty")
        updates = []
        for var in variables:
            updates += [_V1.assign(var, self._global_map[var]),
                        _V1.assign(self._local_map[var], self._global_map[var])]
        init_op = tf.group(*updates)
        return self._barrier(init_op, task_index) if self._synchronous else init_op

    def _barrier(self, after: Any, task_index: int) -> Any:
        """Returns an op that ends when all workers have come to it."""
        queues = [tf.queue.FIFOQueue(self._num_worker, [tf.bool], shapes=[[]],
                                     shared_name=f"variable_init_sync_queue{index}")
                  for index in range(self._num_worker)]
        with tf.control_dependencies([after]):
            arrived = [queue.enqueue(False) for index, queue in enumerate(queues)
                       if index != task_index]
        return tf.group(*arrived, queues[task_index].dequeue_many(len(queues) - 1))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """Returns the hook that runs the op of `get_init_op`."""
        return worker_copies.InitHook(self, is_chief, task_index)

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver",
                       **kwargs: Any) -> Any:
        """Returns a Saver that writes the centers under the variables' names.

        Raises:
          RuntimeError: There are no centers.
        """
        if not self._global_map:
            raise RuntimeError("global_center_variable is empty, please make sure this is called "
                               "after model created and ElasticAverageCustomGetter is used when "
                               "declaring your model")
        if var_list is None:
            var_list = _V1.trainable_variables()
        if not isinstance(var_list, dict):
            var_list = saveable_object_util.op_list_to_dict(var_list)
        centers = {var.op.name: center for var, center in self._global_map.items()}

        def center(var: Any) -> Any:
            return ([center(each) for each in var] if isinstance(var, list)
                    else centers.get(var.op.name, var))

        return _V1.train.Saver({key: center(var) for key, var in var_list.items()}, name=name,
                               **kwargs)


def _make_local(names: set[str]) -> None:
    """Moves variables from the global to the local collection."""
    every = _V1.get_collection_ref(_Keys.GLOBAL_VARIABLES)
    moved = [each for each in every if each.op.name in names]
    every[:] = [each for each in every if each.op.name not in names]
    _V1.get_collection_ref(_Keys.LOCAL_VARIABLES).extend(moved)
