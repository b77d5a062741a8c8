"""Ancestry: the operations of a graph that run before another one."""

from __future__ import annotations

import tensorflow as tf


def of(operation: tf.Operation) -> set[tf.Operation]:
    """Returns the operation and all that run before it."""
    found: set[tf.Operation] = set()
    open_ends = [operation]
    while open_ends:
        each = open_ends.pop()
        if each not in found:
            found.add(each)
            open_ends += [tensor.op for tensor in each.inputs] + each.control_inputs
    return found


def is_fed(operation: tf.Operation) -> bool:
    """Returns whether a placeholder has to be fed for the operation to run.

    The inputs of a function's graph, such as a loop's body, are placeholders that need no feed.
    """
    given = {tensor.op for tensor in getattr(operation.graph, "inputs", ())}
    return any(each.type == "Placeholder" for each in of(operation) - given)
