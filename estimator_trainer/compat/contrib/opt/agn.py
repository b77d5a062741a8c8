"""An optimizer whose workers send the sum of their gradients to a center, once a period.

Definition: Hermans, Spanakis and Moeckel, "Accumulated Gradient Normalization", 2017, and
tensorflow/contrib/opt/python/training/agn_optimizer.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.opt import worker_copies
from estimator_trainer.compat.contrib.opt.wrapper import Wrapper

_V1: Any = tf.compat.v1
_Keys: Any = tf.compat.v1.GraphKeys


class AGNOptimizer(Wrapper):
    """Steps a worker's variables, and once a period the centers by the mean gradient.

    Args:
      optimizer: The optimizer of both.
      num_worker: The number of workers.
      custom_getter: The AGNCustomGetter that made the variables.
      communication_period: The number of local steps between two of the centers.
    """

    def __init__(self, optimizer: Any, num_worker: int, custom_getter: Any,
                 communication_period: int = 10, use_locking: bool = True,
                 name: str = "AGNOptimizer") -> None:
        super().__init__(optimizer, use_locking, name)
        self._num_worker, self._period = num_worker, communication_period
        self._global_map, self._grad_map = custom_getter._global_map, custom_getter._grad_map
        self._local_step = worker_copies.local_step()
        optimizer._prepare()

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        with _V1.variable_creator_scope(_local_creator):
            updates = [self._opt.apply_gradients(pairs)]
        sums = [self._grad_map[var] for _, var in pairs]
        updates += [_V1.assign_add(total, grad) for total, (grad, _) in zip(sums, pairs)]
        return worker_copies.every(
            self._period, self._local_step, [],
            lambda: self._send([var for _, var in pairs], sums, global_step), updates)

    def _send(self, variables: Any, sums: Any, global_step: Any) -> Any:
        centers = [self._global_map[var] for var in variables]
        with tf.control_dependencies([_V1.assign(total, total / self._period) for total in sums]):
            applied = self._opt.apply_gradients(list(zip(sums, centers)))
        with tf.control_dependencies([applied]):
            updates = [_V1.assign(var, center.read_value())
                       for var, center in zip(variables, centers)]
            updates += [_V1.assign(total, tf.zeros_like(total)) for total in sums]
            if global_step is not None:
                updates.append(_V1.assign_add(global_step, 1))
            return tf.group(*updates)

    def get_init_op(self, task_index: Optional[int] = None) -> Any:
        """Returns the op that gives a worker's variables the values of the centers."""
        del task_index
        variables = _V1.trainable_variables()
        if not variables:
            raise ValueError("The lists of local_variables, global_center_variables, "
                             "grad_center_variables should not be empty")
        return tf.group(*(_V1.assign(var, self._global_map[var]) for var in variables),
                        *(_V1.assign(self._grad_map[var], tf.zeros_like(self._grad_map[var]))
                          for var in variables))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """Returns the hook that runs the op of `get_init_op`."""
        return worker_copies.InitHook(self, is_chief, task_index)


def _local_creator(next_creator: Any, **kwargs: Any) -> Any:
    """Makes a slot of a worker's variable local."""
    kept = [each for each in kwargs.pop("collections", None) or ()
            if each not in (_Keys.GLOBAL_VARIABLES, _Keys.LOCAL_VARIABLES)]
    return next_creator(collections=[*kept, _Keys.LOCAL_VARIABLES], **kwargs)
