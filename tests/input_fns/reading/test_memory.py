"""A training set that several processes divide: all batches, whichever process reads them."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.input import batches, splits
from estimator_trainer.input.data_service import HandedOut
from input_fns import digits, image_folder, tfrecord
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
    return {
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
    (digits, {"epochs": 2, "batch_size": 10})], ids=["tfrecord", "in_order", "digits"])
def test_processes_divide_the_batches_of_one(params, plugin, changed):
    with tf.Graph().as_default():
        assert (_keys(_dataset(plugin, params, HandedOut(), **changed)) ==
                _keys(_dataset(plugin, params, None, **changed)))


@pytest.mark.parametrize("plugin, changed, limit", [
    (tfrecord, {"epochs": 4}, memory.LIMIT_BYTES), (tfrecord, {"epochs": 4}, 1),
    (digits, {"augment": "cifar"}, memory.LIMIT_BYTES), (image_folder, {}, memory.LIMIT_BYTES),
    (image_folder, {"epochs": 8}, 1)], ids=["tfrecord", "files", "digits", "images", "paths"])
def test_processes_can_divide_a_set(params, plugin, changed, limit, monkeypatch):
    monkeypatch.setattr(memory, "LIMIT_BYTES", limit)
    with tf.Graph().as_default():
        made = _dataset(plugin, params, HandedOut(), **changed)
        assert made.element_spec == _dataset(plugin, params, None, **changed).element_spec
        assert batches.is_endless(made) == ("epochs" not in changed)
        with tf.Graph().as_default():
            found = splits.of_copy(batches.copied(tf.data.experimental.to_variant(made)))
    assert not found.undivided and found.are_fine(2) and found.can_be_resumed


def test_each_image_comes_once_in_an_epoch(params, monkeypatch):
    monkeypatch.setattr(memory, "LIMIT_BYTES", 1)
    with tf.Graph().as_default():
        keys = np.ravel(_keys(_dataset(image_folder, params, HandedOut(), epochs=2,
                                       augment="cifar", batch_size=1))).tolist()
    first, second = keys[:len(keys) // 2], keys[len(keys) // 2:]
    assert len(set(first)) == len(first) and sorted(first) == sorted(second) and first != second
