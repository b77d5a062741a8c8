"""Batches are split over replicas, each example once; and the last one is known as such."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.input import batches


@pytest.mark.parametrize("replicas", [2, 3, 4])
@pytest.mark.parametrize("examples, batch_size", [(355, 32), (352, 32), (353, 32), (5, 4), (4, 64)])
def test_split_gives_every_replica_a_part_of_every_batch(examples, batch_size, replicas):
    numbers = tf.data.Dataset.range(examples).batch(batch_size)
    parts = [list(part) for part in batches.split(numbers, replicas).as_numpy_iterator()]
    assert len(parts) % replicas == 0 and all(parts)
    assert [number for part in parts for number in part] == list(range(examples))


def test_split_keeps_the_structure_of_features():
    def example(i):
        sparse = tf.SparseTensor([[i % 3]], [tf.cast(i, tf.float32)], [3])
        return {"id": tf.strings.as_string(i), "bag": sparse}, i

    dataset = tf.data.Dataset.range(9).map(example).batch(4)
    parts = list(batches.split(dataset, 2))
    assert len(parts) == 4  # 4 + 5: the last example joins the second batch.
    ids = [text.decode() for features, _ in parts for text in features["id"].numpy()]
    assert ids == [str(i) for i in range(9)]
    bags = tf.concat([tf.sparse.to_dense(features["bag"]) for features, _ in parts], 0).numpy()
    assert bags.sum(axis=1).tolist() == list(range(9)) and bags.shape == (9, 3)
    assert [int(n) for _, labels in parts for n in labels] == list(range(9))


def test_split_refuses_fewer_examples_than_replicas():
    dataset = tf.data.Dataset.range(2).batch(4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fewer examples than 3 replicas"):
        list(batches.split(dataset, 3))


@pytest.mark.parametrize("end, is_endless", [(None, True), (3, False)])
def test_is_endless_on_the_devices_of_a_cluster(end, is_endless):
    with tf.Graph().as_default(), tf.device("/job:chief/task:0/device:CPU:0"):
        numbers = tf.data.Dataset.range(8).map(lambda number: number + 1).repeat(end).batch(2)
        assert batches.is_endless(numbers) == is_endless


def _marks(dataset):
    return [int(mark) for _, mark in batches.mark(dataset)]


@pytest.mark.parametrize("examples", [0, 1, 4, 9])
def test_mark_marks_the_last_batch(examples):
    dataset = tf.data.Dataset.range(examples).map(lambda i: ({"x": [i]}, i)).batch(4)
    marked = list(batches.mark(dataset))
    assert [int(n) for (_, labels), _ in marked for n in labels] == list(range(examples))
    expected = [batches.BATCH] * (len(marked) - 1) + [batches.LAST] * bool(examples)
    assert [int(mark) for _, mark in marked] == expected
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = batches.mark(tf.data.Dataset.range(examples).batch(4))
        _, mark = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        assert [session.run(mark) for _ in expected] == expected


def test_mark_keeps_static_shapes():
    dataset = tf.data.Dataset.range(9).batch(4, drop_remainder=True)
    marked = batches.mark(dataset)
    assert marked.element_spec[0].shape == [4] and len(list(marked)) == 2


def _three():
    return tf.data.Dataset.range(3)


_RAGGED = [[0], [], [1, 2]]
# All kinds of elements that a dataset can have, each three times; the first feature of some has
# no rows.
_ELEMENTS = {
    "dense": lambda: _three().batch(1),
    "scalars": _three,
    "text": lambda: _three().map(tf.strings.as_string),
    "without rows": lambda: _three().map(lambda i: ({"a": tf.zeros([0, 4]), "b": [i]}, [i])),
    "rows at times": lambda: tf.data.Dataset.from_generator(
        lambda: map(np.ones, ([1, 2], [0, 2], [3, 2])), output_signature=tf.TensorSpec([None, 2])),
    "a scalar first": lambda: _three().map(lambda i: ({"a": i, "b": [[i]]}, [i])),
    "ragged": lambda: tf.data.Dataset.from_tensor_slices(tf.ragged.constant(_RAGGED)).batch(1),
    "ragged without rows": lambda: _three().map(lambda i: tf.RaggedTensor.from_row_splits(
        tf.constant([], tf.int64), [0])),
    "sparse": lambda: _three().map(lambda i: tf.sparse.from_dense([[i]])),
    "sparse without rows": lambda: _three().map(lambda i: tf.SparseTensor(
        tf.zeros([0, 2], tf.int64), tf.zeros([0]), [0, 2])),
    "unknown rank": lambda: tf.data.Dataset.from_generator(lambda: [1, [2], [[3]]], tf.int32),
    "nothing beside": lambda: _three().map(lambda i: ({"x": i}, None)),
    "no features": lambda: _three().map(lambda i: ({}, i)),
    "nested": lambda: _three().map(lambda i: ({"a": ({"b": i}, [i])}, {"c": (i, i)})),
    "optional": lambda: _three().map(tf.experimental.Optional.from_value),
    "datasets": lambda: tf.data.Dataset.range(6).window(2),
    "tensor arrays": lambda: _three().map(lambda i: tf.TensorArray(tf.int64, 1).write(0, i)),
}


def _shown(value):
    """Returns what an element holds in a form that can be compared."""
    if isinstance(value, tf.data.Dataset):
        return [_shown(each) for each in value]
    if isinstance(value, tf.experimental.Optional):
        return _shown(value.get_value())
    if isinstance(value, tf.TensorArray):
        return _shown(value.stack())
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, tf.SparseTensor):
        return _shown(value.indices), _shown(value.values), _shown(value.dense_shape)
    return value if value is None else np.asarray(value).tolist()


@pytest.mark.parametrize("kind", _ELEMENTS)
def test_mark_marks_the_last_element_of_any_kind(kind):
    dataset = _ELEMENTS[kind]()
    assert _marks(dataset) == [batches.BATCH, batches.BATCH, batches.LAST]
    marked = list(batches.mark(dataset))
    assert len(marked) == 3
    for (batch, _), original in zip(marked, dataset):
        tf.nest.assert_same_structure(batch, original)
        for a, b in zip(tf.nest.flatten(batch), tf.nest.flatten(original)):
            assert _shown(a) == _shown(b)
        assert int(batches.size(batch)) >= 0


@pytest.mark.parametrize("kind", ["without rows", "a scalar first", "unknown rank", "datasets"])
def test_split_leaves_whole_what_cannot_be_cut(kind):
    assert len(list(batches.split(_ELEMENTS[kind](), 2))) == 3


def test_split_leaves_batches_of_unequal_rows():
    def rows():
        for boxes in (2, 0, 4, 4):
            yield np.ones([boxes, 1]), np.ones([4, 1])
    dataset = tf.data.Dataset.from_generator(rows, output_signature=(
        tf.TensorSpec([None, 1]), tf.TensorSpec([4, 1])))
    parts = [(a.shape[0], b.shape[0]) for a, b in batches.split(dataset, 2)]
    assert parts == [(2, 4), (0, 4), (2, 2), (2, 2), (2, 2), (2, 2)]


@pytest.mark.parametrize("shapes, examples", [
    ([[3, 1], [1]], 3), ([[], [2, 1]], 2), ([[], []], 1), ([[0, 4]], 0)])
def test_size_is_that_of_the_first_tensor_with_rows(shapes, examples):
    assert int(batches.size((None, [tf.zeros(shape) for shape in shapes]))) == examples


@pytest.mark.cluster
def test_split_and_mark_ragged_batches():
    words = tf.ragged.constant([[i] * (i % 3) for i in range(9)])
    pairs = tf.ragged.constant([[[i, i]] * (i % 2) for i in range(9)], ragged_rank=1)
    deep = tf.ragged.constant([[[1.0] * i] for i in range(9)])
    dataset = tf.data.Dataset.from_tensor_slices((words, {"pairs": pairs, "deep": deep}))
    parts = list(batches.split(dataset.batch(4), 2))
    assert len(parts) == 4
    assert [row for part, _ in parts for row in part.to_list()] == words.to_list()
    for name, rows in (("pairs", pairs), ("deep", deep)):
        assert [row for _, part in parts for row in part[name].to_list()] == rows.to_list()
    marked = batches.mark(dataset.take(8).batch(4, drop_remainder=True))
    assert [int(mark) for _, mark in marked] == [batches.BATCH, batches.LAST]
    [of_words, others], _ = marked.element_spec
    assert of_words.shape == [4, None] and others["pairs"].shape == [4, None, 2]
