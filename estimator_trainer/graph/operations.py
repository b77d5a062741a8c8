"""The operations of a graph, in their order, and the names of its variables."""

import re
from typing import Any, Callable, Iterable, Iterator, Sequence

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.patches import private_api

REFERENCE_VARIABLES = {"Variable", "VariableV2"}
IN_PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}
# Begin and end what a branch of TensorFlow 1's control flow leaves out; a loop ends with an exit.
_SWITCHES, _MERGES = {"Switch", "RefSwitch"}, {"Merge", "RefMerge", "Exit", "RefExit"}
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


def is_movable(operation: tf.Operation) -> bool:
    """Returns whether a copy of the operation gives the same values wherever it runs.

    The values of a variable that is read without an order may be those before or after an update.
    """
    is_pure = not operation.op_def.is_stateful or operation.type == "ReadVariableOp"
    return (is_pure and operation.type != "Placeholder" and not operation.control_inputs and
            not any(value.HasField("func") for value in operation.node_def.attr.values()))


def movable_before(ends: Iterable[tf.Operation],
                   kept: Iterable[tf.Operation]) -> set[tf.Operation]:
    """Returns the movable operations of a graph that only `ends`, and they themselves, depend on.

    `kept` are operations that others need too.
    """
    wanted, found = set(ends), set[tf.Operation]()
    if not wanted:
        return found
    operations = next(iter(wanted)).graph.get_operations()
    needed = {each for operation in operations for each in operation.control_inputs} | set(kept)
    for operation in reversed(operations):
        users = {user for tensor in operation.outputs for user in tensor.consumers()}
        is_unshared = operation in wanted or bool(users) and users <= found
        if is_unshared and operation not in needed and is_movable(operation):
            found.add(operation)
    return found


def copies(tensors: Sequence[tf.Tensor], operations: set[tf.Operation]) -> list[tf.Tensor]:
    """Copies operations of another graph into the current one; returns its tensors.

    Tensors of other operations are passed as they are, which a function's graph can take.
    """
    made: dict[tf.Operation, list[tf.Tensor]] = {}

    def copied(tensor: tf.Tensor) -> tf.Tensor:
        return made[tensor.op][tensor.value_index] if tensor.op in made else tensor

    graph = tf.compat.v1.get_default_graph()
    source = next(iter(operations)).graph.get_operations() if operations else ()
    for each in source:
        if each in operations:
            attributes = {name: value for name, value in each.node_def.attr.items()
                          if not name.startswith("_")}
            with tf.device(each.device):
                made[each] = graph.create_op(
                    each.type, [copied(tensor) for tensor in each.inputs],
                    [tensor.dtype for tensor in each.outputs], attrs=attributes,
                    name=each.name.rpartition("/")[2], op_def=each.op_def).outputs
    return [copied(tensor) for tensor in tensors]


def replace_input(operation: tf.Operation, old: tf.Tensor, new: tf.Tensor) -> None:
    """Gives an operation the tensor `new` wherever it takes `old`.

    No session may have run the graph before.
    """
    for index, each in enumerate(operation.inputs):
        if each is old:
            private_api.set_input(operation, index, new)


def followers(ops: Iterable[tf.Operation],
              waits_for: Callable[[tf.Operation], Iterable[tf.Operation]] = before
              ) -> dict[tf.Operation, list[tf.Operation]]:
    """Returns, of some operations, those that wait for another one."""
    found: dict[tf.Operation, list[tf.Operation]] = {}
    for op in ops:
        for each in waits_for(op):
            found.setdefault(each, []).append(op)
    return found


def waiting(graph: tf.Graph) -> dict[tf.Operation, list[tf.Operation]]:
    """Returns, of a graph's operations, those that wait for another one by a control input."""
    return followers(graph.get_operations(), lambda op: op.control_inputs)


def in_functions(definition: tf.compat.v1.GraphDef) -> Iterator[tf.compat.v1.NodeDef]:
    """Yields the nodes of all functions of a graph, such as those of a dataset."""
    for function in definition.library.function:
        yield from function.node_def


def branched(ops: Iterable[tf.Operation],
             followers_of: dict[tf.Operation, list[tf.Operation]]) -> set[tf.Operation]:
    """Returns the operations of branches and loops of TensorFlow 1's control flow.

    A step may leave out such an operation, or repeat it. Gradients of a branch are included, which
    are in no branch by their context. `followers_of` is the result of `followers` for `ops`.
    """
    def next_in_branch(op: tf.Operation) -> list[tf.Operation]:
        return [each for each in followers_of.get(op, ()) if each.type not in _MERGES]

    ops = list(ops)
    inside = {op for op in ops if private_api.is_in_branch(op)}
    return inside | reached((op for op in ops if op.type in _SWITCHES), next_in_branch)


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
