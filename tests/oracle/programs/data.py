"""tf.data under the graph's seed, its iterators, and what they leave before a later random op."""

import time

import numpy as np
import tensorflow as tf

SOAK = (
    "bucket_by_sequence_length", "cache_and_prefetch", "filter_at_random", "from_generator",
    "group_by_window", "interleave_and_flat_map", "map_and_batch", "map_of_random_numbers",
    "map_of_random_numbers_initializable", "map_of_seeded_numbers", "padded_batch",
    "parallel_interleave", "queue_runners", "random_dataset", "random_dataset_without_seed",
    "reinitializable_iterator", "rejection_resample", "sample_from_datasets",
    "sample_from_datasets_without_seed", "scan_unique_counter",
    "shuffle_and_repeat_a_small_buffer", "shuffle_and_repeat_initializable",
    "shuffle_and_repeat_later_passes", "shuffle_and_repeat_once",
    "shuffle_and_repeat_without_seed", "shuffle_batch", "shuffle_map_batch",
    "shuffle_not_each_iteration", "shuffle_with_seed", "slices_shuffled",
    "slices_shuffled_without_seed", "string_producer", "zip_concatenate_window",
    "numbers_of_operations", "described",)
DIFFERENT = {"shuffle_and_repeat_later_passes": "later passes over shuffled data have other orders"}


def _read(dataset, number, iterator="one_shot"):
    if iterator == "one_shot":
        following = dataset.make_one_shot_iterator().get_next()
    else:
        made = dataset.make_initializable_iterator()
        following = made.get_next()
    later = tf.random_normal([2])
    found = []
    with tf.Session() as session:
        if iterator != "one_shot":
            session.run(made.initializer)
        for _ in range(number):
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                found.append("end")
        found.append(session.run(later))
    return found


def shuffle():
    return _read(tf.data.Dataset.range(6).shuffle(6), 7)


def shuffle_initializable():
    return _read(tf.data.Dataset.range(6).shuffle(6), 7, "initializable")


def shuffle_with_seed():
    return _read(tf.data.Dataset.range(6).shuffle(6, seed=3), 7)


def shuffle_small_buffer():
    return _read(tf.data.Dataset.range(8).shuffle(3, seed=5), 8)


def shuffle_and_repeat():
    return _read(tf.data.Dataset.range(4).shuffle(4, seed=3).repeat(3), 4)


def shuffle_and_repeat_initializable():
    return _read(tf.data.Dataset.range(4).shuffle(4, seed=3).repeat(3), 4, "initializable")


def shuffle_and_repeat_without_seed():
    return _read(tf.data.Dataset.range(4).shuffle(4).repeat(), 4)


def repeat_and_shuffle():
    return _read(tf.data.Dataset.range(4).repeat(2).shuffle(4, seed=3), 8)


def shuffle_not_each_iteration():
    return _read(
        tf.data.Dataset.range(4).shuffle(4, seed=3, reshuffle_each_iteration=False).repeat(3), 12
    )


def shuffle_map_batch():
    data = tf.data.Dataset.from_tensor_slices(np.arange(10.0)).shuffle(10).map(lambda x: x * 2)
    return _read(data.batch(4), 4)


def map_of_random_numbers():
    return _read(
        tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32) + tf.random_uniform([])), 3
    )


def map_of_random_numbers_initializable():
    return _read(
        tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32) + tf.random_normal([2])),
        3,
        "initializable",
    )


def map_of_seeded_numbers():
    return _read(tf.data.Dataset.range(3).map(lambda x: tf.random_uniform([], seed=4)), 3)


def filter_at_random():
    return _read(tf.data.Dataset.range(10).filter(lambda x: tf.random_uniform([]) < 0.5), 4)


def random_dataset():
    return _read(tf.data.experimental.RandomDataset(seed=4).take(3), 3)


def random_dataset_without_seed():
    return _read(tf.data.experimental.RandomDataset().take(3), 3)


def shuffle_and_repeat_fused():
    data = tf.data.Dataset.range(4).apply(tf.data.experimental.shuffle_and_repeat(4, 2, seed=3))
    return _read(data, 4)


