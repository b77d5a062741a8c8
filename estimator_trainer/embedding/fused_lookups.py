"""Many tables' lookups in one operation each: hashed, made unique, summed and updated together.

A model with a table for each of its columns has a hundred small operations for each column, and
starting them takes longer than their arithmetic. Here the columns of one kind are one table within
a step: a key is an id with its column's number above it. The tables themselves, and so checkpoints,
stay as they are.

DeepRec (its pull request 686) and HybridBackend do the same in TensorFlow 1.15.
"""

from __future__ import annotations

import itertools
from typing import Any, Iterable, NamedTuple, Sequence

import tensorflow as tf

from estimator_trainer.embedding import lookups
from estimator_trainer.embedding.lookups import Lookup
from estimator_trainer.graph import graph_names, operations

# The bits of a key below the number of its column. No table has so many rows.
_ID_BITS = 40
_LARGEST_ID = 2**_ID_BITS - 1
# The rows of fused lookups travel in one message, and gRPC takes none of 2 GiB.
_MOST_BYTES = 2**30
# More ids of one lookup in a step are unlikely.
_MOST_IDS = 2**20
_SUMS = {"sum": tf.raw_ops.SparseSegmentSum, "mean": tf.raw_ops.SparseSegmentMean,
         "sqrtn": tf.raw_ops.SparseSegmentSqrtN}
_SUM_GRADIENTS = {
    "sum": tf.raw_ops.SparseSegmentSumGrad, "mean": tf.raw_ops.SparseSegmentMeanGrad,
    "sqrtn": tf.raw_ops.SparseSegmentSqrtNGrad}
# Grappler sorts their inputs by name.
_COMMUTATIVE = {"Add", "AddN", "AddV2", "Mul"}


def fuse(train_op: tf.Operation) -> None:
    """Fuses the lookups of a step that no session has run.

    Lookups of one kind have the dimension, dtype and combiner in common; their tables may be on
    several ps. Those that cannot be fused stay as they are.
    """
    groups: dict[Any, list[_Member]] = {}
    for member in _members(train_op):
        groups.setdefault(member.kind, []).append(member)
    for group in itertools.chain(*map(_not_too_large, groups.values())):
        # An earlier group has changed the graph.
        if len(group) > 1 and _is_parallel(group, train_op):
            with graph_names.own():
                _Fused(group).build()


class _Source(NamedTuple):
    """The column that a lookup's ids are made of, as TensorFlow makes them of a dense tensor.

    Attributes:
      dense: The column, [batch, n]: its elements become ids.
      ignored: The value of missing elements, a scalar.
      raw: The elements that are not missing, [ids].
      buckets: The number of buckets that the elements are hashed to; 0 if they are not hashed.
      is_printed: Whether the elements become text before they are hashed.
    """

    dense: tf.Tensor
    ignored: Any
    raw: tf.Tensor
    buckets: int
    is_printed: bool

    @property
    def kind(self) -> Any:
        return self.dense.dtype, self.dense.shape.as_list()[1], self.ignored

    @classmethod
    def of(cls, lookup: Lookup) -> _Source | None:
        indices = _before_reshape(lookup)
        if indices.op.type != "Where" or indices.op.inputs[0].op.type != "NotEqual":
            return None
        dense, ignored = indices.op.inputs[0].op.inputs
        value = tf.get_static_value(ignored)
        raws = [op.outputs[0] for op in indices.consumers()
                if op.type == "GatherNd" and op.inputs[0] is dense]
        if dense.shape.rank != 2 or dense.shape.as_list()[1] is None or value is None or (
                value.shape or len(raws) != 1):
            return None
        return cls(dense, value.item(), raws[0], *_hashed(lookup.ids, raws[0]))


def _hashed(ids: tf.Tensor, raw: tf.Tensor) -> tuple[int, bool]:
    """Returns the buckets that `raw` is hashed to, 0 if it is not, and whether it is text first."""
    op = lookups.behind(ids, "Identity")
    if op.type != "StringToHashBucketFast":
        return 0, False
    text = op.inputs[0]
    is_printed = text.op.type == "AsString" and text.op.inputs[0] is raw and (
        raw.dtype in (tf.int32, tf.int64) and not text.op.get_attr("fill") and
        text.op.get_attr("width") == -1)
    return (op.get_attr("num_buckets"), is_printed) if is_printed or text is raw else (0, False)


