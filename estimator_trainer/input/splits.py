"""The structure of a dataset: whether several processes can read it, and its fingerprint.

TensorFlow's data service gives each process other elements of the source, such as file names, and
each process then does all that the dataset does. The processes together yield what one would, in
another order, only where each operation works on one record after the other: `take(100)` would take
100 in each process.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from typing import Any, Iterator, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_trainer.graph import operations
from estimator_trainer.input import batches
from estimator_trainer.patches import private_api

_SOURCES = {"RangeDataset", "TensorSliceDataset"}
_SHUFFLES = {"ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3", "ShuffleAndRepeatDataset",
             "ShuffleAndRepeatDatasetV2"}
# The place of the cycle length among the inputs, from the end.
_INTERLEAVES = {"InterleaveDataset": 2, "ParallelInterleaveDatasetV2": 3,
                "ParallelInterleaveDatasetV3": 3, "ParallelInterleaveDatasetV4": 5}
_BATCHES = {"BatchDataset", "BatchDatasetV2", "ParallelBatchDataset", "PaddedBatchDatasetV2",
            "MapAndBatchDataset"}
_RECORD_BY_RECORD = {
    *_SOURCES, *_SHUFFLES, *_BATCHES, *_INTERLEAVES, "MapDataset", "ParallelMapDataset",
    "ParallelMapDatasetV2", "FilterDataset", "FlatMapDataset", "RepeatDataset", "PrefetchDataset",
    "OptionsDataset", "ModelDataset", "UnbatchDataset", "RebatchDataset", "RebatchDatasetV2",
    "IgnoreErrorsDataset", "AssertNextDataset", "ParseExampleDatasetV2"}
# These hold for the whole set, not for the part that a process reads: a cache would repeat the part
# of the first pass.
_OF_WHOLE = {"CacheDataset", "CacheDatasetV2", "AssertCardinalityDataset"}
# Each passes as many records on as it gets; a batch may be cut off.
_AS_MANY_RECORDS = {*_SOURCES, *_BATCHES, "ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3",
                    "MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2", "RepeatDataset",
                    "PrefetchDataset", "OptionsDataset", "ModelDataset"}
# A data worker has none of these of a trainer's session.
_OF_SESSION = ("HashTable", "DenseHashTable", "VarHandleOp", "Variable", "Queue", "Iterator",
               "Placeholder")
_NO_MEANING = ("metadata", "shared_name", "container", "token")
# More splits than these for each trainer let a slow one take fewer.
_SPLITS_OF_TRAINER = 8
_UNKNOWN_CYCLE = 16
# A source is divided into more blocks than these.
_LEAST_BLOCKS = 256


class Splits(NamedTuple):
    """The structure of a dataset, and the number of elements in its source.

    Attributes:
      undivided: Why one process has to read it all; "" if several can.
      of_session: An operation that only the trainer's own session can run; "" for none.
      length: Number of elements of the source; less than 0 if unknown or endless.
      held: Number of these elements that a process may take before it yields the first batch.
      fingerprint: The same text for datasets that do the same with the same data.
      size: Number of records in a pass, 0 if unknown, and of passes, -1 for no end.
      python: The names of the Python functions that it calls, in the order of the graph.
    """

    undivided: str
    of_session: str
    length: int
    held: int
    fingerprint: str
    size: tuple[int, int] = 0, 1
    python: tuple[str, ...] = ()

    def are_fine(self, num_trainers: int) -> bool:
        """Returns whether each trainer can take its part of the source, and a slow one less."""
        return num_trainers == 1 or self._is_long_for(num_trainers)

    @property
    def can_be_resumed(self) -> bool:
        """Whether little is lost of a pass with what a process holds when it is stopped."""
        return not self.undivided and self._is_long_for(1)

    def share_python(self) -> dict[str, str]:
        """Gives the Python functions names that are the same in each process; returns them."""
        names = {token: f"{self.fingerprint}/{i}" for i, token in enumerate(self.python)}
        for token, name in names.items():
            private_api.name_python_function(token, name)
        return names

    def _is_long_for(self, num_trainers: int) -> bool:
        return self.length == tf.data.INFINITE_CARDINALITY or (
            self.length >= _SPLITS_OF_TRAINER * num_trainers * self.held)


def of_copy(variant: tf.Tensor, has_same_python: bool = False) -> Splits:
    """Returns the structure of a dataset that is alone in its graph.

    `has_same_python` says that its Python functions do the same in each process.
    """
    definition = variant.graph.as_graph_def()
    before = operations.up_to(variant)
    ops = [op for op in variant.graph.get_operations() if op in before]
    chain = _chain(variant)
    python = dict.fromkeys(
        node.attr["token"].s.decode()
        for node in (*(op.node_def for op in ops), *_function_nodes(definition, ops))
        if node.op in operations.IN_PYTHON)
    # Each process would shuffle otherwise what a function takes from by a place.
    shuffled = [op.type for op in ops if op.type in _SHUFFLES and op not in chain]
    undivided = ("it calls Python functions" if python and not has_same_python else
                 f"it has a {chain[0].type}" if chain[0].type not in _SOURCES else
                 f"its functions take from a {shuffled[0]}" if shuffled else "")
    of_session = next((op.type for op in ops if op.type.startswith(_OF_SESSION)), "")
    count, held = (-1, 0) if undivided or of_session else _sizes(chain)
    return Splits(undivided, of_session, count, held, _fingerprint(definition, ops),
                  (0, 1) if of_session else _size(ops), tuple(python))


def divided(variant: tf.Tensor, splits: Splits, num_readers: int) -> tf.Tensor:
    """Returns a dataset to divide as each process is to read it; no session has run its graph."""
    source, *others = chain = _chain(variant)
    size = _block_size(chain)
    if size > 1:
        read = _in_blocks(source, size)
    elif _is_of_files(chain) and splits.length > 0 and (num_readers > 1 or splits.can_be_resumed):
        read = _with_few_held(chain, splits, num_readers)
    else:
        read = source.outputs[0]
    for op in others:
        if not _is_left_out(op):
            operations.replace_input(op, op.inputs[0], read)
            read = op.outputs[0]
    return read


def _block_size(chain: list[tf.Operation]) -> int:
    """Returns how many records a process requests at once: a batch, or less of a small source.

    Each request costs a call of the chief, which answers some thousand in a second. An element of
    the source that becomes many records, such as a file, is requested alone.
    """
    before = list(itertools.takewhile(lambda op: op.type not in _BATCHES, chain))
    if len(before) == len(chain) or len(_of_source(chain)) < len(before) or any(
            each.dtype == tf.variant for each in chain[0].inputs):
        return 1
    lengths = map(tf.get_static_value, chain[0].inputs)
    length = len(range(*map(int, lengths))) if chain[0].type == "RangeDataset" else int(
        chain[0].inputs[0].shape[0] or 0)
    batch = tf.get_static_value(chain[len(before)].inputs[1])
    return min(int(batch or 1), length // _LEAST_BLOCKS)


def _in_blocks(source: tf.Operation, size: int) -> tf.Tensor:
    """Returns the source as a variant of a dataset whose own source is the blocks of its elements.
    """
    if source.type == "RangeDataset":
        start, stop, step = source.inputs
        blocks = tf.data.Dataset.range(start, stop, step * size).flat_map(
            batches.as_it_is(lambda first: tf.data.Dataset.range(
                first, _nearer(first + step * size, stop, step), step)))
    else:
        components = tuple(source.inputs)
        blocks = tf.data.Dataset.range(0, tf.shape(components[0], tf.int64)[0], size).flat_map(
            batches.as_it_is(lambda first: tf.data.Dataset.from_tensor_slices(
                tuple(each[first:first + size] for each in components))))
    return tf.data.experimental.to_variant(blocks)


def _is_of_files(chain: list[tf.Operation]) -> bool:
    """Returns whether an element of the source becomes many records, as a file does."""
    before = _of_source(chain)
    after = {op.type for op in chain[len(before):len(before) + 1]}
    return bool(after - {"UnbatchDataset"}) and not any(op.type in _BATCHES for op in before)


def _of_source(chain: list[tf.Operation]) -> list[tf.Operation]:
    """Returns the operations on elements of the source, before each becomes many records."""
    return list(itertools.takewhile(
        lambda op: op.type not in {*_INTERLEAVES, "FlatMapDataset", "UnbatchDataset"}, chain))


def _with_few_held(chain: list[tf.Operation], splits: Splits, num_readers: int) -> tf.Tensor:
    """Returns the source, in random order if it is shuffled; a process then holds few elements.

    The order is the same after a restart, because the journal has the places of the elements.
    """
    most = tf.constant(max(1, splits.length // (2 * _SPLITS_OF_TRAINER * num_readers)), tf.int64)
    shuffles = [op for op in _of_source(chain) if op.type in _SHUFFLES]
    for op in chain:
        if op.type in _INTERLEAVES:
            cycle, calls = len(op.inputs) - _INTERLEAVES[op.type], len(op.inputs) - 1
            private_api.set_input(op, cycle, tf.minimum(most, tf.where(
                op.inputs[cycle] > 0, op.inputs[cycle], tf.constant(_UNKNOWN_CYCLE, tf.int64))))
            if op.type != "InterleaveDataset":
                private_api.set_input(op, calls, tf.minimum(op.inputs[calls], most))
        elif op in shuffles:
            private_api.set_input(op, 1, tf.minimum(op.inputs[1], most))
    source = chain[0]
    if not shuffles or any(each.dtype == tf.variant for each in source.inputs):
        return source.outputs[0]
    order = np.random.default_rng(int(splits.fingerprint, 16)).permutation(splits.length)
    if source.type == "RangeDataset":
        start, _, step = source.inputs
        components: tuple[tf.Tensor, ...] = (start + step * order,)
    else:
        components = tuple(tf.gather(each, order) for each in source.inputs)
    return tf.data.experimental.to_variant(tf.data.Dataset.from_tensor_slices(components))


def _nearer(end: tf.Tensor, stop: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
    return tf.where(step > 0, tf.minimum(end, stop), tf.maximum(end, stop))


def _chain(variant: tf.Tensor) -> list[tf.Operation]:
    """Returns the operations that the records pass through, from the source or the first other one.

    A function may use other datasets, which each process reads whole.
    """
    chain = [variant.op]
    while chain[0].type in _RECORD_BY_RECORD - _SOURCES or _is_left_out(chain[0]):
        chain.insert(0, chain[0].inputs[0].op)
    return chain


def _is_left_out(op: tf.Operation) -> bool:
    # The shard of an input_context with one pipeline is the whole set.
    is_whole_shard = op.type == "ShardDataset" and tf.get_static_value(op.inputs[1]) == 1
    return is_whole_shard or op.type in _OF_WHOLE


def _size(ops: list[tf.Operation]) -> tuple[int, int]:
    """Returns the number of records in a pass, 0 if unknown, and of passes, -1 for no end."""
    datasets = [op for op in ops if any(each.dtype == tf.variant for each in op.outputs)]
    sources = [op for op in datasets if op.type in _SOURCES]
    repeats = [op.inputs[1] for op in datasets if op.type == "RepeatDataset"]
    is_known = len(sources) == 1 and any(op.type in _BATCHES for op in datasets) and all(
        op.type in _AS_MANY_RECORDS or _is_left_out(op) for op in datasets)
    wanted = [tf.data.experimental.cardinality(_dataset_of(op)) for op in sources if is_known]
    with tf.compat.v1.Session(graph=ops[0].graph) as session:
        lengths, counts = session.run((wanted, repeats))
    passes = -1 if min(counts, default=1) < 0 else math.prod(map(int, counts))
    return max(0, *map(int, lengths), 0), passes


def _sizes(chain: list[tf.Operation]) -> tuple[int, int]:
    """Returns the number of elements of the source, and how many a process takes at first."""
    wanted: list[Any] = [tf.data.experimental.cardinality(_dataset_of(chain[0]))]
    # A process is made to hold few files; see `divided`.
    kept = _BATCHES if _is_of_files(chain) else _BATCHES | _SHUFFLES
    wanted += [op.inputs[1] for op in _of_source(chain) if op.type in kept]
    with tf.compat.v1.Session(graph=chain[0].graph) as session:
        count, *sizes = (int(value) for value in session.run(wanted))
    return count, 1 + sum(sizes)


def _dataset_of(source: tf.Operation) -> tf.data.Dataset:
    types, shapes = source.get_attr("output_types" if source.type == "RangeDataset"
                                    else "Toutput_types"), source.get_attr("output_shapes")
    spec = tuple(tf.TensorSpec(shape, dtype) for shape, dtype in zip(shapes, types))
    return tf.data.experimental.from_variant(source.outputs[0], spec)


def _function_nodes(definition: tf.compat.v1.GraphDef,
                    ops: list[tf.Operation]) -> Iterator[tf.compat.v1.NodeDef]:
    """Yields the nodes of all functions that the operations call, each function once."""
    library = {each.signature.name: each for each in definition.library.function}
    open_nodes, seen = [op.node_def for op in ops], set[str]()
    while open_nodes:
        node = open_nodes.pop(0)
        for _, value in sorted(node.attr.items()):
            for each in (value.func, *value.list.func):
                if each.name in library and each.name not in seen:
                    seen.add(each.name)
                    yield from library[each.name].node_def
                    open_nodes += library[each.name].node_def


def _fingerprint(definition: tf.compat.v1.GraphDef, ops: list[tf.Operation]) -> str:
    found = hashlib.sha256()
    for node in (*(op.node_def for op in ops), *_function_nodes(definition, ops)):
        found.update(node.op.encode())
        for name, value in sorted(node.attr.items()):
            is_meant = not name.startswith("_") and name not in _NO_MEANING
            if is_meant and not value.func.name and not value.list.func:
                found.update(name.encode() + value.SerializeToString(deterministic=True))
    return found.hexdigest()[:16]
