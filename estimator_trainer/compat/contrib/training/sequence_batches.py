"""Batches of parts of sequences with a state of each, by a queue runner; tensors may be sparse.

Follows the API of `tensorflow/contrib/training/python/training/sequence_queueing_state_saver.py` of
TensorFlow 1.15.
"""

from __future__ import annotations

import numbers
from typing import Any, Optional

import tensorflow as tf
from tensorflow.python.ops import sparse_ops

from estimator_trainer.compat.contrib.training import state_saver

_V1: Any = tf.compat.v1
_SPARSE = (tf.SparseTensor, _V1.SparseTensorValue)
# A sparse context goes along as a sequence.
_IN_CONTEXT = "_context_in_seq_"


def batch_sequences_with_states(
        input_key: Any, input_sequences: Any, input_context: Any, input_length: Any,
        initial_states: Any, num_unroll: int, batch_size: Any, num_threads: int = 3,
        capacity: int = 1000, allow_small_batch: bool = True, pad: bool = True,
        make_keys_unique: bool = False, make_keys_unique_seed: Optional[int] = None,
        name: Optional[str] = None) -> Any:
    """Returns batches of parts of sequences, as a NextQueuedSequenceBatch.

    Args:
      input_key: String scalar, unique to a sequence.
      input_sequences: A dict of [length, ...], dense or sparse.
      input_context: A dict of what belongs to a whole sequence. Those that are sparse are taken
        out of it.
      input_length: int32 scalar, the length without padding; None for that of the sequences.
      initial_states: A dict of the states before the first part.
      num_unroll: The length of a part.
      batch_size: How many parts are in a batch.
      num_threads: How many threads take in sequences.
      capacity: How many sequences wait at most.
      allow_small_batch: Whether smaller batches come at the end.
      pad: Whether sequences are padded to a multiple of num_unroll.
      make_keys_unique, make_keys_unique_seed: Whether a random number is appended to keys, and its
        seed.
      name: The name of the operations.

    Raises:
      TypeError, ValueError: See SequenceQueueingStateSaver.
    """
    tensors = [*input_sequences.values(), *input_context.values(), *initial_states.values()]
    with _V1.name_scope(name, "batch_sequences_with_states", tensors) as name:
        if pad:
            length, sequences = padded(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = {key: _checked(key, value, num_unroll)
                         for key, value in input_sequences.items()}
        _move_sparse_out_of_context(input_context, sequences, num_unroll)
        sparse = sorted(key for key, value in sequences.items() if isinstance(value, _SPARSE))
        stored = {key: sparse_ops._add_many_sparse_to_tensors_map(sequences[key])
                  for key in sparse}
        if make_keys_unique:
            number = tf.random.uniform([], 0, 100000000, tf.int32, make_keys_unique_seed)
            input_key = tf.strings.join([input_key, tf.strings.as_string(number)])
        reader = state_saver.SequenceQueueingStateSaver(
            batch_size, num_unroll, input_length=input_length, input_key=input_key,
            input_sequences={**sequences, **stored}, input_context=input_context,
            initial_states=initial_states, capacity=capacity, allow_small_batch=allow_small_batch)
        _V1.summary.scalar(f"queue/{reader.barrier.name}/ready_segment_batches_",
                           tf.cast(reader.barrier.ready_size(), tf.float32))
        _V1.train.add_queue_runner(_V1.train.QueueRunner(
            reader, [reader.prefetch_op] * num_threads, queue_closed_exception_types=(
                tf.errors.OutOfRangeError, tf.errors.CancelledError)))
        batch = reader.next_batch
        for key in sparse:
            batch.sequences[key] = _restored(stored[key].op, batch.sequences[key], batch_size,
                                             num_unroll)
        _move_sparse_into_context(batch.context, batch.sequences)
        return batch


def padded(sequences: Any, num_unroll: Any) -> tuple[Any, dict[str, Any]]:
    """Returns the length of sequences, and sequences padded to a multiple of num_unroll."""
    if not isinstance(num_unroll, numbers.Integral):
        raise ValueError(f"num_unroll is {num_unroll!r}; expected an integer")
    if not isinstance(sequences, dict):
        raise TypeError(f"sequences is {type(sequences).__name__}; expected a dict")
    for key in sequences:
        if not isinstance(key, str):
            raise TypeError(f"sequences has the key {key!r}; expected a string")
    if not sequences:
        return 0, {}
    found = {key: value if isinstance(value, _SPARSE) else tf.convert_to_tensor(value)
             for key, value in sorted(sequences.items())}
    length = _common_length(found)
    full = length + (-length) % num_unroll
    return length, {key: _padded_to(value, full) for key, value in found.items()}


def _common_length(sequences: dict[str, Any]) -> Any:
    lengths = [tf.shape(value)[0] for value in sequences.values()
               if not isinstance(value, _SPARSE)]
    if not lengths:
        return tf.reduce_max([tf.cast(value.dense_shape[0], tf.int32)
                              for value in sequences.values()])
    message = tf.strings.join(["All sequence lengths must match, but received lengths: ",
                               tf.strings.as_string(lengths)])
    with tf.control_dependencies([_V1.Assert(tf.equal(each, lengths[0]), [message])
                                  for each in lengths]):
        return tf.identity(lengths[0])


def _padded_to(value: Any, length: Any) -> Any:
    if isinstance(value, _SPARSE):
        shape = tf.concat([[tf.cast(length, tf.int64)], value.dense_shape[1:]], 0)
        return tf.SparseTensor(value.indices, value.values, shape)
    shape = tf.concat([[length - tf.shape(value)[0]], tf.shape(value)[1:]], 0)
    filler = tf.constant("" if value.dtype == tf.string else 0, value.dtype)
    return tf.concat([value, tf.fill(shape, filler)], 0)


def _checked(key: str, value: Any, num_unroll: int) -> Any:
    """Returns a sequence that asserts that its length is a multiple of num_unroll."""
    if isinstance(value, _SPARSE):
        length = tf.convert_to_tensor(value.dense_shape)[0]
        return tf.SparseTensor(*[state_saver.multiple_of(
            each, length, num_unroll, f"SparseTensor {key} first dimension") for each in (
                value.indices, value.values, value.dense_shape)])
    try:
        value = tf.convert_to_tensor(value)
    except TypeError as error:
        raise TypeError(f"input_sequences has {type(value).__name__} for {key!r}; expected a "
                        f"tensor or a SparseTensor") from error
    return state_saver.multiple_of(value, tf.shape(value)[0], num_unroll,
                                   f"Tensor {key} first dimension")


def _move_sparse_out_of_context(context: Any, sequences: dict[str, Any], num_unroll: int) -> None:
    """Makes sequences of sparse contexts, which have them at the first time of each part."""
    length: Any = tf.constant(1, tf.int64)
    if sequences:
        first = next(iter(sequences.values()))
        length = first.dense_shape[0] if isinstance(first, _SPARSE) else tf.shape(
            first, out_type=tf.int64)[0]
    for key in sorted(context):
        if isinstance(context[key], _SPARSE):
            sequences[_IN_CONTEXT + key] = _repeated(context.pop(key), length, num_unroll)


def _repeated(value: Any, length: Any, num_unroll: int) -> Any:
    starts = tf.range(tf.constant(0, tf.int64), length, num_unroll)
    count, entries = tf.size(starts), tf.shape(value.indices)[0]
    indices = tf.concat([tf.repeat(starts, entries)[:, None],
                         tf.tile(value.indices, [count, 1])], 1)
    return tf.SparseTensor(indices, tf.tile(value.values, [count]),
                           tf.concat([[length], value.dense_shape], 0))


def _restored(stored: Any, handles: Any, batch_size: Any, num_unroll: int) -> Any:
    """Returns the sparse tensor [batch, num_unroll, ...] of handles [batch, num_unroll]."""
    found = sparse_ops._take_many_sparse_from_tensors_map(
        sparse_map_op=stored, sparse_handles=tf.reshape(handles, [-1]), rank=None)
    row, rest = found.indices[:, :1], found.indices[:, 1:]
    shape = [[tf.cast(batch_size, tf.int64)], [num_unroll], found.dense_shape[1:]]
    return tf.SparseTensor(tf.concat([row // num_unroll, row % num_unroll, rest], 1),
                           found.values, tf.concat(shape, 0))


def _move_sparse_into_context(context: Any, sequences: Any) -> None:
    for key in sorted(key for key in sequences if key.startswith(_IN_CONTEXT)):
        value = sequences.pop(key)
        # All entries are at the first time.
        context[key[len(_IN_CONTEXT):]] = tf.SparseTensor(
            tf.concat([value.indices[:, :1], value.indices[:, 2:]], 1), value.values,
            tf.concat([value.dense_shape[:1], value.dense_shape[2:]], 0))