def _before_reshape(lookup: Lookup) -> tf.Tensor:
    """Returns the indices before a reshape of a matrix to [batch, -1], which changes nothing."""
    op = lookup.indices.op
    if op.type != "SparseReshape" or lookup.dense_shape.op is not op:
        return lookup.indices
    shape = lookups.behind(op.inputs[2], "Cast")
    is_flat = shape.type == "Pack" and len(shape.inputs) == 2 and (
        tf.get_static_value(shape.inputs[1]) == -1)
    return op.inputs[0] if is_flat else lookup.indices


class _Member(NamedTuple):
    lookup: Lookup
    source: _Source | None

    @property
    def kind(self) -> Any:
        lookup = self.lookup
        return (lookup.output.op.device, lookup.output.dtype, lookup.output.shape.as_list()[1],
                lookup.ids.dtype, lookup.combiner, lookup.gradient is None,
                self.source and self.source.kind)

    @property
    def bytes(self) -> int:
        """The bytes of the rows that a step may look up, each once."""
        rows, size = tf.TensorShape(self.lookup.variable.get_attr("shape")).as_list()
        return int(min(rows, _MOST_IDS) * size * self.lookup.output.dtype.size)

    @property
    def inputs(self) -> list[tf.Tensor]:
        dense = [self.source.dense] if self.source else []
        return [self.lookup.ids, self.lookup.indices, self.lookup.dense_shape, *dense]


def _members(train_op: tf.Operation) -> list[_Member]:
    outside, ops = operations.outside(train_op.graph), operations.up_to(train_op)
    branched = operations.branched(ops, operations.followers(ops))
    waiting = operations.waiting(train_op.graph)
    found = (lookups.find(op, outside, waiting) for op in ops if op not in branched)
    members = [_Member(lookup, _Source.of(lookup)) for lookup in found if lookup and not (
        lookup.gradient and lookup.gradient.values.op in branched)]
    # A set of operations has another order in each process. Tables on one ps are side by side.
    return sorted(members, key=lambda member: (member.lookup.variable.device,
                                               member.lookup.output.name))


def _not_too_large(members: Iterable[_Member]) -> list[list[_Member]]:
    """Returns the members in groups whose rows fit into one message."""
    groups: list[list[_Member]] = [[]]
    for member in members:
        if sum(each.bytes for each in groups[-1]) + member.bytes > _MOST_BYTES:
            groups.append([])
        groups[-1].append(member)
    return groups


def _is_parallel(group: list[_Member], train_op: tf.Operation) -> bool:
    """Returns whether no lookup, and no gradient of one, waits for another one of the group."""
    ops = operations.up_to(train_op)
    followers = operations.followers(ops)

    def is_free(ends: Iterable[tf.Tensor], starts: Iterable[tf.Tensor]) -> bool:
        late = operations.reached(
            (op for tensor in ends for op in tensor.consumers() if op in ops),
            lambda op: followers.get(op, []))
        return late.isdisjoint(tensor.op for tensor in starts)

    sources = [each.source for each in group if each.source]
    inputs = [tensor for each in group for tensor in each.inputs]
    gradients = [each.lookup.gradient for each in group if each.lookup.gradient]
    return (is_free((each.raw for each in sources), [each.dense for each in sources]) and
            is_free((each.lookup.output for each in group), inputs) and
            is_free((tensor for each in gradients for tensor in (each.values, each.indices)),
                    [*inputs, *(each.output for each in gradients)]))


class _Ids(NamedTuple):
    """The ids of several lookups, one lookup after the other.

    Attributes:
      rows: The row of each id, counted over all lookups, int64 [ids].
      ids: int64 [ids].
      sizes: The number of rows of each lookup, int64 [lookups].
    """

    rows: tf.Tensor
    ids: tf.Tensor
    sizes: tf.Tensor


