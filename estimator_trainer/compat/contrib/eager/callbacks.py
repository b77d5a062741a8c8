"""Functions that are called after each operation of eager code, such as a check of its outputs.

Definition: tensorflow/python/eager/execution_callbacks.py of TensorFlow 1.15.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import threading
from typing import Any, Callable, Iterator, Optional, Union

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_callbacks

_CALLBACKS: list[Callable[..., Any]] = []
_running = threading.local()


class ExecutionCallback(enum.Enum):
    """The answer to a value: nothing, a line on stdout or in the log, or an error."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


_Action = Union[str, ExecutionCallback]


class InfOrNanError(Exception):
    """An output has a number that is infinite or none.

    Attributes:
      op_type, op_name: The operation.
      output_index, num_outputs: Which of its outputs.
      value: The output, an array.
    """

    def __init__(self, op_type: str, op_name: Optional[str], output_index: int,
                 num_outputs: int, value: Any) -> None:
        self.op_type, self.op_name, self.value = op_type, op_name, value
        self.output_index, self.num_outputs = output_index, num_outputs
        counts = [(np.count_nonzero(np.isinf(value)), "inf(s)"),
                  (np.count_nonzero(np.isnan(value)), "nan(s)")]
        shown = " and ".join(f"{count} {kind}" for count, kind in counts if count)
        name = f"'{op_name}'" if op_name is not None else "None"
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} (name: "
            f"{name}) contains {shown} out of a total of {np.size(value)} element(s). Tensor "
            f"value: {value}")


def inf_nan_callback(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any,
                     check_inf: bool = True, check_nan: bool = True,
                     action: _Action = ExecutionCallback.RAISE) -> None:
    """Looks for infinite numbers, and for those that are none, in outputs.

    Args:
      op_type, inputs, attrs, outputs, op_name: The operation.
      check_inf, check_nan: Which numbers are looked for.
      action: What is done about one.

    Raises:
      InfOrNanError: There is one, and the action is to raise it.
      ValueError: There is no such action, or none.
    """
    del inputs, attrs
    action = ExecutionCallback(action)
    for index, output in enumerate(outputs):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = output.numpy()
        if not (check_inf and np.isinf(value).any() or check_nan and np.isnan(value).any()):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action is ExecutionCallback.RAISE:
            raise error
        if action is ExecutionCallback.PRINT:
            print(f"Warning: {error}")
        elif action is ExecutionCallback.WARN:
            tf.compat.v1.logging.warn(str(error))
        else:
            raise ValueError(f"action is {action}; expected one of PRINT, WARN and RAISE")


def inf_callback(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any,
                 action: _Action = ExecutionCallback.RAISE) -> None:
    """Looks for infinite numbers alone; see `inf_nan_callback`."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


def nan_callback(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any,
                 action: _Action = ExecutionCallback.RAISE) -> None:
    """Looks for what is no number alone; see `inf_nan_callback`."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


def add_execution_callback(callback: Callable[..., Any]) -> None:
    """Calls `callback(op_type, inputs, attrs, outputs, op_name)` after each eager operation."""
    if not _CALLBACKS:
        op_callbacks.add_op_callback(_after)
    _CALLBACKS.append(callback)


def clear_execution_callbacks() -> None:
    """Calls no function after operations any longer."""
    if _CALLBACKS:
        op_callbacks.remove_op_callback(_after)
    _CALLBACKS.clear()


def _after(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None,
           graph: Any = None) -> None:
    if graph is not None or getattr(_running, "now", False):
        return
    _running.now = True
    try:
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        for callback in list(_CALLBACKS):
            callback(name, inputs, attrs, outputs, op_name)
    finally:
        _running.now = False


def seterr(inf_or_nan: Optional[_Action] = None) -> dict[str, ExecutionCallback]:
    """Sets what is done about outputs that are infinite or no number.

    Args:
      inf_or_nan: An ExecutionCallback, or its value; None changes nothing.

    Returns:
      The action before, by the name of the condition.

    Raises:
      ValueError: There is no such action.
    """
    wanted = None if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    before, others = ExecutionCallback.IGNORE, []
    for callback in _CALLBACKS:
        if getattr(callback, "func", callback) is inf_nan_callback:
            before = getattr(callback, "keywords", {}).get("action", ExecutionCallback.RAISE)
        else:
            others.append(callback)
    if wanted is not None:
        clear_execution_callbacks()
        for callback in others:
            add_execution_callback(callback)
        if wanted is not ExecutionCallback.IGNORE:
            add_execution_callback(functools.partial(inf_nan_callback, action=wanted))
    return {"inf_or_nan": before}


@contextlib.contextmanager
def errstate(inf_or_nan: Optional[_Action] = None) -> Iterator[None]:
    """Sets what `seterr` sets for the code inside."""
    if not tf.executing_eagerly():
        yield
        return
    before = seterr(inf_or_nan=inf_or_nan)
    yield
    seterr(**before)
