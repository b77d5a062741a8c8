"""The operations of a graph, in their order, and the names of its variables."""

import re
from typing import Any, Callable, Iterable

import tensorflow as tf

from estimator_trainer import errors

# A scope of the model may have such a name, too.
_PART = re.compile(r"(/part_\d+)?(/replica_\d+)?$")
_SHOWN = 10


def up_to(end: tf.Operation | tf.Tensor) -> set[tf.Operation]:
    """Returns the operation, or the tensor's, and all that run before it."""
    return reached([end.op if isinstance(end, tf.Tensor) else end], before)


def before(operation: tf.Operation) -> list[tf.Operation]:
    """Returns the operations that an operation waits for."""
    return [*(tensor.op for tensor in operation.inputs), *operation.control_inputs]


def reached(ends: Iterable[tf.Operation],
            following: Callable[[tf.Operation], list[tf.Operation]]) -> set[tf.Operation]:
    """Returns the operations, and all that follow one of them in the direction of `following`."""
    found: set[tf.Operation] = set()
    open_ends = list(ends)
    while open_ends:
        each = open_ends.pop()
        if each not in found:
            found.add(each)
            open_ends += following(each)
    return found


def outside(graph: tf.Graph) -> dict[tf.Operation, tf.Operation]:
    """Returns the outer operation of each input of a loop's body; nothing for another graph.

    A variable is such an input, and has its name outside of the body.
    """
    return {inner.op: outer.op for outer, inner in getattr(graph, "captures", ())}


def variable_of(operation: tf.Operation, outside: dict[tf.Operation, tf.Operation]) -> tf.Operation:
    """Returns the operation of the variable that `operation`, by its first input, reads or changes.

    `outside` is the result of that function for the graph of `operation`.
    """
    holder = operation.inputs[0].op
    return outside.get(holder, holder)


def is_fed(operation: tf.Operation) -> bool:
    """Returns whether a placeholder has to be fed for the operation to run.

    The inputs of a function's graph, such as a loop's body, are placeholders that need no feed.
    """
    inputs = {tensor.op for tensor in getattr(operation.graph, "inputs", ())}
    return any(each.type == "Placeholder" for each in up_to(operation) - inputs)


def saved_name(variable: Any) -> str:
    """Returns the name under which a checkpoint holds a variable; its parts share the name."""
    return _PART.sub("", variable.name.partition(":")[0])


def is_part(variable: Any) -> bool:
    """Returns whether a variable is a part of a partitioned one."""
    return bool(re.search(r"/part_\d+(/replica_\d+)?:", variable.name))


def some(names: Iterable[str]) -> str:
    """Returns some of the names, for a message."""
    found = sorted(names)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def near(name: str, names: Iterable[str]) -> str:
    """Returns a sentence with the variables that the user may have meant."""
    found = sorted(names)
    # A pattern may have characters that no name has.
    plain = re.sub(r"[^\w/]+", "", name)
    alike = errors.near_match(plain, found) or errors.near_match(
        plain, {each.rpartition("/")[0] for each in found} - {""})
    return f"{alike} The variables: {some(found)}."
