"""Batches of a dataset, split over replicas or marked at the end of the dataset."""

import itertools
from typing import Any, Callable, Mapping, TypeVar

import tensorflow as tf

from estimator_trainer.graph import operations

# The marks of batches, int32 scalars. For a process of an all-reduce without more data the strategy
# makes a batch of zeros, and so a mark of zero.
NO_BATCH, BATCH, LAST = 0, 1, 2
TENSORS = (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)
SPECS = (tf.TensorSpec, tf.SparseTensorSpec, tf.RaggedTensorSpec)
# TensorFlow 2.15 has no public name for the class.
NoneTensorSpec = type(tf.type_spec_from_value(None))
_Function = TypeVar("_Function", bound=Callable[..., Any])
# Autograph reads the source of a function each time, which delays the first step.
as_it_is: Callable[[_Function], _Function] = tf.autograph.experimental.do_not_convert


def split(dataset: tf.data.Dataset, num_replicas: int) -> tf.data.Dataset:
    """Splits every batch into `num_replicas` parts, whose sizes differ by at most one.

    In a graph a strategy gives replica i of n the batches i, i + n and so on, and ends when one of
    them has none left: the results of the others in that step are counted or lost by chance. The
    mean loss of an empty part is NaN, so a last batch of fewer examples than replicas joins the
    batch before.

    Batches are structures of dense, sparse or ragged tensors, the batch dimension first. Others
    stay whole: with a scalar or a tensor of unknown rank, with tensors that differ in the first
    dimension, or without examples. Reading the parts raises InvalidArgumentError if there are fewer
    examples than replicas.
    """
    spec = dataset.element_spec
    if not all(isinstance(each, SPECS) and each.shape.rank for each in tf.nest.flatten(spec)):
        return dataset
    nothing = _nothing(spec)

    @as_it_is
    def parts(batch: Any, _: tf.Tensor) -> tf.data.Dataset:
        count = _common_rows(batch)
        tf.debugging.Assert(tf.logical_or(count < 1, count >= num_replicas), [
            f"the evaluation set has fewer examples than {num_replicas} replicas"])
        is_cut = tf.cast(count > 0, tf.int64)
        cut = tf.data.Dataset.range(is_cut * num_replicas).map(as_it_is(lambda i: _part(
            batch, i * count // num_replicas, (i + 1) * count // num_replicas)))
        return cut.concatenate(tf.data.Dataset.from_tensors(batch).take(1 - is_cut))

    @as_it_is
    def hold_back(state: Any, element: Any) -> Any:
        (flat, is_held), (batch, is_batch) = state, element
        held, count = _packed(flat, spec), _common_rows(batch)
        joins = tf.reduce_all([is_held, is_batch, count > 0, count < num_replicas,
                               _common_rows(held) > 0])
        return tf.cond(
            joins, lambda: ((_flat(_concat(held, batch)), True), (nothing, False)),
            lambda: ((_flat(batch), is_batch), (held, is_held)))

    pairs = dataset.map(as_it_is(lambda *batch: (_element(batch), True)))
    # The last element, which is not a batch, releases a batch that is held back at the end.
    joined = (pairs.concatenate(tf.data.Dataset.from_tensors((nothing, False)))
              .scan((_flat(nothing), False), hold_back)
              .filter(as_it_is(lambda batch, is_batch: is_batch)))
    return joined.flat_map(parts)


def mark(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Pairs every batch, any structure, with its mark: `(batch, mark)`.

    The last batch gets the mark LAST, for which one more batch is read ahead. All others get the
    mark BATCH.
    """
    # A window, of this batch and the next one, cannot hold a batch's None.
    spec = dataset.element_spec
    is_held = [not isinstance(each, NoneTensorSpec) for each in tf.nest.flatten(spec)]
    leaves = dataset.map(as_it_is(lambda *batch: (BATCH, *itertools.compress(
        tf.nest.flatten(_element(batch)), is_held))))

    @as_it_is
    def marked(window: tf.data.Dataset, *held: tf.data.Dataset) -> tf.data.Dataset:
        is_last = tf.data.experimental.cardinality(window) < 2
        marks = tf.data.Dataset.from_tensors(tf.where(is_last, LAST, BATCH))
        return tf.data.Dataset.zip((marks, *held))

    @as_it_is
    def restored(mark: tf.Tensor, *held: Any) -> tuple[Any, tf.Tensor]:
        rest = iter(held)
        return tf.nest.pack_sequence_as(
            spec, [next(rest) if is_there else None for is_there in is_held]), mark

    return leaves.window(2, shift=1).flat_map(marked).map(restored).prefetch(1)


def is_endless(dataset: tf.data.Dataset) -> bool:
    """Returns whether the dataset is known to have no end."""
    count = tf.data.experimental.cardinality(dataset)
    if tf.executing_eagerly():
        return bool(int(count) == tf.data.INFINITE_CARDINALITY)
    try:
        try:
            with tf.compat.v1.Session() as session:
                value = session.run(count)
        except tf.errors.InvalidArgumentError:
            # The devices are in a cluster that this process has not joined yet.
            value = _evaluated_without_devices(count)
    except tf.errors.OpError:
        return False  # The dataset needs something that is not initialized yet.
    return bool(int(value) == tf.data.INFINITE_CARDINALITY)


def _evaluated_without_devices(tensor: tf.Tensor) -> Any:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(copied(tensor))


def copied(tensor: tf.Tensor, python_names: Mapping[str, str] | None = None) -> tf.Tensor:
    """Copies the graph of a tensor into the current one, without devices; returns the copy.

    Python functions that `python_names` has are called by their other name.
    """
    graph_def = tensor.graph.as_graph_def()
    for node in (*graph_def.node, *operations.in_functions(graph_def)):
        node.device = ""
        if python_names and node.op in operations.IN_PYTHON:
            token = node.attr["token"].s.decode()
            node.attr["token"].s = python_names.get(token, token).encode()
    [made] = tf.import_graph_def(graph_def, return_elements=[tensor.name])
    return made


def size(batch: Any) -> tf.Tensor:
    """Returns the number of examples in a batch, an int64 scalar, for display.

    This is the first dimension of the first tensor that has one; a batch of scalars is one example.
    """
    tensors = [tensor for tensor in tf.nest.flatten(batch) if isinstance(tensor, TENSORS)]
    having = [tensor for tensor in tensors if tensor.shape.rank]
    return _rows([*having, *tensors, tf.constant(0)][0])


def _rows(tensor: Any) -> tf.Tensor:
    """Returns the first dimension of a tensor, an int64 scalar; 1 for a scalar."""
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.nrows(tf.int64)
    shape = (tensor.dense_shape if isinstance(tensor, tf.SparseTensor)
             else tf.shape(tensor, out_type=tf.int64))
    return shape[0] if tensor.shape.rank else tf.concat([shape, [1]], 0)[0]


def _common_rows(batch: Any) -> tf.Tensor:
    """Returns the first dimension of all tensors of a batch, an int64 scalar; -1 if they differ."""
    rows = tf.stack([_rows(tensor) for tensor in tf.nest.flatten(batch)])
    return tf.where(tf.reduce_all(tf.equal(rows, rows[0])), rows[0], tf.constant(-1, tf.int64))


def _element(arguments: tuple[Any, ...]) -> Any:
    """Returns the element of a dataset from the arguments of a `map` function."""
    return arguments if len(arguments) > 1 else arguments[0]


def _flat(batch: Any) -> tuple[tf.Tensor, ...]:
    """Returns the dense tensors of a batch, because `scan` holds no ragged ones."""
    return tuple(tf.nest.flatten(batch, expand_composites=True))


def _packed(flat: tuple[tf.Tensor, ...], specs: Any) -> Any:
    """Returns the batch, of any number of examples, that `_flat` took apart."""

    def any_size(spec: Any) -> Any:
        shape = [None, *spec.shape.as_list()[1:]]
        if isinstance(spec, tf.RaggedTensorSpec):
            return tf.RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)
        return type(spec)(shape, spec.dtype)

    return tf.nest.pack_sequence_as(
        tf.nest.map_structure(any_size, specs), flat, expand_composites=True)


def _part(batch: Any, start: tf.Tensor, end: tf.Tensor) -> Any:
    def cut(tensor: Any) -> Any:
        if not isinstance(tensor, tf.SparseTensor):
            return tensor[start:end]
        shape = tensor.dense_shape
        return tf.sparse.slice(tensor, tf.concat([[start], tf.zeros_like(shape[1:])], 0),
                               tf.concat([[end - start], shape[1:]], 0))

    return tf.nest.map_structure(cut, batch)


def _concat(first: Any, second: Any) -> Any:
    return tf.nest.map_structure(
        lambda a, b: (tf.sparse.concat(0, [a, b]) if isinstance(a, tf.SparseTensor)
                      else tf.concat([a, b], 0)), first, second)


def _nothing(spec: Any) -> Any:
    """Returns a batch without examples."""

    def empty(tensor: Any) -> Any:
        shape = [0, *(length or 0 for length in tensor.shape.as_list()[1:])]
        if isinstance(tensor, tf.SparseTensorSpec):
            return tf.SparseTensor(tf.zeros([0, len(shape)], tf.int64), tf.zeros([0], tensor.dtype),
                                   shape)
        if not isinstance(tensor, tf.RaggedTensorSpec):
            return tf.zeros(shape, tensor.dtype)
        rows = tf.zeros([0, *shape[tensor.ragged_rank + 1:]], tensor.dtype)
        for _ in range(tensor.ragged_rank):
            rows = tf.RaggedTensor.from_row_splits(rows, tf.zeros([1], tensor.row_splits_dtype))
        return rows

    return tf.nest.map_structure(empty, spec)
