"""Batches: what a dataset yields, split over replicas or marked where the dataset ends."""

from __future__ import annotations

import itertools
from typing import Any, Callable, TypeVar
import warnings

import tensorflow as tf

_BATCH = "batch"
_KINDS = (tf.TensorSpec, tf.SparseTensorSpec, tf.RaggedTensorSpec)
_Function = TypeVar("_Function", bound=Callable[..., Any])
# Reading the source of a function anew, to find no `if` on tensors in it, delays the first step.
as_it_is: Callable[[_Function], _Function] = tf.autograph.experimental.do_not_convert


def split(dataset: tf.data.Dataset, num_replicas: int) -> tf.data.Dataset:
    """Splits every batch into `num_replicas` parts, whose sizes differ by one at most.

    Left to itself, a strategy in a graph gives replica i of n the batches i, i + n and so on, and
    ends when a replica has none left: what the others compute in that step is counted or lost by
    chance. No part may be empty either, since the mean loss of no examples is NaN; so a last
    batch of fewer examples than replicas joins the one before.

    Args:
      dataset: Batches: a structure of dense, sparse or ragged tensors, the batch dimension first.
      num_replicas: 2 or more.

    Returns:
      The parts in order, `num_replicas` a batch; reading them raises InvalidArgumentError if
      there are fewer examples than replicas.
    """

    def parts(wrapped: dict[str, Any]) -> tf.data.Dataset:
        count = size(wrapped)
        tf.debugging.Assert(count >= num_replicas, [
            f"the evaluation set has fewer examples than {num_replicas} replicas"])
        return tf.data.Dataset.range(num_replicas).map(
            lambda i: _part(wrapped, i * count // num_replicas, (i + 1) * count // num_replicas))

    def hold_back(held: Any, batch: Any) -> Any:
        is_small = tf.logical_and(size(batch) > 0, size(batch) < num_replicas)
        return tf.cond(is_small, lambda: (
            _flat(_concat(_packed(held, specs), batch)), _nothing(specs)),
                       lambda: (_flat(batch), _packed(held, specs)))

    wrapped = _wrap(dataset)
    specs = wrapped.element_spec
    nothing = _nothing(specs)
    # What is held back at the end comes out when the empty batch goes in.
    joined = (wrapped.concatenate(tf.data.Dataset.from_tensors(nothing))
              .scan(_flat(nothing), hold_back).filter(lambda batch: size(batch) > 0))
    return joined.flat_map(parts).map(lambda part: part[_BATCH])


def mark_last(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Pairs every batch with whether it is the last: a bool scalar, False throughout if unknown.

    It is unknown where a batch holds other than dense, sparse and ragged tensors of known rank.

    Returns:
      Elements `(batch, is_last)`; one batch more than before is read ahead, if there is an end.
    """
    if is_endless(dataset):
        return tf.data.Dataset.zip((dataset, tf.data.Dataset.from_tensors(False).repeat()))
    wrapped = _wrap(dataset)
    specs = wrapped.element_spec
    if not foretells_its_end(dataset):
        return wrapped.map(lambda batch: (batch[_BATCH], False))

    @as_it_is
    def hold_back(held: Any, batch: Any) -> Any:
        return _flat(batch), (_packed(held, specs), tf.equal(size(batch), 0))

    @as_it_is
    def restore_shapes(batch: Any, is_last: tf.Tensor) -> Any:
        for tensor, spec in zip(tf.nest.flatten(batch), tf.nest.flatten(specs)):
            if isinstance(tensor, tf.Tensor):
                tensor.set_shape(spec.shape)
        # The specs set those of other tensors.
        packed = tf.nest.pack_sequence_as(specs, _flat(batch), expand_composites=True)
        return packed[_BATCH], is_last

    nothing = _nothing(specs)
    return (wrapped.concatenate(tf.data.Dataset.from_tensors(nothing))
            .scan(_flat(nothing), hold_back).skip(1).map(restore_shapes).prefetch(1))


def foretells_its_end(dataset: tf.data.Dataset) -> bool:
    """Returns whether `mark_last` can tell the last batch, or there is no end."""
    return is_endless(dataset) or all(
        isinstance(spec, _KINDS) and spec.shape.rank
        for spec in tf.nest.flatten(dataset.element_spec))


def is_endless(dataset: tf.data.Dataset) -> bool:
    """Returns whether the dataset is known to have no end."""
    count = tf.data.experimental.cardinality(dataset)
    if tf.executing_eagerly():
        return bool(int(count) == tf.data.INFINITE_CARDINALITY)
    try:
        with tf.compat.v1.Session() as session:
            return bool(int(session.run(count)) == tf.data.INFINITE_CARDINALITY)
    except tf.errors.InvalidArgumentError:
        # The devices are those of a cluster, which this process has not joined yet.
        return _is_endless_elsewhere(count)
    except tf.errors.OpError:
        return False  # It needs what is not made yet.


def _is_endless_elsewhere(count: tf.Tensor) -> bool:
    """Returns whether a cardinality is infinite, by a copy of its graph that has no devices."""
    graph_def = count.graph.as_graph_def()
    bodies = [function.node_def for function in graph_def.library.function]
    for node in itertools.chain(graph_def.node, *bodies):
        node.device = ""
    try:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            [copied] = tf.import_graph_def(graph_def, return_elements=[count.name])
            return bool(int(session.run(copied)) == tf.data.INFINITE_CARDINALITY)
    except tf.errors.OpError:
        return False


def untuned(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Gives each parallel stage its threads from the start, unless the user's options say else.

    The thread that would tune them sleeps 10 ms, 20 ms and so on up to a minute between two looks.
    An input that ends or starts over waits for this thread at times, one time in four where it was
    tried: the call that wakes the thread comes before the mark that it is to end
    (tensorflow/core/framework: model.cc, OptimizeLoop; cancellation.cc).
    """
    with warnings.catch_warnings():
        # In a graph `options` warns that it returns only what was set there.
        warnings.simplefilter("ignore")
        if dataset.options().autotune.enabled is not None:
            return dataset
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def size(batch: Any) -> tf.Tensor:
    """Returns the number of examples in a batch, an int64 scalar."""
    first = tf.nest.flatten(batch)[0]
    if isinstance(first, tf.SparseTensor):
        return first.dense_shape[0]
    if isinstance(first, tf.RaggedTensor):
        return first.nrows(tf.int64)
    return tf.shape(first, out_type=tf.int64)[0]


def _wrap(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Makes a batch one argument whatever its structure: tuples would be unpacked."""
    return dataset.map(as_it_is(
        lambda *batch: {_BATCH: batch if len(batch) > 1 else batch[0]}))


def _flat(batch: Any) -> tuple[tf.Tensor, ...]:
    """Returns the dense tensors that a batch is made of: `scan` holds no ragged ones."""
    return tuple(tf.nest.flatten(batch, expand_composites=True))


def _packed(flat: tuple[tf.Tensor, ...], specs: Any) -> Any:
    """Returns the batch that `_flat` took apart, of any number of examples."""

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
    def join(a: Any, b: Any) -> Any:
        if isinstance(a, tf.SparseTensor):
            return tf.sparse.concat(0, [a, b])
        return tf.concat([a, b], 0)

    return tf.nest.map_structure(join, first, second)


def _nothing(spec: Any) -> Any:
    """Returns a batch of no examples."""

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
