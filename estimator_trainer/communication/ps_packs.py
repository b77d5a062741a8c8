"""Packs of tensors that travel between a trainer and the ps in a step.

TensorFlow requests every tensor that leaves a task by its own call. A step has two for each
variable, its value and its gradient, and four for each table of an embedding: the ids, their rows,
and the ids and rows of the gradient. Here the graph of a step is changed, so that small tensors
that are ready together travel as one. The variables stay as they are.

A tensor of a batch has a first dimension that only the step knows. So a pack begins with the sizes
of its tensors, in the dtype of the pack.
"""

import itertools
import math
from typing import Iterable, NamedTuple

import tensorflow as tf

from estimator_trainer.graph import operations

# Copying a larger tensor into a pack and out of it takes as long as a call.
_SMALL_BYTES = 2**18
_SMALL_ROW_BYTES = 2**10
_PACK_BYTES = 2**22
# In place of a dimension that the step alone knows. gRPC takes no message of 2 GiB: a pack has so
# many bytes if each of its tensors has a million rows.
_USUAL_SIZE = 2**11
_LOOKUPS = {"ResourceGather", "ResourceGatherNd", "Gather", "GatherV2", "GatherNd"}


class _Edge(NamedTuple):
    """A tensor, and its consumers in another task.

    `source` is the device of the ps that computes the tensor, and `target` of the ps that has the
    consumers; "" is this trainer.
    """

    tensor: tf.Tensor
    consumers: list[tf.Operation]
    source: str
    target: str

    @property
    def bytes(self) -> int:
        return _bytes(self.tensor)

    @property
    def way(self) -> tuple[str, str, str]:
        """The ends of the tensor's way, and its dtype: the same for all tensors of a pack."""
        return self.source, self.target, self.tensor.dtype.base_dtype.name


def send_in_packs(train_op: tf.Operation) -> None:
    """Makes small tensors of a step that no session has run travel together, to and from ps."""
    step = _Step(train_op)
    waiting = []
    for edge in step.small_edges():
        value = tf.get_static_value(edge.tensor)
        if value is None:
            waiting.append(edge)
            continue
        # A constant, such as a learning rate, is made on the device of its consumers. What a
        # consumer has to wait for may be an input of the constant alone.
        with (tf.device(edge.target or edge.consumers[0].device or None),
              tf.control_dependencies(edge.tensor.op.control_inputs)):
            _give(edge, tf.constant(value, edge.tensor.dtype))
    while waiting:
        # A tensor that is computed after another one has arrived cannot travel with it.
        late = step.after(op for edge in waiting for op in edge.consumers)
        ready = sorted((edge for edge in waiting if edge.tensor.op not in late),
                       key=lambda edge: (edge.way, edge.tensor.name))
        for _, edges_of_way in itertools.groupby(ready, key=lambda edge: edge.way):
            for pack in _packs(edges_of_way):
                _send_together(pack)
        waiting = [edge for edge in waiting if edge.tensor.op in late] if ready else []


class _Step:
    """The operations that a train op needs."""

    def __init__(self, train_op: tf.Operation):
        self._ops = operations.up_to(train_op)
        self._followers = operations.followers(self._ops)
        self._outside = operations.outside(train_op.graph)
        self._branched = operations.branched(self._ops, self._followers)

    def small_edges(self) -> list[_Edge]:
        """Returns the small tensors that leave their task in each step.

        A tensor of a branch that is not taken never comes, so its pack would not either.
        """
        return [edge for op in self._ops if op not in self._branched
                for tensor in op.outputs if _is_small(tensor) for edge in self._edges(tensor)]

    def after(self, ops: Iterable[tf.Operation]) -> set[tf.Operation]:
        """Returns the operations, and all that wait for one of them."""
        return operations.reached(ops, lambda op: self._followers.get(op, []))

    def _edges(self, tensor: tf.Tensor) -> list[_Edge]:
        source = self._ps_of(tensor.op)
        if source and not _is_soon_ready(tensor.op):
            return []
        by_target: dict[str, list[tf.Operation]] = {}
        for op in self._followers.get(tensor.op, ()):
            if any(each is tensor for each in op.inputs) and op not in self._branched:
                by_target.setdefault(self._ps_of(op), []).append(op)
        return [_Edge(tensor, consumers, source, target)
                for target, consumers in by_target.items() if bool(source) != bool(target)]

    def _ps_of(self, op: tf.Operation) -> str:
        """Returns the device of the ps that runs an operation, "" for this trainer."""
        if op.inputs and op.inputs[0].dtype == tf.resource:
            op = operations.variable_of(op, self._outside)
        spec = tf.DeviceSpec.from_string(op.device)
        return f"/job:ps/task:{spec.task or 0}/device:CPU:0" if spec.job == "ps" else ""


