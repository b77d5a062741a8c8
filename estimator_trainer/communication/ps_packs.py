"""Packs of tensors that travel between a trainer and the ps in a step.

TensorFlow requests every tensor that leaves a task by its own call, and a step has two for each
variable: its value and its gradient. Here the graph of a step is changed, so that small tensors
that are ready together travel as one. The variables stay as they are.
"""

import itertools
from typing import Iterable, NamedTuple

import tensorflow as tf

from estimator_trainer.graph import operations
from estimator_trainer.patches import private_api

# Copying a larger tensor into a pack and out of it takes as long as a call.
_SMALL_BYTES = 2**18
_PACK_BYTES = 2**22
_V1_CONTROL_FLOW = {"Switch", "Merge", "Enter"}


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
        return int(self.tensor.shape.num_elements() * self.tensor.dtype.size)

    @property
    def way(self) -> tuple[str, str, str]:
        """The ends of the tensor's way, and its dtype: the same for all tensors of a pack."""
        return self.source, self.target, self.tensor.dtype.name


def send_in_packs(train_op: tf.Operation) -> None:
    """Makes small tensors of a step that no session has run travel together, to and from ps."""
    step = _Step(train_op)
    if step.has_branches:
        return  # A tensor of a branch that is not taken never comes, so its pack would not either.
    waiting = []
    for edge in step.small_edges():
        value = tf.get_static_value(edge.tensor)
        if value is None:
            waiting.append(edge)
            continue
        # A constant, such as a learning rate, is made on the device of its consumers.
        with tf.device(edge.target or edge.consumers[0].device or None):
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
    """The operations that a train op needs; `has_branches` is whether some of them may not run."""

    def __init__(self, train_op: tf.Operation):
        self._ops = operations.up_to(train_op)
        self._followers: dict[tf.Operation, list[tf.Operation]] = {}
        for op in self._ops:
            for before in operations.before(op):
                self._followers.setdefault(before, []).append(op)
        self._outside = operations.outside(train_op.graph)
        self.has_branches = any(op.type in _V1_CONTROL_FLOW for op in self._ops)

    def small_edges(self) -> list[_Edge]:
        """Returns the small tensors of known shape that leave their task."""
        return [edge for op in self._ops for tensor in op.outputs if _is_small(tensor)
                for edge in self._edges(tensor)]

    def after(self, ops: Iterable[tf.Operation]) -> set[tf.Operation]:
        """Returns the operations, and all that wait for one of them."""
        return operations.reached(ops, lambda op: self._followers.get(op, []))

    def _edges(self, tensor: tf.Tensor) -> list[_Edge]:
        source = self._ps_of(tensor.op)
        # Only variables of a ps are ready at the start of the step.
        is_bare_read = tensor.op.type == "ReadVariableOp" and not tensor.op.control_inputs
        if source and not is_bare_read:
            return []
        by_target: dict[str, list[tf.Operation]] = {}
        for op in self._followers.get(tensor.op, ()):
            if any(each is tensor for each in op.inputs):
                by_target.setdefault(self._ps_of(op), []).append(op)
        return [_Edge(tensor, consumers, source, target)
                for target, consumers in by_target.items() if bool(source) != bool(target)]

    def _ps_of(self, op: tf.Operation) -> str:
        """Returns the device of the ps that runs an operation, "" for this trainer."""
        if op.type == "ReadVariableOp":
            op = operations.variable_of(op, self._outside)
        spec = tf.DeviceSpec.from_string(op.device)
        return f"/job:ps/task:{spec.task or 0}/device:CPU:0" if spec.job == "ps" else ""


def _is_small(tensor: tf.Tensor) -> bool:
    """Returns whether a tensor is small, of known size, and of a dtype that `concat` takes."""
    return bool(tensor.shape.is_fully_defined() and
                (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool) and
                tensor.shape.num_elements() * tensor.dtype.size <= _SMALL_BYTES)


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
    with tf.device(pack[0].source or tensors[0].op.device or None):
        packed = tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], 0)
    with tf.device(pack[0].target or pack[0].consumers[0].device or None):
        parts = tf.split(packed, [tensor.shape.num_elements() for tensor in tensors])
        received = [tf.reshape(part, tensor.shape) for part, tensor in zip(parts, tensors)]
    for edge, tensor in zip(pack, received):
        _give(edge, tensor)


def _give(edge: _Edge, tensor: tf.Tensor) -> None:
    """Gives the consumers another tensor."""
    for op in set(edge.consumers):
        for index, each in enumerate(op.inputs):
            if each is edge.tensor:
                private_api.set_input(op, index, tensor)
