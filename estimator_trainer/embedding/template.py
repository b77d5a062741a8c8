"""The operations that a function of TensorFlow's makes, found again in a graph.

A template is the function's graph on placeholders. A part of another graph that has the same
operations, attributes and constants computes the same, whoever called the function. So no
operation of another version of TensorFlow has to be known here.
"""

from __future__ import annotations

from typing import Iterable

import numpy as np
import tensorflow as tf

# Stand for the rows and the dimension of a table in constants of a template.
ROWS, DIMENSION = 7919, 6007


class Match:
    """A part of a graph that is the same as a part of a template.

    Args:
      inputs: Tensors of the template that stand for any tensor.
      shape: The shape of the table, [rows, dimension], which may be in constants.
    """

    def __init__(self, inputs: Iterable[tf.Tensor], shape: tuple[int, int]):
        self._inputs = {each.name for each in inputs}
        self._sizes = dict(zip((ROWS, DIMENSION), shape))
        self._tensors: dict[str, tf.Tensor] = {}
        self._gates: set[tf.Operation] = set()

    def __getitem__(self, of_template: tf.Tensor) -> tf.Tensor:
        return self._tensors[of_template.name]

    def extend(self, of_template: tf.Tensor, tensor: tf.Tensor) -> bool:
        """Returns whether `tensor` is computed like `of_template`; if so, remembers its part."""
        before = dict(self._tensors)
        if self._is_same(of_template, tensor):
            return True
        self._tensors = before
        return False

    def is_awaited(self, waiting: dict[tf.Operation, list[tf.Operation]]) -> bool:
        """Returns whether an operation waits for the part without taking a value of it.

        `waiting` is the result of `operations.waiting` for the graph.
        """
        return any(op not in self._gates for name, tensor in self._tensors.items()
                   if name not in self._inputs for op in waiting.get(tensor.op, ()))

    def _is_same(self, of_template: tf.Tensor, tensor: tf.Tensor) -> bool:
        if of_template.op.type != "Identity" and _is_gate(tensor.op):
            self._gates.update(tensor.op.control_inputs)
            tensor = tensor.op.inputs[0]
        known = self._tensors.get(of_template.name)
        if known is not None:
            return known is tensor
        if of_template.dtype != tensor.dtype:
            return False
        op, other = of_template.op, tensor.op
        if of_template.name not in self._inputs and not (
                op.type == other.type and of_template.value_index == tensor.value_index and
                len(op.inputs) == len(other.inputs) and not other.control_inputs and
                self._has_same_attributes(op, other) and
                all(map(self._is_same, op.inputs, other.inputs))):
            return False
        self._tensors[of_template.name] = tensor
        return True

    def _has_same_attributes(self, op: tf.Operation, other: tf.Operation) -> bool:
        if op.type == "Const":
            return self._is_same_constant(tf.get_static_value(op.outputs[0]),
                                          tf.get_static_value(other.outputs[0]))
        return all(op.get_attr(name) == other.get_attr(name) for name in _attributes(op))

    def _is_same_constant(self, value: np.ndarray, other: np.ndarray) -> bool:
        if value.shape != other.shape:
            return False
        return all(self._sizes.get(one, one) == another for one, another in
                   zip(value.ravel().tolist(), other.ravel().tolist()))


def _is_gate(op: tf.Operation) -> bool:
    """Returns whether an optimizer's `gate_gradients` made the operation.

    One gradient of an operation waits for the others, which has no effect on its value.
    """
    return op.type == "Identity" and bool(op.control_inputs) and all(
        each.type == "NoOp" and op.inputs[0].op in each.control_inputs
        for each in op.control_inputs)


_NAMES: dict[str, tuple[str, ...]] = {}


def _attributes(op: tf.Operation) -> tuple[str, ...]:
    """Returns the names of an operation's attributes that are no dtypes."""
    if op.type not in _NAMES:
        _NAMES[op.type] = tuple(
            each.name for each in op.op_def.attr
            if each.type in ("int", "bool", "float", "string") and
            each.name not in ("container", "shared_name"))
    return _NAMES[op.type]
