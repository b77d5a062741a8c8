"""The input plug-in `digits`: its bundled file, splits and order."""

import csv
import gzip
import hashlib

import numpy as np
import pytest
import tensorflow as tf

from input_fns import digits
from tests.support import jobs

SOURCE = jobs.REPO / "input_fns" / "digits.csv.gz"

# The hash of sklearn/datasets/data/digits.csv.gz in scikit-learn 1.9.1.
SHA256 = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"


@pytest.fixture(scope="module", name="params")
def fixture_params(tmp_path_factory):
    return {**digits.DEFAULT_PARAMS, "data_dir": str(tmp_path_factory.mktemp("digits")),
            "num_classes": 10}


@pytest.fixture(scope="module", name="source")
def fixture_source():
    with gzip.open(SOURCE, "rt") as source:
        return np.array(list(csv.reader(source)), np.float64).astype(np.int64)


def test_the_bundled_file_is_the_original():
    assert hashlib.sha256(SOURCE.read_bytes()).hexdigest() == SHA256


@pytest.mark.parametrize("mode", ("train", "eval", "infer"))
def test_shapes_and_dtypes(params, mode):
    features, labels = digits.input_fn(mode=mode, params=params).element_spec
    size = 64 if mode == "train" else None
    assert features == {"image": tf.TensorSpec((size, 8, 8, 1), tf.float32)}
    assert labels == tf.TensorSpec((size,), tf.int64)


def test_splits_hold_the_rows_in_order_a_fifth_for_the_test(params, source):
    train = digits.input_fn("eval", {**params, "eval_split": "train", "batch_size": 2000})
    test = digits.input_fn("eval", {**params, "batch_size": 2000, "tfds_id": True})
    (train_features, train_labels), = train
    (test_features, test_labels), = test
    assert (len(train_labels), len(test_labels)) == (1442, 355)
    train_rows, test_rows = _split(source)
    for rows, images, labels in ((train_rows, train_features["image"], train_labels),
                                 (test_rows, test_features["image"], test_labels)):
        np.testing.assert_array_equal(labels, rows[:, 64])
        assert (images.numpy().min(), images.numpy().max()) == (0.0, 1.0)
        np.testing.assert_allclose(images.numpy().reshape(-1, 64), rows[:, :64] / 16, atol=1 / 509)
    ids = [int(tfds_id.split(b"__")[1]) for tfds_id in test_features["tfds_id"].numpy()]
    assert ids == list(range(355))


def _split(source):
    seen = np.zeros(10, int)
    is_test = []
    for label in source[:, 64]:
        seen[label] += 1
        is_test.append(seen[label] % 5 == 0)
    return source[~np.array(is_test)], source[np.array(is_test)]


def test_every_class_is_in_both_splits_alike(source):
    for rows in _split(source):
        shares = np.bincount(rows[:, 64]) / len(rows)
        assert shares.shape == (10,) and shares.min() > 0.09 and shares.max() < 0.11


def test_one_epoch_of_training_is_every_row_once_in_another_order(params, source):
    dataset = digits.input_fn("train", {**params, "epochs": 1, "batch_size": 2, "tfds_id": True})
    ids = [int(name.split(b"__")[1]) for features, _ in dataset
           for name in features["tfds_id"].numpy()]
    assert sorted(ids) == list(range(1442)) != ids
    assert digits.DEFAULT_PARAMS["shuffle_buffer"] >= 1442
    assert {int(label) for _, labels in dataset.take(50) for label in labels} == set(range(10))


@pytest.mark.cluster
def test_works_in_a_graph_from_an_empty_data_dir(params, tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = digits.input_fn("train", {**params, "data_dir": str(tmp_path)})
        features, _ = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        assert session.run(features["image"]).shape == (64, 8, 8, 1)


def test_data_params_need_no_prepared_data(tmp_path):
    params = {**digits.DEFAULT_PARAMS, "data_dir": str(tmp_path / "nothing")}
    assert digits.data_params(params) == {"num_classes": 10, "train_examples": 1442}
    assert digits.data_params({**params, "train_split": "train[:9]"}) == {"num_classes": 10}
    assert not (tmp_path / "nothing").exists()
