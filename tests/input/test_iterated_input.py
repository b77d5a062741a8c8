"""An input_fn that returns tensors, in the ways of TensorFlow 1, is turned back into a dataset."""

from __future__ import annotations

import collections
import types

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.input import array_queue, iterated_input

pytestmark = pytest.mark.cluster

tf1 = tf.compat.v1
X = np.arange(20, dtype=np.float32).reshape(10, 2)
Y = np.arange(10)


def _computed(x):
    with tf.control_dependencies([tf1.assert_non_negative(x)]):
        looped = tf.map_fn(lambda row: row * 2, x)
    called = tf.numpy_function(lambda a: a * 2, [x], np.float32)
    called.set_shape([None, 2])
    return {"sparse": tf.sparse.from_dense(x + 1), "ragged": tf.RaggedTensor.from_tensor(x),
            "looped": looped, "called": called,
            "chosen": tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: -x)}


def _one_shot():
    dataset = tf1.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(4)
    features, labels = dataset.make_one_shot_iterator().get_next()
    features.update(_computed(features["x"]))
    tf1.summary.scalar("mean", tf.reduce_mean(features["x"]))
    return features, labels


def _initializable():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant(Y), tf.constant(Y)), -1)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).map(
        lambda x, y: (x, table.lookup(y))).batch(4)
    iterator = tf1.data.make_initializable_iterator(dataset)
    tf1.add_to_collection(tf1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    x, y = iterator.get_next()
    return {"x": x}, table.lookup(y)


def _two_iterators():
    sets = [tf.data.Dataset.from_tensor_slices(X), tf.data.Dataset.range(10)]
    x, y = (tf1.data.make_one_shot_iterator(each.batch(4)).get_next() for each in sets)
    return [{"x": x}, y]


def _arrays(**options):
    made = tf1.estimator.inputs.numpy_input_fn(
        {"x": X, "text": Y.astype(str)}, Y, batch_size=4, **{"shuffle": False, **options})
    return made()


class _Frame:
    """The used part of a pandas DataFrame, without pandas."""

    def __init__(self, columns, index):
        self._columns = columns
        self.columns, self.index = list(columns), types.SimpleNamespace(values=index)

    def __getitem__(self, name):
        return types.SimpleNamespace(values=self._columns[name])


def _converted(input_fn, batches=100):
    """Returns the batches of an input_fn's dataset, its spec, and the graph."""
    with tf.Graph().as_default() as graph:
        with iterated_input.recorded() as iterated:
            result = input_fn()
        dataset = iterated.dataset(tuple(result))
        assert dataset is not None, iterated.reason
        iterator = tf1.data.make_initializable_iterator(dataset)
        element, found = iterator.get_next(), []
        with tf1.Session() as session:
            session.run(tf1.tables_initializer())
            session.run(iterator.initializer)
            try:
                while len(found) < batches:
                    found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                pass
    return found, dataset.element_spec, graph


@pytest.mark.parametrize("input_fn", [_one_shot, _initializable, _two_iterators, _arrays])
def test_iterated_gives_each_example_once_and_in_order(input_fn):
    found, spec, _ = _converted(input_fn)
    assert [len(labels) for _, labels in found] == [4, 4, 2]
    np.testing.assert_array_equal(np.concatenate([each["x"] for each, _ in found]), X)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in found]), Y)
    assert spec[0]["x"].shape.as_list() == [None, 2]


def test_iterated_computes_what_follows_get_next_for_each_batch():
    found, spec, graph = _converted(_one_shot)
    for features, _ in found:
        for name in ("looped", "called", "chosen"):
            np.testing.assert_array_equal(features[name], features["x"] * 2)
        np.testing.assert_array_equal(features["sparse"].values, features["x"].ravel() + 1)
        np.testing.assert_array_equal(features["ragged"].values, features["x"].ravel())
    assert spec[0]["called"].shape.as_list() == [None, 2]
    # A session that merges summaries would wait for an iterator that nobody starts.
    assert not graph.get_collection(tf1.GraphKeys.SUMMARIES)


