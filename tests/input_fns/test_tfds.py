"""The input plug-in `tfds`: what it reads, in which shapes and order."""


import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns import tfds as plugin
from input_fns.reading import memory
from tests.support.numbered_rows import rows_of, TRAIN_ROWS
from tests.support.reading import context

MODES = ("train", "eval", "infer")


class UnevenImages(tfds.core.GeneratorBasedBuilder):
    """Images that differ in size."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({"image": tfds.features.Image(),
                                                 "label": np.float32}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for size in (1, 2):
            yield size, {"image": np.zeros((size, size, 3), np.uint8), "label": 0.5}


@pytest.fixture(name="params")
def fixture_params(data_dirs):
    return {**plugin.DEFAULT_PARAMS, "dataset": "numbered_rows", "data_dir": data_dirs[2],
            "batch_size": 4, "num_classes": 4}


@pytest.mark.parametrize("mode", MODES)
def test_features_are_scaled_images_and_the_rest_untouched(params, mode):
    dataset = plugin.input_fn(mode=mode, params=params)
    size = 4 if mode == "train" else None
    features, labels = dataset.element_spec
    assert {name: (spec.shape.as_list(), spec.dtype) for name, spec in features.items()} == {
        "image": ([size, 2, 3, 1], tf.float32), "counts": ([size, 2], tf.uint8),
        "row": ([size], tf.int64), "text": ([size], tf.string)}
    assert (labels.shape.as_list(), labels.dtype) == ([size], tf.int64)
    features, labels = next(iter(dataset))
    np.testing.assert_allclose(features["image"][0].numpy().ravel(),
                               np.array([0, 1, 2, 51, 254, 255]) / 255, rtol=1e-6)
    assert features["image"].numpy().max() == 1.0
    np.testing.assert_array_equal(features["counts"][:, 0], features["row"])
    np.testing.assert_array_equal(labels, features["row"].numpy() % 4)


@pytest.mark.cluster
def test_the_order_follows_from_the_pipeline(params):
    def order(pipeline_id=0, **changes):
        dataset = plugin.input_fn("train", {**params, "batch_size": 1, **changes},
                                  context(2, pipeline_id))
        return rows_of(dataset.take(60))

    # The same records in both pipelines: only the seed can make them differ.
    same = {"train_split": "train[:1]+train[:1]+train[1:2]+train[1:2]+train[2:3]+train[2:3]"}
    one, other = order(**same), order(pipeline_id=1, **same)
    assert set(one) == set(other) and len(set(one)) == 3
    assert one != other


@pytest.mark.cluster
def test_the_order_follows_from_the_graph_seed(params):
    def order(graph_seed):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.set_random_seed(graph_seed)
            dataset = plugin.input_fn("train", {**params, "batch_size": 17})
            features, _ = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
            return list(session.run(features["row"]))

    assert order(1) == order(1) != order(2)


def test_tfds_id_names_each_record(params):
    def ids(mode):
        dataset = plugin.input_fn(mode, {**params, "tfds_id": True, "eval_split": "train",
                                         "epochs": 1, "batch_size": 1})
        return {int(features["row"][0]): bytes(features["tfds_id"].numpy()[0])
                for features, _ in dataset}

    assert len(set(ids("eval").values())) == TRAIN_ROWS
    assert ids("train") == ids("eval")


def test_images_of_no_one_size_are_resized(params, tmp_path):
    params.update(dataset="uneven_images", data_dir=str(tmp_path), image_size=3, batch_size=2,
                  eval_split="train")
    for mode in ("train", "eval"):
        features, _ = next(iter(plugin.input_fn(mode, params)))
        assert features["image"].shape == (2, 3, 3, 3)
    assert plugin.data_params(params) == {"train_examples": 2}


def test_data_params_need_no_prepared_data(params, tmp_path):
    params["data_dir"] = str(tmp_path / "nothing")
    assert plugin.data_params(params) == {"num_classes": 4}
    assert plugin.data_params({**params, "label": "row"}) == {}
    assert plugin.data_params({**plugin.DEFAULT_PARAMS, "data_dir": params["data_dir"]}) == {
        "num_classes": 10}
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("limit, cached", ((250 * 1024**2, True), (500, False)))
def test_only_a_small_set_is_read_from_memory(tmp_path, params, monkeypatch, limit, cached):
    monkeypatch.setattr(memory, "LIMIT_BYTES", limit)
    params.update(data_dir=str(tmp_path), batch_size=17, epochs=0)
    iterator = iter(plugin.input_fn("train", params))
    next(iterator), next(iterator)
    for path in tmp_path.glob("numbered_rows/1.0.0/*.tfrecord*"):
        path.unlink()
    if cached:
        assert len([next(iterator) for _ in range(100)]) == 100
    else:
        with pytest.raises(tf.errors.NotFoundError):
            for _ in range(100):
                next(iterator)


@pytest.mark.parametrize("changes, ctx, expected", (
    ({"dataset": "mnits"}, None, "--param dataset=mnist"),
    ({"dataset": "mnist/foo"}, None, "BuilderConfig foo not found"),
    ({"train_split": "trian"}, None, "it has train (17 records), test (5 records)"),
    ({"train_split": "train[:99%%]"}, None, "it has train (17 records), test (5 records)"),
    ({"train_split": "trian"}, context(2), "it has train (17 records), test (5 records)"),
    ({"train_split": "train[:2]"}, context(3), "each of the 3 input pipelines"),
    ({"label": "lable"}, None, "--param label=label"),
    ({"dataset": "uneven_images"}, None, "(None, None, 3)"),
    ({"batch_size": 5}, context(replicas=4), "--param batch_size=8"),
    ({"batch_size": 0}, None, "--param batch_size=64"),
    ({"batch_size": 18, "epochs": 1}, None, "--param epochs=0"),
))
def test_a_mistake_is_one_sentence(params, tmp_path, changes, ctx, expected):
    params.update(changes)
    if params["dataset"] == "uneven_images":
        params["data_dir"] = str(tmp_path)
    with pytest.raises(ValueError) as caught:
        plugin.input_fn("train", params, ctx)
    assert caught.value.exit_code == 2
    assert expected in str(caught.value) and "\n" not in str(caught.value)
