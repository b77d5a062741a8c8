"""A replay computes in a dataset's `map` what a graph computes from the elements of iterators."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

import tensorflow as tf

# Types of ops begin so that keep their place in the input, are fed, or live in no function.
_IN_SESSION = ("Iterator", "OneShotIterator", "Queue", "Reader", "Placeholder", "Variable", "Enter",
               "Barrier", "Stage", "Unstage")
_IN_PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


class Impossible(Exception):
    """The reason why tensors cannot be computed in a dataset's `map`."""


class Replay:
    """What a graph computes from some tensors, to be computed again from others.

    The operations are copied, so the user's code is called once. Tables are not: the copies use
    those of the graph.
    """

    def __init__(self, result: Any, pulled: Sequence[tf.Tensor]):
        """Looks at the current graph.

        Args:
          result: The structure of tensors to compute.
          pulled: The tensors to compute them from.

        Raises:
          Impossible: if the operations between the two cannot be copied.
        """
        self._result = tf.nest.map_structure(_as_tensor, result)
        self._pulled = pulled
        self._wanted = tf.nest.flatten(self._result, expand_composites=True)
        self._operations, self._resources = _between(self._pulled, self._wanted)
        graph = tf.compat.v1.get_default_graph()
        self._definition = _definition(graph, self._operations)

    @property
    def calls_python(self) -> bool:
        """Whether an operation calls a Python function."""
        return any(each.type in _IN_PYTHON for each in self._operations)

    def __call__(self, elements: Any) -> Any:
        """Returns the result from `elements`, which are `pulled` when flattened, in this graph."""
        given = dict(zip((tensor.name for tensor in self._pulled),
                         tf.nest.flatten(elements, expand_composites=True)))
        if self._operations:
            given |= self._copied(given)
        tensors = [given[tensor.name] for tensor in self._wanted]
        for tensor, wanted in zip(tensors, self._wanted):
            # The user may have set a shape by hand.
            tensor.set_shape(wanted.shape)
        return tf.nest.pack_sequence_as(self._result, tensors, expand_composites=True)

    def _copied(self, given: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        names = [tensor.name for tensor in self._wanted if tensor.name not in given]
        # What is of the graph around becomes an input of the function.
        resources = {tensor.name: tf.identity(tensor) for tensor in self._resources}
        used = {name for node in self._definition.node for name in map(_with_output, node.input)}
        tensors = tf.import_graph_def(
            self._definition, name="input_fn", return_elements=names,
            input_map={name: tensor for name, tensor in {**given, **resources}.items()
                       if name in used})
        return dict(zip(names, tensors))


def _as_tensor(value: Any) -> Any:
    is_composite = isinstance(value, (tf.SparseTensor, tf.RaggedTensor))
    return value if is_composite else tf.convert_to_tensor(value)


def _between(given: Sequence[tf.Tensor], wanted: Iterable[tf.Tensor]
             ) -> tuple[list[tf.Operation], list[tf.Tensor]]:
    """Returns the operations that make `wanted` from `given`, and the resources they use."""
    cut = {tensor.ref() for tensor in given}
    found: dict[tf.Operation, None] = {}
    resources: dict[str, tf.Tensor] = {}
    open_ends = [tensor.op for tensor in wanted if tensor.ref() not in cut]
    # An operation that only waits for an element has it.
    sources = {tensor.op for tensor in given}
    while open_ends:
        each = open_ends.pop()
        if each in found:
            continue
        if each.type.startswith(_IN_SESSION):
            raise Impossible(f"they depend on {each.name!r}, of type {each.type}")
        found[each] = None
        open_ends += [control for control in each.control_inputs if control not in sources]
        for tensor in each.inputs:
            if tensor.op.type == "VarHandleOp":
                # It may lie on a ps, out of a dataset's reach.
                raise Impossible(f"they depend on {tensor.op.name!r}, a variable")
            if tensor.dtype == tf.resource and not tensor.op.inputs:
                resources[tensor.name] = tensor
            elif tensor.ref() not in cut:
                open_ends.append(tensor.op)
    return list(found), list(resources.values())


def _definition(graph: tf.Graph, operations: list[tf.Operation]) -> tf.compat.v1.GraphDef:
    """Returns the operations, and the functions of their graph, without names of what is around."""
    if not operations:
        return tf.compat.v1.GraphDef()
    whole = graph.as_graph_def()
    names = {operation.name for operation in operations}
    definition = tf.compat.v1.GraphDef(versions=whole.versions, library=whole.library)
    for node in whole.node:
        if node.name in names:
            copy = definition.node.add()
            copy.CopyFrom(node)
            copy.device = ""
            copy.attr.pop("_class", None)
            del copy.input[:]
            copy.input.extend(name for name in node.input
                              if not name.startswith("^") or name[1:] in names)
    return definition


def _with_output(name: str) -> str:
    """Returns the name of a tensor from that of an input, which leaves out the output 0."""
    return name if ":" in name or name.startswith("^") else f"{name}:0"