def test_rows_come_as_their_queue_would_give_them(monkeypatch):
    found, *_ = _converted(lambda: _arrays(num_epochs=2))
    assert [len(labels) for _, labels in found] == [4] * 5
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in found]), [*Y, *Y])
    assert found[0][0]["text"].tolist() == [b"0", b"1", b"2", b"3"]
    found, *_ = _converted(lambda: _arrays(shuffle=True))
    assert sorted(label for _, labels in found for label in labels) == Y.tolist()
    found, spec, _ = _converted(lambda: _arrays(num_epochs=None), batches=7)
    assert len(found) == 7 and spec[1].shape == [4]
    monkeypatch.setattr(array_queue, "_LARGEST_CONSTANT_BYTES", 8)
    found, _, graph = _converted(_arrays)
    np.testing.assert_array_equal(np.concatenate([each["x"] for each, _ in found]), X)
    assert len(graph.as_graph_def().SerializeToString()) < 50_000


def test_rows_of_a_dataframe_have_its_index_and_columns():
    frame = _Frame({"a": X[:, 0], "b": Y}, Y + 100)
    rows = array_queue.rows(frame, 1000, shuffle=False, num_epochs=1, num_threads=2)
    [batch] = list(rows.in_batches(20, is_partial=True).as_numpy_iterator())
    for column, wanted in zip(batch, (Y + 100, X[:, 0], Y)):
        np.testing.assert_array_equal(column, [*wanted, *wanted])
    assert array_queue.rows(lambda: iter(()), 1000) is None
    ordered = collections.OrderedDict(a=Y)
    assert next(iter(array_queue.rows(ordered, 9).in_batches(3, True)))[1].numpy().tolist() == [
        0, 1, 2]


def test_iterated_constants_are_a_dataset_without_end():
    found, spec, _ = _converted(lambda: ({"x": tf.constant(X)}, Y), batches=3)
    np.testing.assert_array_equal(found[2][0]["x"], X)
    assert spec[0]["x"].shape == [10, 2] and len(found) == 3


def _queue():
    x = tf1.train.input_producer(tf.constant(X), num_epochs=1).dequeue()
    return {"x": tf1.train.batch([x], 4)}


def _several_elements():
    iterator = tf1.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(X))
    return {"x": tf.stack([iterator.get_next(), iterator.get_next()])}


def _fed():
    dataset = tf.data.Dataset.from_tensor_slices(tf1.placeholder(tf.float32, [None, 2]))
    return {"x": tf1.data.make_initializable_iterator(dataset).get_next()}


def _other_iterator():
    dataset = tf.data.Dataset.from_tensor_slices(X)
    return {"x": tf1.data.Iterator.from_structure(
        tf1.data.get_output_types(dataset), tf1.data.get_output_shapes(dataset)).get_next()}


def _variable():
    scale = tf1.get_variable("scale", [], use_resource=True)
    return {"x": scale * _two_iterators()[0]["x"]}


def _python():
    return {"x": tf1.py_func(lambda: X, [], tf.float32)}


@pytest.mark.parametrize("input_fn, reason", [
    (_queue, "from queues"), (_several_elements, "several elements"), (_fed, "placeholders"),
    (_other_iterator, "IteratorGetNext"), (_python, "Python functions"),
    (_variable, "'scale', a variable")])
def test_impossible_tensors_stay_with_the_reason(input_fn, reason):
    with tf.Graph().as_default() as graph, iterated_input.recorded() as iterated:
        features = input_fn()
        assert iterated.dataset(features) is None and reason in iterated.reason
        if input_fn is _several_elements:
            # A one-shot iterator needs no initializer; its stand-in is initialized with tables.
            with tf1.Session() as session:
                session.run(tf1.tables_initializer())
                assert sorted(session.run(features["x"])[:, 0]) == [0, 2]
        assert features["x"].graph is graph
