"""Sequences in parts of one length, in batches, and a state of each that goes on between steps.

Follows the API of `tensorflow/contrib/training/python/training/sequence_queueing_state_saver.py` of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional, Sequence

import tensorflow as tf
from tensorflow.python.ops import data_flow_ops

_V1: Any = tf.compat.v1
_FIRST = ("length", "total_length", "next_key", "sequence", "sequence_count")


class _Received(NamedTuple):
    """The parts of a batch, as `NextQueuedSequenceBatch` describes them."""

    indices: Any
    key: Any
    values: Mapping[str, Any]
    context: Mapping[str, Any]
    sequences: Mapping[str, Any]
    states: Mapping[str, Any]
    batch_size: Any
    is_done: Any


class NextQueuedSequenceBatch:
    """A batch of parts of sequences, as `SequenceQueueingStateSaver.next_batch` gives it.

    Attributes:
      total_length: [batch] int32, the lengths of whole sequences without padding.
      length: [batch] int32, those of these parts.
      batch_size: How many parts there are, a scalar.
      insertion_index: [batch] int64, which grows with each sequence that came in.
      key, next_key: [batch] strings, "00000_of_00002:key" or "STOP:key".
      sequence, sequence_count: [batch] int32, the number of a part, and how many there are.
      context: A dict of [batch, ...].
      sequences: A dict of [batch, num_unroll, ...].
    """

    def __init__(self, state_saver: Any) -> None:
        self._state_saver = state_saver
        received: _Received = state_saver._received
        self.insertion_index, self.key = received.indices, received.key
        self.total_length, self.length = received.values["total_length"], received.values["length"]
        self.next_key = received.values["next_key"]
        self.sequence = received.values["sequence"]
        self.sequence_count = received.values["sequence_count"]
        self.context, self.sequences = received.context, received.sequences
        self.batch_size = received.batch_size

    def state(self, state_name: str) -> Any:
        """Returns [batch, ...]: the initial state, or what was saved with the part before.

        Raises:
          KeyError: There is no such state.
        """
        return self._state_saver._received.states[state_name]

    def save_state(self, state_name: str, value: Any, name: Optional[str] = None) -> Any:
        """Returns an operation that saves a state [batch, ...] for the next parts.

        Raises:
          KeyError: There is no such state.
          ValueError: The value is known to have another rank or shape.
        """
        saver = self._state_saver
        if state_name not in saver._received.states:
            raise KeyError(f"state was not declared: {state_name}")
        with _V1.name_scope(name, "InputQueueingStateSaver_SaveState", [value]), (
                _V1.colocate_with(saver._capacity_queue.queue_ref)):
            rest = tf.reshape(tf.where(tf.logical_not(saver._received.is_done)), [-1])
            keys = tf.gather(self.next_key, rest)
            value = _of_shape(tf.identity(value, name=f"convert_{state_name}"),
                              saver._received.states[state_name])
            return saver.barrier.insert_many(
                saver._index[f"state:{state_name}"], keys, tf.gather(value, rest),
                name=f"BarrierInsertState_{state_name}")


class SequenceQueueingStateSaver:
    """Takes in one sequence at a time, and gives batches of their parts.

    A queue runner runs `prefetch_op`. A step that uses `next_batch` has to run its `save_state` for
    each state; `tf.nn.static_state_saving_rnn` does.

    Args:
      batch_size: How many parts are in a batch.
      num_unroll: The length of a part, a Python integer.
      input_length: int32 scalar, the length of a sequence without padding.
      input_key: String scalar, unique to a sequence.
      input_sequences: A dict of [padded length, ...], a multiple of num_unroll.
      input_context: A dict of what belongs to all parts of a sequence, of known shapes.
      initial_states: A dict of the states before the first part, of known shapes.
      capacity: How many sequences are in it at most; None for any number.
      allow_small_batch: Whether smaller batches come at the end.
      name: The name of the operations.

    Raises:
      TypeError: A dict is none, or a key or a type is another one.
      ValueError: A shape is not known, a dict is empty, a key has a colon, or the capacity is less
        than a batch.
    """

    def __init__(self, batch_size: Any, num_unroll: int, input_length: Any, input_key: Any,
                 input_sequences: Any, input_context: Any, initial_states: Any,
                 capacity: Optional[int] = None, allow_small_batch: bool = False,
                 name: Optional[str] = None) -> None:
        if capacity is not None and tf.is_tensor(batch_size):
            with tf.control_dependencies([_V1.assert_greater_equal(
                    tf.cast(capacity, tf.int64), tf.cast(batch_size, tf.int64),
                    message="capacity needs to be >= batch_size.")]):
                input_key = tf.identity(input_key)
        elif capacity is not None and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        self._capacity_queue = tf.queue.FIFOQueue(
            capacity=-1 if capacity is None else capacity, dtypes=[tf.int32], shapes=[[]])
        self.batch_size, self.num_unroll = batch_size, num_unroll
        self._allow_small_batch = allow_small_batch
        self._prefetch_op: Any = None
        self._next_batch: Any = None
        self._received: Any = None
        with _V1.colocate_with(self._capacity_queue.queue_ref):
            _check_names(initial_states, "initial_states", "state", required=True)
            values = [input_length, input_key, *input_sequences.values(), *input_context.values()]
            with _V1.name_scope(name, "InputQueueingStateSaver", values) as scope:
                self.name = self._scope = scope
                self._take_inputs(input_length, input_key, input_sequences, input_context,
                                  initial_states)
                self._make_barrier()

    def _take_inputs(self, length: Any, key: Any, sequences: Any, context: Any,
                     states: Any) -> None:
        """Keeps the inputs, which assert their shapes."""
        length, key = tf.convert_to_tensor(length, name="length"), tf.convert_to_tensor(key)
        _check_names(sequences, "sequences", "sequence", required=True)
        _check_names(context, "context", "context")
        self._sequences = _tensors("sequence", sequences, known_from=1)
        self._context = _tensors("context", context)
        self._states = _tensors("state", states)
        length, key = _of_rank(length, 0), _of_rank(key, 0)
        for kind, tensor, dtype in (("length", length, tf.int32), ("key", key, tf.string)):
            if tensor.dtype != dtype:
                raise TypeError(f"The {kind} is {tensor.dtype.name}; expected {dtype.name}")
        first = next(iter(self._sequences.values()))
        padded = tf.identity(tf.shape(first)[0], name="padded_length")
        self._key = key
        self._padded_length = multiple_of(padded, padded, self.num_unroll, f"Tensor {padded.name}")
        self._sequences = {key: _of_sizes(value, [self._padded_length], f"sorted_sequences_{key}")
                           for key, value in self._sequences.items()}
        with tf.control_dependencies([_V1.Assert(length <= self._padded_length, [
                "Input length should be <= than length from sequences:", length, " vs. ",
                self._padded_length])]):
            self._length = tf.identity(length)

    def _make_barrier(self) -> None:
        kinds = (("sequence", self._sequences), ("context", self._context),
                 ("state", self._states))
        names = [*_FIRST, *(f"{kind}:{key}" for kind, values in kinds for key in values)]
        self._index = {name: index for index, name in enumerate(names)}
        types = [tf.string if name == "next_key" else tf.int32 for name in _FIRST]
        shapes: list[Any] = [()] * len(_FIRST)
        for kind, values in kinds:
            for value in values.values():
                types.append(value.dtype)
                shapes.append([self.num_unroll, *value.shape.as_list()[1:]] if kind == "sequence"
                              else value.shape.as_list())
        self.barrier = data_flow_ops.Barrier(types=types, shapes=shapes)

    @property
    def prefetch_op(self) -> Any:
        """An operation that takes in the parts of one sequence."""
        if self._prefetch_op is None:
            with tf.name_scope(self._scope):
                self._prefetch_op = self._prefetch()
        return self._prefetch_op

    @property
    def next_batch(self) -> Any:
        """The NextQueuedSequenceBatch."""
        if self._next_batch is None:
            _ = self.prefetch_op  # Its operations come first.
            with tf.name_scope(self._scope):
                self._received = self._read()
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: Optional[str] = None) -> Any:
        """Returns an operation after which no new sequence comes in."""
        with _V1.name_scope(name, "SQSSClose", [self.prefetch_op]) as name:
            return tf.group(self.barrier.close(cancel_pending_enqueues, "BarrierClose"),
                            self._capacity_queue.close(cancel_pending_enqueues, "FIFOClose"),
                            name=name)

    def _prefetch(self) -> Any:
        """Returns an operation that inserts all parts, and the state of the first."""
        count = self._padded_length // self.num_unroll
        numbers, ones = tf.range(count), tf.ones([count], tf.int32)
        keys = tf.strings.join([tf.strings.as_string(numbers, width=5, fill="0"), "_of_",
                                tf.strings.as_string(count, width=5, fill="0"), ":", self._key],
                               name="StringJoinCurrentKeys")
        stop = tf.strings.join(["STOP:", self._key], name="StringJoinStop")
        values = {
            "sequence": numbers, "sequence_count": count * ones,
            "next_key": tf.concat([keys[1:], stop[None]], 0, name="concat_next_keys"),
            "length": tf.minimum(self.num_unroll, tf.maximum(
                0, self._length - self.num_unroll * numbers)),
            "total_length": self._length * ones}
        for key, value in self._context.items():
            values[f"context:{key}"] = tf.tile(value[None], [count, *[1] * value.shape.rank])
        for key, value in self._sequences.items():
            values[f"sequence:{key}"] = tf.reshape(
                value, [count, self.num_unroll, *value.shape.as_list()[1:]])
        inserts = {name: self.barrier.insert_many(self._index[name], keys, value,
                                                  name=f"BarrierInsert_{name.replace(':', '_')}")
                   for name, value in values.items()}
        token = self._capacity_queue.enqueue((0,))
        with tf.control_dependencies([inserts["sequence"], token]):
            states = [self.barrier.insert_many(
                self._index[f"state:{key}"], keys[:1], value[None],
                name=f"BarrierInitialInsertState_{key}") for key, value in self._states.items()]
        return tf.group(token, *inserts.values(), *states, name="StateSaverPrefetchGroup")

    def _read(self) -> _Received:
        """Returns a batch; a sequence whose last part it has makes room for another one."""
        indices, keys, values = self.barrier.take_many(
            self.batch_size, self._allow_small_batch, name="BarrierTakeMany")

        def of(kind: str, names: Any) -> Any:
            return {name: values[self._index[f"{kind}:{name}"]] for name in names}

        first = {name: values[self._index[name]] for name in _FIRST}
        is_done = first["sequence"] + 1 >= first["sequence_count"]
        finished = tf.reduce_sum(tf.cast(is_done, tf.int32))
        with tf.control_dependencies([self._capacity_queue.dequeue_many(finished)]):
            states = {name: tf.identity(value)
                      for name, value in of("state", self._states).items()}
        return _Received(indices, keys, first, of("context", self._context),
                         of("sequence", self._sequences), states,
                         tf.squeeze(tf.shape(first["length"])), is_done)


def _check_names(values: Any, argument: str, kind: str, required: bool = False) -> None:
    if not isinstance(values, dict):
        raise TypeError(f"{argument} is {type(values).__name__}; expected a dict")
    if required and not values:
        raise ValueError(f"{argument} is empty; expected at least one {kind}")
    for key in values:
        if not isinstance(key, str):
            raise TypeError(f"{argument} has the key {key!r}; expected a string")
        if ":" in key:
            raise ValueError(f"{argument} has the key {key!r}; expected one without a colon")


def _tensors(kind: str, values: Mapping[str, Any], known_from: int = 0) -> dict[str, Any]:
    """Returns tensors in the order of their keys.

    Raises:
      ValueError: A dimension is not known.
    """
    found = {key: tf.convert_to_tensor(values[key], name=f"{kind}_{key}")
             for key in sorted(values)}
    for key, value in found.items():
        if not value.shape[known_from:].is_fully_defined():
            raise ValueError(f"Shape for {kind} {key} is not fully defined"
                             f"{' (ignoring first dimension)' * known_from}: {value.shape}")
    return found


def multiple_of(value: Any, length: Any, number: int, what: str) -> Any:
    """Returns a tensor that asserts that a length is a multiple of a number, and not 0."""
    message = tf.strings.join([
        f"{what} should be a multiple of: ", tf.strings.as_string(number), ", but saw value: ",
        tf.strings.as_string(length), ". Consider setting pad=True."])
    with tf.control_dependencies([_V1.Assert(
            tf.logical_and(tf.equal(length % number, 0), tf.not_equal(length, 0)), [message])]):
        return tf.identity(value, name="multiple_of_checked")


def _of_rank(value: Any, rank: Any) -> Any:
    """Returns a tensor that asserts its rank, and knows the rank if that is a number."""
    message = tf.strings.join([f"Rank of tensor {value.name} should be: ",
                               tf.strings.as_string(rank), ", shape received:"])
    with tf.control_dependencies([_V1.Assert(tf.equal(rank, tf.rank(value)),
                                             [message, tf.shape(value)])]):
        found = tf.identity(value, name="rank_checked")
    if (known := tf.get_static_value(rank)) is not None:
        try:
            found.set_shape(found.shape.with_rank(int(known)))
        except ValueError as error:
            raise ValueError(f"Rank check failed for {value.name}: {error}") from error
    return found


def _of_shape(value: Any, like: Any) -> Any:
    """Returns a tensor that asserts that it has the shape of another one."""
    expected = tf.shape(like)
    value = _of_rank(value, tf.size(expected))
    with tf.control_dependencies([_V1.Assert(tf.reduce_all(tf.equal(expected, tf.shape(value))), [
            f"Shape of tensor {value.name} should be: ", expected, ", shape received: ",
            tf.shape(value)])]):
        found = tf.identity(value, name="shape_checked")
    known = like.shape
    if known.is_fully_defined():
        try:
            found.set_shape(found.shape.merge_with(known))
        except ValueError as error:
            raise ValueError(f"Shape check failed for {value.name}: {error}") from error
    return found


def _of_sizes(value: Any, sizes: Sequence[Any], label: str) -> Any:
    """Returns a tensor that asserts its first dimensions."""
    checks = [_V1.Assert(tf.equal(size, tf.shape(value)[number]), [tf.strings.join([
        f"Dimension {number} of tensor labeled {label} should be: ", tf.strings.as_string(size),
        ", shape received: ", tf.strings.as_string(tf.shape(value))])])
        for number, size in enumerate(sizes)]
    with tf.control_dependencies(checks):
        return tf.identity(value, name=f"dims_checked_{label}")