class _Fused:
    """Lookups of one kind, in tables of one dimension on ps or in this process."""

    def __init__(self, members: Sequence[_Member]):
        self._lookups = [each.lookup for each in members]
        self._sources = [each.source for each in members if each.source]
        self._combiner = self._lookups[0].combiner
        self._on_trainer = self._lookups[0].output.op.device or None
        self._homes = [each.variable.device for each in self._lookups]

    def build(self) -> None:
        """Makes the fused operations, and gives their results to the users of the lookups."""
        num = len(self._lookups)
        gradients = [each.gradient for each in self._lookups if each.gradient]
        with tf.device(self._on_trainer):
            ids = self._from_dense() if self._sources else self._from_sparse()
            ends = tf.cumsum(ids.sizes)
            filled = tf.raw_ops.SparseFillEmptyRows(
                indices=ids.rows[:, None], values=ids.ids, dense_shape=ends[-1:],
                default_value=tf.constant(0, tf.int64))
            rows = filled.output_indices[:, 0]
            keys, positions = tf.unique(tf.minimum(filled.output_values, _LARGEST_ID) +
                                        tf.bitwise.left_shift(_lookup_of(rows, ends), _ID_BITS))
            last = tf.raw_ops.UpperBound(
                sorted_inputs=tf.bitwise.right_shift(keys, _ID_BITS)[None],
                values=tf.range(num, dtype=tf.int64)[None], out_type=tf.int64)[0]
            unique = _Parts(tf.cast(tf.bitwise.bitwise_and(keys, _LARGEST_ID),
                                    self._lookups[0].ids.dtype),
                            last - tf.concat([[0], last[:-1]], 0), self._homes)
            summed = _SUMS[self._combiner](
                data=self._looked_up(unique), indices=positions, segment_ids=rows)
            outputs = _Parts(_zero(summed, filled.empty_row_indicator), ids.sizes, [""] * num)
            if gradients:
                of_outputs = tf.concat([each.output for each in gradients], 0)
                values = _SUM_GRADIENTS[self._combiner](
                    grad=_zero(of_outputs, filled.empty_row_indicator), indices=positions,
                    segment_ids=rows, output_dim0=tf.size(keys))
        outputs.replace([each.output for each in self._lookups])
        self._give_names(outputs)
        if gradients:
            self._give_gradients(gradients, unique, unique.like(values))

    def _looked_up(self, ids: _Parts) -> tf.Tensor:
        """Returns the rows of the ids of all tables, [ids, dimension]."""
        rows: dict[str, list[tf.Tensor]] = {}
        for index, (each, home) in enumerate(zip(self._lookups, self._homes)):
            with tf.device(home or None):
                rows.setdefault(home, []).append(tf.raw_ops.ResourceGather(
                    resource=each.table, indices=ids.on(home, index), dtype=each.output.dtype))
        of_ps = []
        for home, parts in rows.items():
            with tf.device(home or None):
                of_ps.append(tf.concat(parts, 0))
        return tf.concat([tf.identity(each) for each in of_ps], 0)

    def _from_dense(self) -> _Ids:
        source = self._sources[0]
        dense = tf.concat([each.dense for each in self._sources], 0)
        indices = tf.where(tf.not_equal(dense, source.ignored))
        raw, rows = tf.gather_nd(dense, indices), indices[:, 0]
        sizes = tf.stack(tf.shape_n([each.dense for each in self._sources], tf.int64))[:, 0]
        if source.buckets and len({(each.buckets, each.is_printed) for each in self._sources}) == 1:
            text = tf.strings.as_string(raw) if source.is_printed else raw
            return _Ids(rows, tf.strings.to_hash_bucket_fast(text, source.buckets), sizes)
        lookup = tf.cast(_lookup_of(rows, tf.cumsum(sizes)), tf.int32)
        counts = tf.math.bincount(lookup, minlength=len(self._sources))
        _Parts(raw, counts, [""] * len(self._sources)).replace([each.raw for each in self._sources])
        return self._valid(rows, sizes)

    def _from_sparse(self) -> _Ids:
        sizes = tf.stack([each.dense_shape[0] for each in self._lookups])
        ends = tf.cumsum([tf.size(each.ids) for each in self._lookups])
        rows = tf.concat([each.indices for each in self._lookups], 0)[:, 0]
        lookup = _lookup_of(tf.range(ends[-1]), ends)
        # Such a row would be one of another lookup.
        outside = tf.where((rows < 0) | (rows >= tf.gather(sizes, lookup)))[:, 0]
        names = tf.constant([each.variable.name for each in self._lookups])
        with tf.control_dependencies([tf.raw_ops.Assert(
                condition=tf.equal(tf.size(outside), 0), summarize=1,
                data=["The ids of an embedding are a SparseTensor with an index that is not below"
                      " its dense_shape. The table:", tf.gather(names, tf.gather(lookup, outside))]
        )]):
            starts = tf.cumsum(sizes, exclusive=True)
        return self._valid(rows + tf.gather(starts, lookup), sizes)

    def _valid(self, rows: tf.Tensor, sizes: tf.Tensor) -> _Ids:
        """Returns all ids but the negative ones, which stand for none."""
        ids = tf.cast(tf.concat([each.ids for each in self._lookups], 0), tf.int64)
        is_valid = tf.reshape(tf.where(ids >= 0), [-1])
        return _Ids(tf.gather(rows, is_valid), tf.gather(ids, is_valid), sizes)

    def _give_names(self, outputs: _Parts) -> None:
        """Has a hook that fetches the output of a lookup get the fused one.

        Its own rows could be those after the step's update, which no longer waits for them.
        """
        for index, each in enumerate(self._lookups):
            reshape = each.output.op
            operations.replace_input(reshape, reshape.inputs[0], outputs.on(reshape.device, index))

    def _give_gradients(self, gradients: list[lookups.Gradient], ids: _Parts,
                        values: _Parts) -> None:
        # Optimizers add up rows of one id, but each id is there once.
        for unique in [op for each in gradients for op in each.indices.consumers()
                       if op.type == "Unique"]:
            for total in unique.outputs[1].consumers():
                if total.type == "UnsortedSegmentSum":
                    _replace(total.outputs[0], total.inputs[0])
            _replace(unique.outputs[0], unique.inputs[0])
        ids.replace([each.indices for each in gradients])
        values.replace([each.values for each in gradients])


