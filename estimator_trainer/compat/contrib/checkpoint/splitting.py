"""One state that checkpoints hold as several variables.

Definition: tensorflow/contrib/checkpoint/python/split_dependency.py of TensorFlow 1.15.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import tensorflow as tf
from tensorflow.python.trackable import base
from tensorflow.python.training.saving import saveable_object

_SaveableObject: Any = saveable_object.SaveableObject


def split_dependency(component_names: Sequence[str], component_dtypes: Sequence[Any],
                     fill_save_buffer_fn: Callable[[Any], Any],
                     consume_restore_buffer_fn: Callable[[Any], Any],
                     device: Any) -> dict[str, Any]:
    """Returns trackable objects by their names, which are saved and restored together.

    Args:
      component_names: The names.
      component_dtypes: The types of their tensors.
      fill_save_buffer_fn: Puts the tensor of each name into the dict that it gets.
      consume_restore_buffer_fn: Gets the tensors that were read, and returns an operation that
        restores them.
      device: Where these functions run.
    """
    saved: dict[str, Any] = {}
    restored: dict[str, Any] = {}

    def save(name: str) -> Any:
        if name not in saved:
            if saved:
                raise _unsynchronized(name, "saved")
            fill_save_buffer_fn(saved)
        return saved.pop(name)

    def restore(name: str, tensor: Any) -> Any:
        if name in restored:
            raise _unsynchronized(name, "restored")
        restored[name] = tensor
        if len(restored) < len(component_names):
            return tf.no_op()
        done = consume_restore_buffer_fn(restored)
        restored.clear()
        return done

    return {name: _Part(dtype, device, functools.partial(save, name),
                        functools.partial(restore, name))
            for name, dtype in zip(component_names, component_dtypes)}


def _unsynchronized(name: str, what: str) -> AssertionError:
    return AssertionError(f"Split dependency {name} is {what} a second time; expected all of "
                          f"{name}'s siblings to be {what} with it.")


class _Part(base.Trackable):
    """Looks like a variable to a checkpoint."""

    def __init__(self, dtype: Any, device: Any, save: Any, restore: Any) -> None:
        self._part = (dtype, device, save, restore)

    def _gather_saveables_for_checkpoint(self) -> Any:
        return {base.VARIABLE_VALUE_KEY: functools.partial(_Saveable, part=self._part)}


class _Saveable(_SaveableObject):
    """Calls a function for the tensor, and another one with what was read."""

    def __init__(self, name: str, part: Any) -> None:
        dtype, device, save, self._restore = part
        super().__init__(save, [saveable_object.SaveSpec(
            tensor=save, slice_spec="", name=name, dtype=dtype, device=device)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return self._restore(restored_tensors[0])
