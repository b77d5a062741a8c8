"""A training set that several processes divide: all batches, whichever process reads them."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.input import batches, splits
from estimator_trainer.input.data_service import HandedOut
from input_fns import arrays, csv, digits, image_folder, tfrecord
from input_fns.reading import memory
from tests.support import example_files, images_of_classes


@pytest.fixture(scope="module", name="params")
def fixture_params(tmp_path_factory):
    """Returns the params of each plug-in, with a key of each record."""
    records = tmp_path_factory.mktemp("records")
    for part in range(40):
        example_files.write(records / f"part-{part}", map(
            example_files.row, range(part * 10, part * 10 + 10)))
    images = tmp_path_factory.mktemp("images")
    images_of_classes.write(images)
    tables = tmp_path_factory.mktemp("tables")
    for part in range(40):
        rows = "".join(f"{i},{i % 2}\n" for i in range(part * 10, part * 10 + 10))
        (tables / f"{part}.csv").write_text(f"key,label\n{rows}")
    np.savez(tables / "arrays.npz", key=np.arange(400), label=np.arange(400) % 2)
    return {
        csv: {"train_files": f"{tables}/*.csv", "batch_size": 5},
        arrays: {"train_files": f"{tables}/arrays.npz", "batch_size": 5},
        tfrecord: {"train_files": f"{records}/*", "image_shape": example_files.SHAPE, "key": "key",
                   "num_classes": 10},
        digits: {"tfds_id": True, "key": "key"},
        image_folder: {"train_dir": str(images), "image_size": 4, "file_name": "key"}}


def _dataset(plugin, params, input_context, **changed):
    return plugin.input_fn("train", {
        **plugin.DEFAULT_PARAMS, "batch_size": 4, **params[plugin], **changed}, input_context)


def _keys(dataset):
    """Returns the keys of each batch."""
    with tf.compat.v1.Session() as session:
        batch = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()[0]["key"]
        found = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(batch).tolist())
        return found


@pytest.mark.parametrize("plugin, changed", [
    (tfrecord, {"epochs": 3}), (tfrecord, {"epochs": 2, "shuffle_buffer": 0}),
    (digits, {"epochs": 2, "batch_size": 10}), (csv, {"epochs": 3}), (arrays, {"epochs": 3})],
    ids=["tfrecord", "in_order", "digits", "csv", "arrays"])
def test_processes_divide_the_batches_of_one(params, plugin, changed):
    with tf.Graph().as_default():
        assert (_keys(_dataset(plugin, params, HandedOut(), **changed)) ==
                _keys(_dataset(plugin, params, None, **changed)))


@pytest.mark.parametrize("plugin, changed, limit", [
    (tfrecord, {"epochs": 4}, memory.LIMIT_BYTES), (tfrecord, {"epochs": 4}, 1),
    (csv, {"epochs": 4}, 1), (csv, {}, memory.LIMIT_BYTES), (arrays, {}, memory.LIMIT_BYTES),
    (digits, {"augment": "cifar"}, memory.LIMIT_BYTES), (image_folder, {}, memory.LIMIT_BYTES),
    (image_folder, {"epochs": 8}, 1)],
    ids=["tfrecord", "files", "tables", "csv", "arrays", "digits", "images", "paths"])
def test_processes_can_divide_a_set(params, plugin, changed, limit, monkeypatch):
    monkeypatch.setattr(memory, "LIMIT_BYTES", limit)
    with tf.Graph().as_default():
        context = HandedOut()
        made = _dataset(plugin, params, context, **changed)
        assert made.element_spec == _dataset(plugin, params, None, **changed).element_spec
        assert batches.is_endless(made) == ("epochs" not in changed)
        with tf.Graph().as_default():
            found = splits.of_copy(batches.copied(tf.data.experimental.to_variant(made)),
                                   context.same_python is made)
    assert not found.undivided and found.are_fine(2) and found.can_be_resumed


def test_each_image_comes_once_in_an_epoch(params, monkeypatch):
    monkeypatch.setattr(memory, "LIMIT_BYTES", 1)
    with tf.Graph().as_default():
        keys = np.ravel(_keys(_dataset(image_folder, params, HandedOut(), epochs=2,
                                       augment="cifar", batch_size=1))).tolist()
    first, second = keys[:len(keys) // 2], keys[len(keys) // 2:]
    assert len(set(first)) == len(first) and sorted(first) == sorted(second) and first != second


def test_other_rows_are_another_set(params, tmp_path):
    found = set()
    for first in (0, 1, 1):
        np.savez(tmp_path / "arrays.npz", key=np.arange(400) + first, label=np.ones(400, int))
        with tf.Graph().as_default():
            made = _dataset(arrays, params, HandedOut(), train_files=f"{tmp_path}/arrays.npz")
            found.add(splits.of_copy(tf.data.experimental.to_variant(made)).fingerprint)
    assert len(found) == 2


def test_files_of_a_large_table_are_read_once_in_an_epoch(params, monkeypatch):
    monkeypatch.setattr(memory, "LIMIT_BYTES", 1)
    with tf.Graph().as_default():
        keys = np.ravel(_keys(_dataset(csv, params, HandedOut(), epochs=2))).tolist()
    assert sorted(keys) == sorted(2 * [key for key in range(400) if (key + 1) % 10 % 5])


def test_python_that_an_input_fn_adds_to_another_is_not_divided(params):
    context = HandedOut()
    with tf.Graph().as_default():
        made = _dataset(csv, params, context)
        own = made.map(batches.as_it_is(lambda features, label: (features, tf.numpy_function(
            lambda x: x, [label], tf.int64))))
        for dataset, is_divided in ((made, True), (own, False)):
            found = splits.of_copy(tf.data.experimental.to_variant(dataset),
                                   context.same_python is dataset)
            assert found.undivided == ("" if is_divided else "it calls Python functions")