class _Parts:
    """A tensor that is split along its first dimension, on each device that needs the parts.

    Args:
      whole: The tensor.
      sizes: The number of rows of each part, [parts].
      homes: The device that needs each part most; the parts of one device are side by side. It
        gets those alone.
    """

    def __init__(self, whole: tf.Tensor, sizes: tf.Tensor, homes: Sequence[str]):
        self._whole, self._sizes, self._homes = whole, sizes, list(homes)
        self._sections: dict[str, tuple[tf.Tensor, tf.Tensor]] = {}
        self._made: dict[tuple[str, bool], list[tf.Tensor]] = {}

    def like(self, whole: tf.Tensor) -> _Parts:
        """Returns the parts of another tensor, of the same sizes."""
        return _Parts(whole, self._sizes, self._homes)

    def on(self, device: str, index: int) -> tf.Tensor:
        """Returns a part, on a device."""
        is_home = self._homes[index] == device
        whole, sizes = self._section(device) if is_home else (self._whole, self._sizes)
        num = self._homes.count(device) if is_home else len(self._homes)
        first = self._homes.index(device) if is_home else 0
        if (device, is_home) not in self._made:
            with tf.device(device or None):
                self._made[device, is_home] = tf.split(whole, sizes, num=num)
        return self._made[device, is_home][index - first]

    def _section(self, home: str) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the parts of a device in one tensor, and their sizes."""
        counts = {each: self._homes.count(each) for each in self._homes}
        if len(counts) == 1:
            return self._whole, self._sizes
        if not self._sections:
            with tf.device(self._whole.op.device or None):
                sizes = tf.split(self._sizes, list(counts.values()))
                wholes = tf.split(self._whole, tf.stack([tf.reduce_sum(each) for each in sizes]))
            self._sections = dict(zip(counts, zip(wholes, sizes)))
        return self._sections[home]

    def replace(self, tensors: Sequence[tf.Tensor]) -> None:
        """Gives the consumers of each tensor the part in its place."""
        for index, tensor in enumerate(tensors):
            named: dict[str, tf.Tensor] = {}
            for op in sorted(set(tensor.consumers()), key=lambda op: op.name):
                part = self.on(op.device, index)
                if op.type in _COMMUTATIVE:
                    if op.device not in named:
                        with tf.device(op.device or None):
                            named[op.device] = tf.raw_ops.EnsureShape(
                                input=part, shape=tensor.shape,
                                name=f"{tensor.op.name}{'-' * (len(named) + 1)}/")
                    part = named[op.device]
                operations.replace_input(op, tensor, part)


def _zero(rows: tf.Tensor, is_zero: tf.Tensor) -> tf.Tensor:
    return tf.compat.v1.where(is_zero, tf.zeros_like(rows), rows)


def _lookup_of(rows: tf.Tensor, ends: tf.Tensor) -> tf.Tensor:
    """Returns the number of the lookup that each row belongs to."""
    return tf.raw_ops.UpperBound(
        sorted_inputs=ends[None], values=rows[None], out_type=tf.int64)[0]


def _replace(tensor: tf.Tensor, other: tf.Tensor) -> None:
    for op in set(tensor.consumers()):
        operations.replace_input(op, tensor, other)
