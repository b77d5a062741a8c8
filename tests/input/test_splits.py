"""A dataset is read in several processes only where these yield what one process would."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.input import batches, splits


def _splits(make):
    with tf.Graph().as_default():
        dataset = make()
        with tf.Graph().as_default():
            return splits.of_copy(batches.copied(tf.data.experimental.to_variant(dataset)))


def _numbers(count=1000):
    return tf.data.Dataset.range(count).map(lambda i: {"id": i})


@pytest.mark.parametrize("make, reason", [
    (_numbers, ""),
    (lambda: tf.data.Dataset.from_tensor_slices({"x": np.arange(9)}).batch(2).repeat(3), ""),
    (lambda: tf.data.TFRecordDataset(["a", "b"]).filter(lambda x: True).prefetch(1), ""),
    (lambda: _numbers().shard(1, 0).cache().shuffle(9).repeat(), ""),
    (lambda: _numbers().shard(2, 0), "ShardDataset"),
    (lambda: _numbers().take(100), "TakeDataset"),
    (lambda: _numbers().skip(100), "SkipDataset"),
    (lambda: _numbers().enumerate(), "ZipDataset"),
    (lambda: tf.data.Dataset.zip((_numbers(), _numbers())), "ZipDataset"),
    (lambda: _numbers().map(lambda x: tf.py_function(lambda y: y, [x["id"]], tf.int64)),
     "Python functions"),
    (lambda: tf.data.Dataset.from_generator(
        lambda: iter(range(3)), output_signature=tf.TensorSpec([], tf.int64)), "Python functions"),
])
def test_a_dataset_is_divided_where_each_operation_works_on_one_record(make, reason):
    found = _splits(make)
    assert reason in found.undivided and bool(reason) == bool(found.undivided)
    assert not found.of_session


@pytest.mark.parametrize("make, reason", [
    (lambda: tf.data.Dataset.range(9).cache(), ""),
    (lambda: tf.data.Dataset.range(9).shuffle(9), "take from a ShuffleDataset"),
])
def test_a_dataset_that_functions_use_is_read_whole_in_each_process(make, reason):
    def numbers():
        used = make()
        return tf.data.Dataset.range(9).flat_map(lambda i: used.skip(i).take(1))

    assert reason in _splits(numbers).undivided and bool(reason) == bool(
        _splits(numbers).undivided)


def test_python_that_is_the_same_everywhere_may_be_called_everywhere():
    def make(own):
        return tf.data.Dataset.range(9).map(batches.as_it_is(
            lambda i: tf.numpy_function(lambda x: x + own, [i], tf.int64)))

    with tf.Graph().as_default():
        variants = [tf.data.experimental.to_variant(make(own)) for own in (1, 2)]
        found = [splits.of_copy(variant, has_same_python=True) for variant in variants]
        names = [each.share_python() for each in found]
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            copy = tf.data.experimental.from_variant(
                batches.copied(variants[0], names[0]), tf.TensorSpec([], tf.int64))
            read = session.run(tf.compat.v1.data.make_one_shot_iterator(copy).get_next())
    assert not found[0].undivided and found[0].python != found[1].python
    # The function is that of the process, here of the last dataset that has the name.
    assert [*names[0].values()] == [*names[1].values()] and read == 2


def test_a_lookup_table_belongs_to_a_session():
    def make():
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0], [1]), -1)
        return tf.data.Dataset.range(3).map(lambda i: table.lookup(tf.cast(i, tf.int32)))

    assert _splits(make).of_session.startswith("HashTable")


@pytest.mark.parametrize("make, are_fine", [
    (lambda: _numbers().batch(10), True),
    (lambda: _numbers().repeat(), True),
    (lambda: _numbers().shuffle(1000), False),
    (lambda: tf.data.TextLineDataset([f"{i}" for i in range(100)]).shuffle(1000), True),
    (lambda: tf.data.TextLineDataset("one file"), False),
    (lambda: tf.data.Dataset.from_tensor_slices(list("0123456789" * 4)).shuffle(40).interleave(
        tf.data.TextLineDataset, cycle_length=16, num_parallel_calls=2), True),
    (lambda: tf.data.Dataset.from_tensor_slices(list("0123456789" * 3)).interleave(
        tf.data.TextLineDataset, cycle_length=1), False),
])
def test_trainers_take_parts_of_a_source_that_has_many(make, are_fine):
    assert _splits(make).are_fine(4) == are_fine
    assert _splits(make).are_fine(1)


def test_the_fingerprint_is_that_of_what_a_dataset_does():
    def make(count=100, seed=None, before=0):
        for _ in range(before):
            tf.data.Dataset.range(3).map(lambda i: i)
        return _numbers(count).shuffle(10, seed).map(lambda x: x["id"] + 1)

    same = _splits(make).fingerprint
    assert _splits(make).fingerprint == _splits(lambda: make(before=2)).fingerprint == same
    assert same not in (_splits(lambda: make(count=101)).fingerprint,
                        _splits(lambda: make(seed=7)).fingerprint,
                        _splits(lambda: make().shard(2, 0)).fingerprint)


@pytest.mark.parametrize("make, num_splits", [
    (lambda: tf.data.Dataset.range(1000).batch(3), 334),
    (lambda: tf.data.Dataset.range(3000, 3, -2).shuffle(20, 1).map(lambda i: i).batch(64), 300),
    (lambda: tf.data.Dataset.from_tensor_slices(np.arange(2000)).repeat(2).batch(4), 500),
    (lambda: tf.data.Dataset.from_tensor_slices(
        (np.arange(2000), np.ones([2000, 3]))).map(lambda i, _: i).batch(4), 500),
    (lambda: tf.data.Dataset.range(50).batch(10), 50),
    (lambda: tf.data.Dataset.range(9).flat_map(tf.data.Dataset.range).batch(2), 9),
])
def test_a_process_requests_a_batch_of_the_source_at_once(make, num_splits):
    def read(change):
        with tf.Graph().as_default():
            dataset = make()
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                variant = change(batches.copied(tf.data.experimental.to_variant(dataset)))
                chain = [variant.op]
                while any(each.dtype == tf.variant for each in chain[0].inputs):
                    chain.insert(0, chain[0].inputs[0].op)
                following = tf.compat.v1.data.make_one_shot_iterator(
                    tf.data.experimental.from_variant(variant, dataset.element_spec)).get_next()
                numbers = []
                with pytest.raises(tf.errors.OutOfRangeError):
                    while True:
                        numbers.extend(session.run(following))
                start = [session.run(each) for each in chain[0].inputs]
                return numbers, len(range(*start)) if len(start) == 3 else len(start[0])

    (plain, _), (divided, found) = read(lambda variant: variant), read(
        lambda variant: splits.divided(variant, _splits(make), 2))
    assert divided == plain and found == num_splits