def _is_soon_ready(op: tf.Operation) -> bool:
    """Returns whether a ps has the result at the start of the step, or when the ids have come."""
    is_read = op.type == "ReadVariableOp" or (
        op.type == "Identity" and op.inputs[0].op.type in operations.REFERENCE_VARIABLES)
    return (is_read or op.type in _LOOKUPS) and not op.control_inputs


def _is_small(tensor: tf.Tensor) -> bool:
    """Returns whether a tensor is small, and of a dtype that `concat` and `bitcast` take."""
    dtype, shape = tensor.dtype.base_dtype, tensor.shape
    if not (dtype.is_floating or dtype.is_integer or dtype.is_bool) or shape.rank is None:
        return False
    if shape.is_fully_defined():
        return _bytes(tensor) <= _SMALL_BYTES
    row_bytes = math.prod(filter(None, shape.as_list())) * dtype.size
    return not dtype.is_bool and 0 not in shape.as_list() and row_bytes <= _SMALL_ROW_BYTES


def _bytes(tensor: tf.Tensor) -> int:
    sizes = [_USUAL_SIZE if size is None else size for size in tensor.shape.as_list()]
    return int(math.prod(sizes) * tensor.dtype.size)


def _packs(edges: Iterable[_Edge]) -> list[list[_Edge]]:
    """Returns the packs of at least two tensors, in order."""
    packs: list[list[_Edge]] = [[]]
    for edge in edges:
        if sum(each.bytes for each in packs[-1]) + edge.bytes > _PACK_BYTES:
            packs.append([])
        packs[-1].append(edge)
    return [pack for pack in packs if len(pack) > 1]


def _send_together(pack: list[_Edge]) -> None:
    tensors = [edge.tensor for edge in pack]
    is_known = all(tensor.shape.is_fully_defined() for tensor in tensors)
    with tf.device(pack[0].source or tensors[0].op.device or None):
        flat = [tf.reshape(tensor, [-1]) for tensor in tensors]
        packed = tf.concat(flat if is_known else [_sizes(tensors), *flat], 0)
    with tf.device(pack[0].target or pack[0].consumers[0].device or None):
        if is_known:
            parts = tf.split(packed, [tensor.shape.num_elements() for tensor in tensors])
            received = [tf.reshape(part, tensor.shape) for part, tensor in zip(parts, tensors)]
        else:
            received = _unpacked(packed, tensors)
    for edge, tensor in zip(pack, received):
        _give(edge, tensor)


def _sizes(tensors: list[tf.Tensor]) -> tf.Tensor:
    """Returns the numbers of elements, and shapes that no size completes, in the pack's dtype."""
    dtype = tensors[0].dtype.base_dtype
    integer = _integer(dtype)
    sizes = tf.stack([tf.size(tensor, integer) for tensor in tensors])
    shapes = [tf.shape(tensor, integer) for tensor in tensors if _needs_shape(tensor)]
    return tf.reshape(tf.bitcast(tf.concat([sizes, *shapes], 0), dtype), [-1])


def _unpacked(packed: tf.Tensor, tensors: list[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the tensors of a pack that begins with their `_sizes`."""
    dtype = packed.dtype
    integer = _integer(dtype)
    ranks = [tensor.shape.rank for tensor in tensors if _needs_shape(tensor)]
    per_number = integer.size // dtype.size
    head, body = tf.split(packed, [(len(tensors) + sum(ranks)) * per_number, -1])
    numbers = tf.bitcast(tf.reshape(head, [-1, per_number]) if per_number > 1 else head, integer)
    sizes, *shapes = tf.split(numbers, [len(tensors), *ranks])
    parts = tf.split(body, sizes, num=len(tensors))
    received = []
    for part, tensor in zip(parts, tensors):
        shape = shapes.pop(0) if _needs_shape(tensor) else [
            -1 if size is None else size for size in tensor.shape.as_list()]
        received.append(tf.reshape(part, shape))
    return received


def _needs_shape(tensor: tf.Tensor) -> bool:
    return tensor.shape.as_list().count(None) > 1


def _integer(dtype: tf.DType) -> tf.DType:
    """Returns the dtype of sizes that can be taken for numbers of `dtype`."""
    return tf.int64 if dtype.size == 8 else tf.int32


def _give(edge: _Edge, tensor: tf.Tensor) -> None:
    """Gives the consumers another tensor."""
    for op in set(edge.consumers):
        operations.replace_input(op, edge.tensor, tensor)
