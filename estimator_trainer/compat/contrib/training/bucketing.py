"""`tf.contrib.training.bucket`: batches of elements that are alike, by queues.

Follows the API of `tensorflow/contrib/training/python/training/bucket_ops.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.python.training import input as queues

_V1 = tf.compat.v1
_ENDS = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


def bucket(tensors: Any, which_bucket: Any, batch_size: Any, num_buckets: int,
           num_threads: int = 1, capacity: int = 32,
           bucket_capacities: Optional[Sequence[int]] = None, shapes: Any = None,
           dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
           keep_input: Any = True, shared_name: Optional[str] = None,
           name: Optional[str] = None) -> tuple[Any, Any]:
    """Returns batches of elements of one bucket each.

    A queue runner fills a queue for each bucket, and another moves full batches to a last queue.

    Args:
      tensors: A list or dict of tensors, one element.
      which_bucket: int32, of shape []: the bucket of the element, from 0 to `num_buckets - 1`.
      batch_size: Elements in a batch; a list has one number for each bucket.
      num_buckets: How many buckets there are.
      num_threads: How many threads enqueue elements.
      capacity: How many batches the last queue holds, and elements a bucket.
      bucket_capacities: How many elements each bucket holds.
      shapes: The shapes of the tensors, where they cannot be inferred.
      dynamic_pad: Whether tensors are padded to the longest of their batch.
      allow_smaller_final_batch: Whether the rest at the end makes smaller batches.
      keep_input: bool, of shape []: whether the element is not left out.
      shared_name: Sessions share queues under that name.
      name: A name for the operations.

    Returns:
      The bucket, int32 of shape [], and the batch, of the structure of `tensors`.

    Raises:
      ValueError: A list has not `num_buckets` numbers, or a shape is not known, or there are no
        tensors.
    """
    sizes = _one_a_bucket(batch_size, num_buckets, "batch_size")
    capacities = _one_a_bucket(capacity if bucket_capacities is None else bucket_capacities,
                               num_buckets, "bucket_capacities")
    flat = queues._as_tensor_list(tensors)
    with _V1.name_scope(name, "bucket", flat):
        flat = [_V1.convert_to_tensor_or_indexed_slices(each) if not isinstance(
            each, tf.SparseTensor) else each for each in flat]
        if not flat:
            raise ValueError("tensors is empty; expected at least one tensor")
        keep = queues._validate_keep_input(keep_input, enqueue_many=False)
        flat, sparse = queues._store_sparse_tensors(flat, enqueue_many=False, keep_input=keep)
        sizes = [_static(tf.convert_to_tensor(each, tf.int32, name="batch_size"))
                 for each in sizes]
        types, shapes = queues._dtypes([flat]), queues._shapes([flat], shapes, enqueue_many=False)
        which_bucket = tf.convert_to_tensor(which_bucket, tf.int32, name="which_bucket")
        buckets = [queues._which_queue(dynamic_pad)(
            capacity=each, dtypes=types, shapes=shapes, name=f"bucket_queue_{index}",
            shared_name=shared_name and f"{shared_name}_{index}")
            for index, each in enumerate(capacities)]
        size = sizes[-1] if not (allow_smaller_final_batch or isinstance(
            batch_size, (list, tuple))) and not tf.is_tensor(sizes[-1]) else None
        top = tf.queue.PaddingFIFOQueue(
            capacity, [tf.int32, *types],
            [[], *(tf.TensorShape([size]).concatenate(each) for each in buckets[0].shapes)],
            shared_name=shared_name, name="top_queue")
        fill = _fill(buckets, flat, which_bucket, keep)
        move = _move(buckets, top, sizes, allow_smaller_final_batch)
        _run(buckets[0], move, [top])
        _run(top, [fill] * num_threads, buckets)
        _summaries(buckets, top, capacity)
        which, *found = top.dequeue(name="dequeue_top")
        restored = queues._restore_sparse_tensors(found[0] if len(found) == 1 else found, sparse)
        return which, queues._as_original_type(tensors, restored)


def _one_a_bucket(numbers: Any, num_buckets: int, which: str) -> list[Any]:
    """Returns a number for each bucket, of a list of them or of one for all."""
    each = list(numbers) if isinstance(numbers, (list, tuple)) else [numbers] * num_buckets
    if len(each) != num_buckets:
        raise ValueError(f"{which} is {each}; the list must have exactly num_buckets "
                         f"({num_buckets}) elements")
    return each


def _static(tensor: Any) -> Any:
    value = tf.get_static_value(tensor)
    return tensor if value is None else value


def _fill(buckets: Sequence[Any], flat: Any, which: Any, keep: Any) -> Any:
    """Returns the op that puts an element into its bucket."""
    def enqueue() -> Any:
        return _V1.group(*[_V1.cond(
            tf.equal(which, index), lambda queue=queue: queue.enqueue(flat), _V1.no_op)
            for index, queue in enumerate(buckets)], name="group_enqueues")

    decided = tf.get_static_value(keep)
    return _V1.cond(keep, enqueue, _V1.no_op) if decided is None else (
        enqueue() if decided else _V1.no_op())


def _move(buckets: Sequence[Any], top: Any, sizes: Sequence[Any], smaller: bool) -> list[Any]:
    """Returns for each bucket the op that moves a batch of it to the last queue."""
    ops = []
    for index, (queue, size) in enumerate(zip(buckets, sizes)):
        take = queue.dequeue_up_to if smaller else queue.dequeue_many
        batch = take(size, name=f"read_bucket_{index}")
        batch = batch if isinstance(batch, (list, tuple)) else [batch]
        ops.append(top.enqueue([tf.constant(index), *batch], name=f"enqueue_from_bucket_{index}"))
    return ops


def _run(queue: Any, ops: Sequence[Any], fed: Sequence[Any]) -> None:
    """Adds the queue runner of some ops, which closes at its end the queues that it fed."""
    _V1.train.add_queue_runner(_V1.train.QueueRunner(
        queue, ops, tf.group(*[each.close() for each in fed]),
        tf.group(*[each.close(cancel_pending_enqueues=True) for each in fed]),
        queue_closed_exception_types=_ENDS))


def _summaries(buckets: Sequence[Any], top: Any, capacity: int) -> None:
    # TensorFlow 1.15 gave the last queue's size as that of each bucket.
    for queue in buckets:
        _V1.summary.scalar(f"bucket/{queue.name}/size", tf.cast(top.size(), tf.float32))
    _V1.summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full",
                       tf.cast(top.size(), tf.float32) * (1. / capacity))


def bucket_by_sequence_length(
        input_length: Any, tensors: Any, batch_size: Any, bucket_boundaries: Sequence[int],
        num_threads: int = 1, capacity: int = 32,
        bucket_capacities: Optional[Sequence[int]] = None, shapes: Any = None,
        dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, keep_input: Any = True,
        shared_name: Optional[str] = None, name: Optional[str] = None) -> tuple[Any, Any]:
    """Returns batches of elements of like length.

    Args:
      input_length: int32, of shape []: the length of the element.
      tensors: A list or dict of tensors, one element.
      batch_size: Elements in a batch; a list has one number for each bucket.
      bucket_boundaries: Growing lengths; a bucket has those from one to below the next, and there
        is a bucket below the first and one from the last on.
      num_threads: as `bucket` has, and so are all that follow.

    Returns:
      The lengths, int32 of shape [batch_size], and the batch, of the structure of `tensors`.

    Raises:
      TypeError: `bucket_boundaries` is no list of integers.
      ValueError: `bucket_boundaries` is empty or does not grow, or as `bucket`.
    """
    flat = queues._as_tensor_list(tensors)
    _check_boundaries(bucket_boundaries)
    with _V1.name_scope(name, "bucket_by_sequence_length", [input_length, *flat]):
        length = tf.convert_to_tensor(input_length, tf.int32, name="input_length")
        limits = np.iinfo(np.int32)
        inside = tf.logical_and(tf.less_equal([limits.min, *bucket_boundaries], length),
                                tf.less(length, [*bucket_boundaries, limits.max]))
        which = tf.cast(tf.reduce_min(tf.where(inside)), tf.int32)
        _, found = bucket(
            [length, *flat], which, batch_size, len(bucket_boundaries) + 1, num_threads, capacity,
            bucket_capacities, shapes if shapes is None else [tf.TensorShape([]), *shapes],
            dynamic_pad, allow_smaller_final_batch, keep_input, shared_name)
        return found[0], queues._as_original_type(tensors, found[1:])


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, (list, tuple)) or not all(
            isinstance(each, int) for each in boundaries):
        raise TypeError(f"bucket_boundaries is {boundaries}; expected a list of integers")
    if not boundaries or any(low >= high for low, high in zip(boundaries, boundaries[1:])):
        raise ValueError(f"bucket_boundaries is {boundaries}; expected numbers, each larger than "
                         "the one before")