def shuffle_and_repeat_later_passes():
    return _read(tf.data.Dataset.range(4).shuffle(4, seed=3).repeat(3), 12)


def shuffle_and_repeat_a_small_buffer():
    return _read(tf.data.Dataset.range(9).shuffle(3, seed=5).repeat(2).batch(3), 3)


def shuffle_and_repeat_once():
    return _read(tf.data.Dataset.range(4).shuffle(4, seed=3).repeat(1), 5)


def sample_from_datasets():
    data = tf.data.experimental.sample_from_datasets(
        [tf.data.Dataset.range(5), tf.data.Dataset.range(10, 15)], [0.3, 0.7], seed=2
    )
    return _read(data, 8)


def sample_from_datasets_without_seed():
    data = tf.data.experimental.sample_from_datasets(
        [tf.data.Dataset.range(5), tf.data.Dataset.range(10, 15)]
    )
    return _read(data, 8)


def rejection_resample():
    data = tf.data.Dataset.from_tensor_slices([0, 0, 0, 1, 0, 0, 1, 0] * 4)
    data = data.apply(tf.data.experimental.rejection_resample(lambda x: x, [0.5, 0.5], seed=3))
    return _read(data, 5)


def initializable_iterator():
    data = tf.data.Dataset.from_tensor_slices([1, 2, 3]).batch(2)
    return _read(data, 3, "initializable")


def reinitializable_iterator():
    one, two = tf.data.Dataset.range(2), tf.data.Dataset.range(5, 7)
    iterator = tf.data.Iterator.from_structure(one.output_types, one.output_shapes)
    following = iterator.get_next()
    starts = [iterator.make_initializer(each) for each in (one, two)]
    later = tf.random_normal([2])
    found = []
    with tf.Session() as session:
        for start in starts:
            session.run(start)
            found.append([session.run(following) for _ in range(2)])
        found.append(session.run(later))
    return found


def feedable_iterator():
    data = tf.data.Dataset.range(3)
    iterator = data.make_one_shot_iterator()
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(
        handle, data.output_types, data.output_shapes
    ).get_next()
    with tf.Session() as session:
        value = session.run(iterator.string_handle())
        return [session.run(following, {handle: value}) for _ in range(3)]


def parallel_interleave():
    data = tf.data.Dataset.range(3).apply(
        tf.data.experimental.parallel_interleave(
            lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2, sloppy=False
        )
    )
    return _read(data, 6)


def interleave_and_flat_map():
    data = tf.data.Dataset.range(3).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2, 1
    )
    return _read(data.flat_map(lambda x: tf.data.Dataset.range(x)), 5)


def padded_batch():
    data = tf.data.Dataset.range(1, 4).map(lambda x: tf.fill([x], x))
    return _read(data.padded_batch(2, [None]), 2) + _read(
        data.padded_batch(2, [4], tf.constant(9, tf.int64)), 2
    )


def zip_concatenate_window():
    a, b = tf.data.Dataset.range(4), tf.data.Dataset.range(4, 8)
    windows = a.window(2, 1).flat_map(lambda x: x.batch(2))
    return [
        _read(tf.data.Dataset.zip((a, b)), 2),
        _read(a.concatenate(b).skip(3), 3),
        _read(windows, 3),
        _read(a.shard(2, 1), 2),
        _read(a.enumerate(5), 2),
        _read(a.reduce(tf.constant(0, tf.int64), lambda x, y: x + y) if False else a.take(1), 1),
    ]


def from_generator():
    def numbers():
        for each in range(3):
            yield each, [each] * 2

    return _read(tf.data.Dataset.from_generator(numbers, (tf.int32, tf.float32), ([], [2])), 4)


def cache_and_prefetch():
    data = tf.data.Dataset.range(3).map(lambda x: x + 1).cache().prefetch(1).repeat(2)
    return _read(data, 6)


