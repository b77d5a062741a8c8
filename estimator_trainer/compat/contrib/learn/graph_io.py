"""Examples of files are read by queues, in batches.

Source: tensorflow/contrib/learn/python/learn/learn_io/graph_io.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.platform import gfile

_KEY = "__key__"


def _file_names(file_pattern: Any, randomize_input: bool) -> list[str]:
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    if not patterns:
        raise ValueError("No files given to dequeue_examples.")
    names = [name for pattern in patterns for name in gfile.Glob(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return names if randomize_input else sorted(names)


def _check(**numbers: Any) -> None:
    for name, number in numbers.items():
        if number is None or not tf.is_tensor(number) and number <= 0:
            raise ValueError(f"Invalid {name} {number}.")


def _examples(queue: Any, reader: Any, num_threads: int, read_batch_size: int,
              parse_fn: Any) -> list[Any]:
    found = []
    for _ in range(num_threads):
        keys, examples = (reader().read_up_to(queue, read_batch_size) if read_batch_size > 1
                          else reader().read(queue))
        parsed = parse_fn(examples) if parse_fn else examples
        found.append({**parsed, _KEY: keys} if isinstance(parsed, dict) else (keys, parsed))
    return found


def read_keyed_batch_examples(file_pattern: Any, batch_size: Any, reader: Any,
                              randomize_input: bool = True, num_epochs: Any = None,
                              queue_capacity: int = 10000, num_threads: int = 1,
                              read_batch_size: int = 1, parse_fn: Any = None, name: Any = None,
                              seed: Any = None) -> Any:
    """Returns a batch of keys, and one of examples or of what parse_fn makes of them.

    Args:
      file_pattern: Pattern of files, or a list of such.
      batch_size: Examples of a batch.
      reader: A function that returns a reader, as `tf.TFRecordReader`.
      randomize_input: Whether files and examples are in another order in each epoch.
      num_epochs: How often files are read; None for no end.
      queue_capacity: How many examples are read ahead.
      num_threads: How many readers.
      read_batch_size: How many examples are read at once.
      parse_fn: A function of an example, or of several.
      name: Name of the operations.
      seed: The seed of the order.

    Raises:
      ValueError: no file matches, or a number is not positive.
    """
    v1, files = tf.compat.v1, _file_names(file_pattern, randomize_input)
    _check(queue_capacity=queue_capacity, batch_size=batch_size, read_batch_size=read_batch_size,
           num_threads=num_threads, num_epochs=1 if num_epochs is None else num_epochs)
    if not tf.is_tensor(batch_size) and batch_size >= queue_capacity:
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    with v1.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with v1.name_scope("file_name_queue") as queue_scope:
            queue = v1.train.string_input_producer(
                tf.constant(files, name="input"), num_epochs, randomize_input, seed,
                name=queue_scope)
        with v1.name_scope("read"):
            examples = _examples(queue, reader, num_threads, read_batch_size, parse_fn)
        options = {"capacity": queue_capacity, "enqueue_many": read_batch_size > 1, "name": scope,
                   "allow_smaller_final_batch": num_epochs is not None}
        if not randomize_input:
            found = v1.train.batch_join(examples, batch_size, **options)
        else:
            kept = int(queue_capacity * .4) if tf.is_tensor(batch_size) else max(
                queue_capacity - 3 * batch_size, batch_size)
            found = v1.train.shuffle_batch_join(examples, batch_size, min_after_dequeue=kept,
                                                seed=seed, **options)
    if isinstance(found, dict):
        return found.pop(_KEY), found
    return found


def read_batch_examples(*args: Any, **kwargs: Any) -> Any:
    """Returns a batch of examples; arguments as in `read_keyed_batch_examples`."""
    return read_keyed_batch_examples(*args, **kwargs)[1]


def queue_parsed_features(parsed_features: Any, keys: Any = None,
                          feature_queue_capacity: int = 100, num_enqueue_threads: int = 2,
                          name: Any = None) -> Any:
    """Returns keys, or None, and features, of a queue that is filled by threads of its own.

    Args:
      parsed_features: Tensors and SparseTensors by name.
      keys: A tensor.
      feature_queue_capacity: How many batches are kept.
      num_enqueue_threads: How many threads.
      name: Name of the operations.
    """
    v1, nest = tf.compat.v1, tf.nest
    everything = {"features": dict(parsed_features)}
    everything.update({} if keys is None else {"keys": keys})
    flat = nest.flatten(everything, expand_composites=True)
    with v1.name_scope(name, "queue_parsed_features", flat):
        queue = tf.queue.FIFOQueue(feature_queue_capacity, [each.dtype for each in flat])
        v1.summary.scalar(
            f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
            tf.cast(queue.size(), tf.float32) / feature_queue_capacity)
        v1.train.add_queue_runner(v1.train.QueueRunner(
            queue, [queue.enqueue(flat) for _ in range(num_enqueue_threads)],
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError)))
        taken = queue.dequeue()
        taken = taken if isinstance(taken, list) else [taken]
        for tensor, source in zip(taken, flat):
            tensor.set_shape(source.shape)
        found = nest.pack_sequence_as(everything, taken, expand_composites=True)
    return found.get("keys"), found["features"]


def read_keyed_batch_features(file_pattern: Any, batch_size: Any, features: Any, reader: Any,
                              randomize_input: bool = True, num_epochs: Any = None,
                              queue_capacity: int = 10000, reader_num_threads: int = 1,
                              feature_queue_capacity: int = 100, num_enqueue_threads: int = 2,
                              parse_fn: Any = None, name: Any = None,
                              read_batch_size: Any = None) -> Any:
    """Returns a batch of keys, and one of features by name.

    Args:
      features: What `tf.parse_example` reads of an Example.
      reader_num_threads: How many readers.
      feature_queue_capacity, num_enqueue_threads: As in `queue_parsed_features`.
      **others: As in `read_keyed_batch_examples`.
    """
    with tf.compat.v1.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
            reader_num_threads, read_batch_size or batch_size, parse_fn, scope)
        return queue_parsed_features(tf.compat.v1.parse_example(examples, features), keys,
                                     feature_queue_capacity, num_enqueue_threads, scope)


def read_batch_features(file_pattern: Any, batch_size: Any, features: Any, reader: Any,
                        randomize_input: bool = True, num_epochs: Any = None,
                        queue_capacity: int = 10000, feature_queue_capacity: int = 100,
                        reader_num_threads: int = 1, num_enqueue_threads: int = 2,
                        parse_fn: Any = None, name: Any = None,
                        read_batch_size: Any = None) -> Any:
    """Returns a batch of features by name; arguments as in `read_keyed_batch_features`."""
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads, feature_queue_capacity, num_enqueue_threads, parse_fn, name,
        read_batch_size)[1]


def read_batch_record_features(file_pattern: Any, batch_size: Any, features: Any,
                               randomize_input: bool = True, num_epochs: Any = None,
                               queue_capacity: int = 10000, reader_num_threads: int = 1,
                               name: str = "dequeue_record_examples") -> Any:
    """Returns a batch of features of TFRecords by name."""
    return read_batch_features(
        file_pattern, batch_size, features, tf.compat.v1.TFRecordReader, randomize_input,
        num_epochs, queue_capacity, reader_num_threads=reader_num_threads, name=name)
