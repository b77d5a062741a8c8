"""Finds lookups in tables of embeddings in a graph of TensorFlow's own functions."""

from __future__ import annotations

import functools
from typing import Iterator, NamedTuple

import tensorflow as tf

from estimator_trainer.embedding import template
from estimator_trainer.graph import operations

_COMBINERS = {"SparseSegmentSum": "sum", "SparseSegmentMean": "mean", "SparseSegmentSqrtN": "sqrtn"}
_GRADIENTS = {f"{kind}Grad" for kind in _COMBINERS}
_TRAINER, _PS = "/job:worker/task:0", "/job:ps/task:0"


class Gradient(NamedTuple):
    """The gradient of a table, as `tf.gradients` returns it: IndexedSlices.

    Attributes:
      output: The gradient of the lookup's output, [batch, dimension].
      values: Its rows, [ids, dimension].
      indices: The ids of the rows, each once, [ids].
    """

    output: tf.Tensor
    values: tf.Tensor
    indices: tf.Tensor


class Lookup(NamedTuple):
    """A call of `tf.nn.safe_embedding_lookup_sparse` in a step.

    Attributes:
      table: The table's resource.
      variable: The operation that makes the resource, which may be outside of a loop.
      indices: Those of the ids, int64 [ids, 2].
      ids: int64 or int32 [ids].
      dense_shape: int64 [2].
      output: [batch, dimension].
      combiner: How the rows of an example become one: "sum", "mean" or "sqrtn".
      gradient: None if the step has none.
    """

    table: tf.Tensor
    variable: tf.Operation
    indices: tf.Tensor
    ids: tf.Tensor
    dense_shape: tf.Tensor
    output: tf.Tensor
    combiner: str
    gradient: Gradient | None


class _Template(NamedTuple):
    """The graph of a lookup and of its gradient."""

    table: tf.Tensor
    indices: tf.Tensor
    ids: tf.Tensor
    dense_shape: tf.Tensor
    output: tf.Tensor
    output_gradient: tf.Tensor
    gradient: tf.IndexedSlices


@functools.lru_cache(maxsize=None)
def _template(combiner: str, dtype: tf.DType, ids_dtype: tf.DType) -> _Template:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), tf.device(_TRAINER):
        with tf.device(_PS):
            table = v1.get_variable("table", [template.ROWS, template.DIMENSION], dtype,
                                    use_resource=True)
        indices = v1.placeholder(tf.int64, [None, 2])
        ids = v1.placeholder(ids_dtype, [None])
        dense_shape = v1.placeholder(tf.int64, [2])
        output = v1.nn.safe_embedding_lookup_sparse(
            table, tf.SparseTensor(indices, ids, dense_shape), combiner=combiner)
        fed = v1.placeholder(dtype, [None, template.DIMENSION])
        [gradient] = tf.gradients(output, [table.handle], fed)
        [output_gradient] = fed.op.outputs[0].consumers()[0].outputs
    return _Template(table.handle, indices, ids, dense_shape, output, output_gradient, gradient)


def find(op: tf.Operation, outside: dict[tf.Operation, tf.Operation],
         waiting: dict[tf.Operation, list[tf.Operation]]) -> Lookup | None:
    """Returns the lookup that sums up rows by `op`; None if the graph is another one.

    A lookup that other operations wait for is left alone: they may change the table afterwards.
    `outside` and `waiting` are the results of these functions of `operations` for the graph of
    `op`.
    """
    if op.type not in _COMBINERS:
        return None
    combiner, gather = _COMBINERS[op.type], behind(op.inputs[0], "Identity")
    if gather.type != "ResourceGather":
        return None
    variable = operations.variable_of(gather, outside)
    shape = tf.TensorShape(variable.get_attr("shape")) if variable.type == "VarHandleOp" else None
    if shape is None or shape.rank != 2 or not shape.is_fully_defined():
        return None
    of_template = _template(combiner, gather.outputs[0].dtype, gather.inputs[1].dtype)
    match = template.Match(
        (of_template.table, of_template.indices, of_template.ids, of_template.dense_shape,
         of_template.output_gradient), tuple(shape.as_list()))
    for output in _ends(op, of_template.output.op.type):
        if match.extend(of_template.output, output):
            has_gradient = any(each.type in _GRADIENTS for each in op.inputs[1].consumers())
            gradient = _gradient(match, of_template) if has_gradient else None
            if has_gradient and gradient is None or match.is_awaited(waiting):
                return None
            return Lookup(match[of_template.table], variable, match[of_template.indices],
                          match[of_template.ids], match[of_template.dense_shape], output, combiner,
                          gradient)
    return None


def behind(tensor: tf.Tensor, kind: str) -> tf.Operation:
    """Returns the operation that makes a tensor, before any of type `kind` between them."""
    while tensor.op.type == kind:
        tensor = tensor.op.inputs[0]
    return tensor.op


def _ends(op: tf.Operation, kind: str, most: int = 3) -> Iterator[tf.Tensor]:
    """Yields the outputs of operations of a kind that are at most `most` operations later."""
    for follower in op.outputs[0].consumers():
        if follower.type == kind:
            yield follower.outputs[0]
        if most > 1 and follower.outputs:
            yield from _ends(follower, kind, most - 1)


def _gradient(match: template.Match, of_template: _Template) -> Gradient | None:
    """Returns the gradient of a lookup that was found, or None."""
    values, indices = of_template.gradient.values, of_template.gradient.indices
    summed = next(op for op in operations.up_to(values) if op.type in _GRADIENTS)
    positions = summed.inputs[1]
    unique = match[positions.op.outputs[0]]
    ids = [each.outputs[0] for each in unique.consumers()
           if each.type == indices.op.type and match.extend(indices, each.outputs[0])]
    sums = [each for each in match[positions].consumers() if each.type in _GRADIENTS]
    if len(sums) != 1:
        return None  # One for each loss.
    rows = [each.outputs[0] for each in sums[0].outputs[0].consumers()
            if each.type == values.op.type and match.extend(values, each.outputs[0])]
    if len(ids) != 1 or len(rows) != 1:
        return None
    return Gradient(match[of_template.output_gradient], rows[0], ids[0])
