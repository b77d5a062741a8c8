"""Strategies of `tf.contrib.training` that choose a parameter server for a variable.

Each is a `ps_strategy` of `tf.train.replica_device_setter`, as
`tensorflow/contrib/training/python/training/device_setter.py` of TensorFlow 1.15.
"""

from __future__ import annotations

import hashlib
from typing import Any, Callable

import numpy as np


class RandomStrategy:
    """Takes the task that the hash of an operation's name says."""

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Any) -> int:
        """Returns the index of a task; a name has the same in each process."""
        key = f"{op.name}_{self._seed}".encode()
        return int(hashlib.md5(key).hexdigest(), 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """Takes the task that has the least load so far."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], Any]) -> None:
        """Takes `load_fn`, which returns the load of an operation as a number."""
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op: Any) -> Any:
        """Returns the index of a task, whose load then grows."""
        task = np.argmin(self._ps_loads)
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """Returns how many bytes the only output of an operation has.

    Raises:
      ValueError: There are several outputs, or the shape is not known.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op.name} has {len(op.outputs)} outputs; expected one")
    output = op.outputs[0]
    shape = output.shape
    if not shape.is_fully_defined():
        import tensorflow as tf
        shape = tf.TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return int(shape.num_elements()) * int(output.dtype.size)
