"""Ancestry: the operations of a graph that run before another one."""

from __future__ import annotations

import tensorflow as tf


def of(end: tf.Operation | tf.Tensor) -> set[tf.Operation]:
    """Returns the operation, or that of the tensor, and all that run before it."""
    found: set[tf.Operation] = set()
    open_ends = [end.op if isinstance(end, tf.Tensor) else end]
    while open_ends:
        each = open_ends.pop()
        if each not in found:
            found.add(each)
            open_ends += [tensor.op for tensor in each.inputs] + each.control_inputs
    return found


def outside(graph: tf.Graph) -> dict[tf.Operation, tf.Operation]:
    """Returns what each input of a loop's body is outside of it; nothing for another graph.

    A variable is such an input, and known outside of the body by its name.
    """
    return {inner.op: outer.op for outer, inner in getattr(graph, "captures", ())}


def variable_of(operation: tf.Operation,
                outside: dict[tf.Operation, tf.Operation]) -> tf.Operation:
    """Returns the operation that holds the variable which another one reads or changes.

    Args:
      operation: The other one; its first input is the variable.
      outside: The result of `outside` for the graph of `operation`.
    """
    holder = operation.inputs[0].op
    return outside.get(holder, holder)


def is_fed(operation: tf.Operation) -> bool:
    """Returns whether a placeholder has to be fed for the operation to run.

    The inputs of a function's graph, such as a loop's body, are placeholders that need no feed.
    """
    given = {tensor.op for tensor in getattr(operation.graph, "inputs", ())}
    return any(each.type == "Placeholder" for each in of(operation) - given)
