"""The operations of a graph that run before another one."""

from __future__ import annotations

import tensorflow as tf


def of(end: tf.Operation | tf.Tensor) -> set[tf.Operation]:
    """Returns the operation, or the tensor's, and all that run before it."""
    found: set[tf.Operation] = set()
    open_ends = [end.op if isinstance(end, tf.Tensor) else end]
    while open_ends:
        each = open_ends.pop()
        if each not in found:
            found.add(each)
            open_ends += [tensor.op for tensor in each.inputs] + each.control_inputs
    return found


def outside(graph: tf.Graph) -> dict[tf.Operation, tf.Operation]:
    """Returns the outer operation of each input of a loop's body; nothing for another graph.

    A variable is such an input, and has its name outside of the body.
    """
    return {inner.op: outer.op for outer, inner in getattr(graph, "captures", ())}


def variable_of(operation: tf.Operation,
                outside: dict[tf.Operation, tf.Operation]) -> tf.Operation:
    """Returns the operation of the variable that `operation`, by its first input, reads or changes.

    Args:
      operation: The operation.
      outside: The result of `outside` for its graph.
    """
    holder = operation.inputs[0].op
    return outside.get(holder, holder)


def is_fed(operation: tf.Operation) -> bool:
    """Returns whether a placeholder has to be fed for the operation to run.

    The inputs of a function's graph, such as a loop's body, are placeholders that need no feed.
    """
    inputs = {tensor.op for tensor in getattr(operation.graph, "inputs", ())}
    return any(each.type == "Placeholder" for each in of(operation) - inputs)