def scan_unique_counter():
    e = tf.data.experimental
    return [
        _read(
            tf.data.Dataset.range(4).apply(
                e.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))
            ),
            4,
        ),
        _read(tf.data.Dataset.from_tensor_slices([1, 1, 2]).apply(e.unique()), 2),
        _read(e.Counter(3, 2).take(2), 2),
    ]


def group_by_window():
    data = tf.data.Dataset.range(8).apply(
        tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, rows: rows.batch(2), 2)
    )
    return _read(data, 4)


def bucket_by_sequence_length():
    data = tf.data.Dataset.from_tensor_slices([1, 5, 2, 6]).map(lambda n: tf.fill([n], n))
    data = data.apply(
        tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [3], [2, 2])
    )
    return _read(data, 2)


def map_and_batch():
    return _read(
        tf.data.Dataset.range(5).apply(
            tf.data.experimental.map_and_batch(lambda x: x * 2, 2, drop_remainder=True)
        ),
        3,
    )


def attributes():
    data = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]}).batch(2)
    return [
        data.output_types,
        data.output_shapes,
        data.output_classes["a"].__name__,
        isinstance(data, tf.data.Dataset),
    ]


def queue_runners():
    numbers = tf.train.range_input_producer(4, shuffle=True, seed=3, num_epochs=1).dequeue()
    batch = tf.train.batch([numbers], 2)
    return _started(batch, 2)


def slices_shuffled():
    a, b = tf.train.slice_input_producer([tf.range(4), tf.range(4, 8)], seed=2, num_epochs=2)
    return _started([a, b], 5)


def slices_shuffled_without_seed():
    a = tf.train.slice_input_producer([tf.range(4)], num_epochs=1)
    return _started(a, 4)


def shuffle_batch():
    x = tf.train.range_input_producer(6, shuffle=False, num_epochs=1).dequeue()
    batch = tf.train.shuffle_batch([x], 2, 8, 4, seed=4)
    [size] = [each for each in tf.get_default_graph().get_operations()
              if each.name.startswith("shuffle_batch/") and each.type.startswith("QueueSize")]
    return _started(batch, 3, size.outputs[0], 6)


def string_producer():
    names = tf.train.string_input_producer(["a", "b", "c"], shuffle=True, seed=1, num_epochs=2)
    return _started(names.dequeue(), 6)


def _started(fetches, number, size=None, full=0):
    later = tf.random_normal([2])
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        while size is not None and session.run(size) < full:  # The order depends on it.
            time.sleep(.01)
        for _ in range(number):
            found.append(session.run(fetches))
        found.append(session.run(later))
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5)
    return found


def queues():
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    r = tf.RandomShuffleQueue(5, 1, [tf.int32], [[]], seed=3)
    p = tf.PriorityQueue(5, [tf.int32], [[]])
    with tf.Session() as session:
        session.run(
            [
                q.enqueue_many([[1, 2, 3]]),
                r.enqueue_many([[1, 2, 3, 4]]),
                p.enqueue_many([[3, 1], [7, 8]]),
            ]
        )
        return [
            session.run([q.dequeue(), r.dequeue()]),
            session.run([q.size()] + p.dequeue()),
            session.run(r.dequeue()),
        ]


def numbers_of_operations():
    found, data = {}, tf.data.Dataset
    more = tf.data.experimental

    def numbers():
        return data.from_tensor_slices(np.arange(6))

    for name, call in {
            "interleaved": lambda: numbers().interleave(data.range, 2, num_parallel_calls=2),
            "chosen": lambda: more.choose_from_datasets([numbers(), numbers()], data.range(2)),
            "records": lambda: tf.data.TFRecordDataset(["a", "b"], num_parallel_reads=2),
            "csv": lambda: more.CsvDataset("a", [0]),
            "options": lambda: numbers().with_options(tf.data.Options())}.items():
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            call()
            found[name] = tf.get_seed(None)[1]
    return found


def described():
    numbers = tf.data.Dataset.from_tensor_slices({"a": np.zeros([4, 2]), "b": (["x"] * 4, [1] * 4)})
    return [str(numbers.batch(2)), repr(tf.data.Dataset.range(3).map(lambda x: x + 1))]
