"""An optimizer that averages the variables, and a saver that stores the averages in their places.

Definition: tensorflow/contrib/opt/python/training/moving_average_optimizer.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

import tensorflow as tf
from tensorflow.python.training.saving import saveable_object_util

from estimator_trainer.compat.contrib.opt.wrapper import Wrapper

_V1: Any = tf.compat.v1


class MovingAverageOptimizer(Wrapper):
    """Updates the moving average of each variable after each step of another optimizer.

    Args:
      opt: The optimizer.
      average_decay: The decay of the averages.
      num_updates: The number of steps so far, by which the decay grows; None keeps it.
      sequential_update: Whether the averages wait for the step; otherwise they may see the
        variables before it.
    """

    def __init__(self, opt: Any, average_decay: float = 0.9999, num_updates: Any = None,
                 sequential_update: bool = True) -> None:
        super().__init__(opt)
        self._optimizer = opt
        self._ema = _V1.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map: Optional[dict[str, str]] = None
        self._sequential_update = sequential_update

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: Optional[str] = None) -> Any:
        grads_and_vars = list(grads_and_vars)
        train_op = self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        variables = [var for grad, var in grads_and_vars if grad is not None]
        with tf.control_dependencies([train_op] if self._sequential_update else []):
            averaging = self._ema.apply(variables)
        self._swapped_variable_name_map = {}
        for var in variables:
            average = self._ema.average(var).op.name
            self._swapped_variable_name_map.update({var.op.name: average, average: var.op.name})
        return tf.group(train_op, averaging, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver",
                       **kwargs: Any) -> Any:
        """Returns a Saver that writes each average under its variable's name, and the reverse.

        Args:
          var_list: The variables, as `tf.train.Saver` takes them; None for all global ones.
          **kwargs: Arguments of the Saver.

        Raises:
          RuntimeError: There is no training op yet.
          ValueError: One of a variable and its average is not in the list.
        """
        if self._swapped_variable_name_map is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the "
                               "swapping_saver")
        if var_list is None:
            var_list = _V1.global_variables()
        if not isinstance(var_list, dict):
            var_list = saveable_object_util.op_list_to_dict(var_list)
        by_name = _by_name(var_list)

        def swapped(key: str, var: Any) -> Any:
            if _is_partitioned(var):
                return [self._swapped(each.op.name, each, by_name) for each in var]
            return self._swapped(key, var, by_name)

        return _V1.train.Saver({key: swapped(key, var) for key, var in var_list.items()},
                               name=name, **kwargs)

    def _swapped(self, name: str, var: Any, by_name: Mapping[str, Any]) -> Any:
        assert self._swapped_variable_name_map is not None
        other = self._swapped_variable_name_map.get(name)
        if other is None:
            return var
        if other not in by_name:
            raise ValueError(f"Variable to swap {other} is not part of variables to save. This "
                             "breaks MovingAverageOptimizer.")
        return by_name[other]


def _is_partitioned(var: Any) -> bool:
    return isinstance(var, list) or hasattr(var, "as_tensor") and hasattr(var, "__iter__")


def _by_name(variables: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, var in variables.items():
        if _is_partitioned(var):
            found.update({each.op.name: each for each in var})
        else:
            found[key] = var
    return found
