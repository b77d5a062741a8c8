"""Custom getters that give each worker its own copy of the trainable variables.

Definition: tensorflow/contrib/opt/python/training/{elastic_average_optimizer,agn_optimizer,
model_average_optimizer}.py of TensorFlow 1.15. A trainable variable becomes a local one on the
worker's device. Its center is a global variable, `global_center_variable/NAME`.
"""

from __future__ import annotations

import contextlib
from typing import Any, Optional, Sequence

import tensorflow as tf

_V1: Any = tf.compat.v1
_LOCAL = [tf.compat.v1.GraphKeys.LOCAL_VARIABLES]
_GLOBAL = [tf.compat.v1.GraphKeys.GLOBAL_VARIABLES]
GLOBAL_VARIABLE_NAME = "global_center_variable"
LOCAL_VARIABLE_NAME = "local_center_variable"
GRAD_VARIABLE_NAME = "grad_variable"


class _CustomGetter:
    """Makes a local variable of each trainable one, and `_copies` of it."""

    def __init__(self, worker_device: Any) -> None:
        self._worker_device = worker_device

    def __call__(self, getter: Any, name: str, trainable: bool, collections: Any, *args: Any,
                 **kwargs: Any) -> Any:
        if not trainable:
            return self._untrained(getter, name, *args, trainable=trainable,
                                   collections=collections, **kwargs)
        with _V1.device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=list(_LOCAL), **kwargs)
        self._add_copies(local, getter, name, *args, **kwargs)
        return local

    def _untrained(self, getter: Any, name: str, *args: Any, collections: Any,
                   **kwargs: Any) -> Any:
        is_local = _LOCAL[0] in (collections or ())
        with _V1.device(self._worker_device) if is_local else contextlib.nullcontext():
            return getter(name, *args, collections=collections, **kwargs)

    def _add_copies(self, local: Any, getter: Any, name: str, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError


class _TwoCopies(_CustomGetter):
    """Makes the center, and one more local variable, of the same initializer."""

    SECOND = ""

    def __init__(self, worker_device: Any) -> None:
        super().__init__(worker_device)
        self._global_map: dict[Any, Any] = {}
        self._second_map: dict[Any, Any] = {}

    def _add_copies(self, local: Any, getter: Any, name: str, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("reuse") is True:
            return
        center = getter(*args, name=f"{GLOBAL_VARIABLE_NAME}/{name}", trainable=False,
                        collections=list(_GLOBAL), **kwargs)
        with _V1.device(self._worker_device):
            second = getter(*args, name=f"{self.SECOND}/{name}", trainable=False,
                            collections=list(_LOCAL), **kwargs)
        is_whole = kwargs.get("partitioner") is None
        for mine, yours, theirs in [(local, center, second)] if is_whole else zip(
                local, center, second):
            self._global_map[mine], self._second_map[mine] = yours, theirs


class ElasticAverageCustomGetter(_TwoCopies):
    """Makes the variables that ElasticAverageOptimizer needs: `local_center_variable/NAME` too."""

    SECOND = LOCAL_VARIABLE_NAME

    @property
    def _local_map(self) -> dict[Any, Any]:
        return self._second_map


class AGNCustomGetter(_TwoCopies):
    """Makes the variables that AGNOptimizer needs: `grad_variable/NAME` too."""

    SECOND = GRAD_VARIABLE_NAME

    @property
    def _grad_map(self) -> dict[Any, Any]:
        return self._second_map


class ModelAverageCustomGetter(_CustomGetter):
    """Makes the variables that ModelAverageOptimizer needs; a center begins as its local one."""

    def __init__(self, worker_device: Any) -> None:
        super().__init__(worker_device)
        self._local_2_global: dict[Any, Any] = {}

    def _add_copies(self, local: Any, getter: Any, name: str, *args: Any, **kwargs: Any) -> None:
        self._local_2_global[local] = _V1.Variable(
            local.initialized_value(), name=f"{GLOBAL_VARIABLE_NAME}/{name}", trainable=False,
            collections=list(_GLOBAL))


def every(period: int, local_step: Any, after: Sequence[Any], update: Any,
          before: Sequence[Any] = ()) -> Any:
    """Returns an op that counts a local step, and makes each `period`th time an update.

    Args:
      period: The number of steps between updates.
      local_step: The variable that counts.
      after: What happens before the count.
      update: A function that returns the update's op.
      before: What happens before the update.
    """
    with tf.control_dependencies(after):
        counted = _V1.assign_add(local_step, 1, name="local_step_update")
    with tf.control_dependencies([counted]):
        due = tf.equal(tf.math.floormod(local_step, period), 0)
    with tf.control_dependencies([counted, *before]):
        return tf.cond(due, update, tf.no_op)


def local_step() -> Any:
    """Returns a new local variable, which counts a worker's steps."""
    return _V1.get_variable(initializer=0, trainable=False, collections=list(_LOCAL),
                            name="local_step")


class InitHook(tf.compat.v1.train.SessionRunHook):
    """Gives a worker's copies the values of the centers when a session begins."""

    def __init__(self, optimizer: Any, is_chief: bool, task_index: Optional[int] = None) -> None:
        self._optimizer, self._is_chief, self._task_index = optimizer, is_chief, task_index

    def begin(self) -> None:
        self._local_init_op = _V1.local_variables_initializer()
        self._global_init_op = _V1.global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._optimizer.get_init_op(self._task_index)

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._variable_init_op)
