"""Batches are split over replicas, each example once; and the last one is known as such."""

import pytest
import tensorflow as tf

from estimator_trainer.steps import batches


@pytest.mark.parametrize("replicas", [2, 3, 4])
@pytest.mark.parametrize("examples, batch_size", [(355, 32), (352, 32), (353, 32), (5, 4), (4, 64)])
def test_every_replica_gets_a_part_of_every_batch(examples, batch_size, replicas):
    numbers = tf.data.Dataset.range(examples).batch(batch_size)
    parts = [list(part) for part in batches.split(numbers, replicas).as_numpy_iterator()]
    assert len(parts) % replicas == 0 and all(parts)
    assert [number for part in parts for number in part] == list(range(examples))


def test_features_keep_their_structure_with_sparse_and_text_features():
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


def test_fewer_examples_than_replicas_are_an_error():
    dataset = tf.data.Dataset.range(2).batch(4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fewer examples than 3 replicas"):
        list(batches.split(dataset, 3))


@pytest.mark.parametrize("end, is_endless", [(None, True), (3, False)])
def test_an_input_without_end_is_known_on_the_devices_of_a_cluster_too(end, is_endless):
    with tf.Graph().as_default(), tf.device("/job:chief/task:0/device:CPU:0"):
        numbers = tf.data.Dataset.range(8).map(lambda number: number + 1).repeat(end).batch(2)
        assert batches.is_endless(numbers) == is_endless


@pytest.mark.parametrize("examples", [0, 1, 4, 9])
def test_the_last_batch_is_marked(examples):
    dataset = tf.data.Dataset.range(examples).map(lambda i: ({"x": [i]}, i)).batch(4)
    marked = list(batches.mark_last(dataset))
    assert [int(n) for (_, labels), _ in marked for n in labels] == list(range(examples))
    expected = [False] * (len(marked) - 1) + [True] * bool(examples)
    assert [bool(is_last) for _, is_last in marked] == expected
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = batches.mark_last(tf.data.Dataset.range(examples).batch(4))
        _, is_last = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        assert [session.run(is_last) for _ in expected] == expected


def test_marking_keeps_static_shapes():
    dataset = tf.data.Dataset.range(9).batch(4, drop_remainder=True)
    marked = batches.mark_last(dataset)
    assert marked.element_spec[0].shape == [4] and len(list(marked)) == 2


def test_ragged_batches_are_split_marked_and_keep_their_static_shapes():
    words = tf.ragged.constant([[i] * (i % 3) for i in range(9)])
    pairs = tf.ragged.constant([[[i, i]] * (i % 2) for i in range(9)], ragged_rank=1)
    deep = tf.ragged.constant([[[1.0] * i] for i in range(9)])
    dataset = tf.data.Dataset.from_tensor_slices((words, {"pairs": pairs, "deep": deep}))
    parts = list(batches.split(dataset.batch(4), 2))
    assert len(parts) == 4
    assert [row for part, _ in parts for row in part.to_list()] == words.to_list()
    for name, rows in (("pairs", pairs), ("deep", deep)):
        assert [row for _, part in parts for row in part[name].to_list()] == rows.to_list()
    marked = batches.mark_last(dataset.take(8).batch(4, drop_remainder=True))
    assert [bool(is_last) for _, is_last in marked] == [False, True]
    [of_words, others], _ = marked.element_spec
    assert of_words.shape == [4, None] and others["pairs"].shape == [4, None, 2]


def test_a_batch_of_unknown_rank_is_never_marked():
    dataset = tf.data.Dataset.from_generator(lambda: [1, 2], tf.int32)
    assert [bool(is_last) for _, is_last in batches.mark_last(dataset)] == [False, False]


def test_nothing_tunes_an_input_unless_its_own_options_say_so():
    dataset = tf.data.Dataset.range(3)
    assert batches.untuned(dataset).options().autotune.enabled is False
    options = tf.data.Options()
    options.autotune.enabled = True
    assert batches.untuned(dataset.with_options(options)).options().autotune.enabled is True
