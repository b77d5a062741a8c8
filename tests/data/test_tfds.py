"""The input plug-in `tfds`: what it reads, in which shapes, shards and order."""

import collections
import itertools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns import tfds as plugin
from input_fns.reading import memory
from input_fns.reading import tfds_data
from input_fns.reading import tfds_shard
from tests.support import reading
from tests.support.reading import context

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = ("train", "eval", "infer")
TRAIN_ROWS, TEST_ROWS = 17, 5


class NumberedRows(tfds.core.GeneratorBasedBuilder):
    """Rows that carry their own number; pixel values run from 0 to 255."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({
                "image": tfds.features.Image(shape=(2, 3, 1), dtype=np.uint8),
                "counts": tfds.features.Tensor(shape=(2,), dtype=np.uint8),
                "row": np.int64,
                "text": tfds.features.Text(),
                "label": tfds.features.ClassLabel(num_classes=4),
            }))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(TRAIN_ROWS),
                "test": self._generate_examples(TEST_ROWS)}

    def _generate_examples(self, rows):
        for row in range(rows):
            image = np.array([0, 1, 2, 51, 254, 255], np.uint8).reshape(2, 3, 1)
            yield row, {"image": image, "counts": [row, 255], "row": row,
                        "text": "x" * row, "label": row % 4}


class UnevenImages(tfds.core.GeneratorBasedBuilder):
    """Images of no one size."""

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


@pytest.fixture(scope="module", name="data_dirs")
def fixture_data_dirs(tmp_path_factory):
    """{number of files of the train split: a data_dir with such a dataset}."""
    data_dirs = {}
    for files in range(1, 6):
        data_dirs[files] = str(tmp_path_factory.mktemp(f"files{files}"))
        config = tfds.download.DownloadConfig(num_shards=files)
        builder = NumberedRows(data_dir=data_dirs[files])
        builder.download_and_prepare(download_config=config)
        assert builder.info.splits["train"].num_shards == files
    return data_dirs


@pytest.fixture(name="params")
def fixture_params(data_dirs):
    return {**plugin.DEFAULT_PARAMS, "dataset": "numbered_rows", "data_dir": data_dirs[2],
            "batch_size": 4, "num_classes": 4}


def rows(dataset):
    return [int(row) for features, _ in dataset for row in features["row"]]


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


@pytest.mark.parametrize("mode", ("eval", "infer"))
@pytest.mark.parametrize("files", (1, 5))
def test_evaluation_is_the_whole_split_in_one_order(params, data_dirs, mode, files):
    params.update(data_dir=data_dirs[files], eval_split="train")
    first = rows(plugin.input_fn(mode, params))
    assert sorted(first) == list(range(TRAIN_ROWS))
    assert rows(plugin.input_fn(mode, {**params, "batch_size": 3, "seed": 5})) == first
    stored = NumberedRows(data_dir=data_dirs[files]).as_dataset(
        split="train", read_config=tfds.ReadConfig(interleave_cycle_length=1))
    assert [int(record["row"]) for record in stored] == first


@pytest.mark.parametrize("mode", MODES)
def test_works_in_a_graph(params, mode):
    got = reading.read_in_a_graph(
        lambda: plugin.input_fn(mode, {**params, "epochs": 1}), "row")
    assert len(set(got)) == len(got) == (16 if mode == "train" else TEST_ROWS)


def test_training_has_full_batches_for_the_epochs_asked(params):
    batches = list(plugin.input_fn("train", {**params, "epochs": 3}))
    assert [len(labels) for _, labels in batches] == [4] * (TRAIN_ROWS * 3 // 4)
    counts = collections.Counter(rows(batches))
    assert set(counts) == set(range(TRAIN_ROWS)) and set(counts.values()) <= {2, 3}
    endless = plugin.input_fn("train", {**params, "epochs": 0})
    assert endless.cardinality() == tf.data.INFINITE_CARDINALITY
    assert len(rows(endless.take(50))) == 200


@pytest.mark.cluster
def test_the_order_follows_from_the_seed_and_the_pipeline(params):
    def order(seed=0, pipeline_id=0, **changes):
        dataset = plugin.input_fn("train", {**params, "seed": seed, "batch_size": 1, **changes},
                                  context(2, pipeline_id))
        return rows(dataset.take(60))

    assert order(seed=3) == order(seed=3)
    assert order(seed=3) != order(seed=4)
    # The same records in both pipelines: only the seed can make them differ.
    same = {"train_split": "train[:1]+train[:1]+train[1:2]+train[1:2]+train[2:3]+train[2:3]"}
    one, other = order(**same), order(pipeline_id=1, **same)
    assert set(one) == set(other) and len(set(one)) == 3
    assert one != other


def test_the_order_follows_from_the_graph_seed(params):
    def order(graph_seed):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.set_random_seed(graph_seed)
            dataset = plugin.input_fn("train", {**params, "batch_size": 17})
            features, _ = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
            return list(session.run(features["row"]))

    assert order(1) == order(1) != order(2)


def test_no_shuffle_buffer_keeps_the_stored_order(params):
    in_order = rows(plugin.input_fn("eval", {**params, "eval_split": "train"}))
    plain = {**params, "shuffle_buffer": 0, "epochs": 1, "batch_size": 1}
    assert rows(plugin.input_fn("train", plain)) == in_order
    assert rows(plugin.input_fn("train", {**plain, "shuffle_buffer": 100})) != in_order


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


@pytest.mark.parametrize("files, pipelines, mode", [
    *itertools.product((1, 2, 3, 4, 5), (1, 2, 3, 4), ("train",)),
    *itertools.product((1, 4), (3,), ("eval", "infer"))])
def test_shards_are_disjoint_complete_and_even(params, data_dirs, files, pipelines, mode):
    params.update(data_dir=data_dirs[files], eval_split="train", epochs=1, batch_size=1)
    shards = [rows(plugin.input_fn(mode, params, context(pipelines, pipeline_id)))
              for pipeline_id in range(pipelines)]
    assert sorted(sum(shards, [])) == list(range(TRAIN_ROWS))
    sizes = [len(shard) for shard in shards]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("split", ("train+test", "all", "train[:4]+test[:4]+train[4:8]"))
def test_shards_of_a_sum_of_splits_are_even(data_dirs, split):
    builder = NumberedRows(data_dir=data_dirs[3])
    for pipelines in (2, 3, 4):
        shards = [tfds_shard.shard_of(builder, split, context(pipelines, pipeline_id))
                  for pipeline_id in range(pipelines)]
        sizes = [shard.records for shard in shards]
        assert sum(sizes) == builder.info.splits[split].num_examples
        assert max(sizes) - min(sizes) <= 1
        assert {shard.least_records for shard in shards} == {min(sizes)}


@pytest.mark.parametrize("files", (1, 2, 3, 4, 5))
@pytest.mark.parametrize("pipelines", (2, 3, 4))
def test_a_shard_opens_its_share_of_the_files(data_dirs, files, pipelines):
    builder = NumberedRows(data_dir=data_dirs[files])
    shards = [tfds_shard.shard_of(builder, "train", context(pipelines, pipeline_id))
              for pipeline_id in range(pipelines)]
    opened = [len(builder.info.splits[shard.split].filepaths) for shard in shards]
    assert sum(opened) <= files + pipelines - 1
    assert {shard.way for shard in shards} == {"by file" if files >= pipelines else "by record"}


def test_training_logs_its_shard_once(params, monkeypatch):
    lines = []
    monkeypatch.setattr(tfds_data.logging, "info", lambda text, *args: lines.append(text % args))
    plugin.input_fn("eval", params, context(3, 1))
    plugin.input_fn("train", params, context(2, 1))
    plugin.input_fn("train", params, context(3, 1))
    assert [line for line in lines if "shard" in line] == [
        "reads shard 2/2 of numbered_rows/train (by file, 8 records)",
        "reads shard 2/3 of numbered_rows/train (by record, 6 records)"]


def test_nothing_shards_a_second_time(params):
    for mode in MODES:
        options = plugin.input_fn(mode, params, context(2, 1)).options()
        assert (options.experimental_distribute.auto_shard_policy ==
                tf.data.experimental.AutoShardPolicy.OFF)


def test_synchronous_pipelines_have_the_same_number_of_batches(params):
    params.update(batch_size=2, epochs=1)
    for replicas, counts in ((2, [8, 8]), (1, [4, 4])):
        assert [len(list(plugin.input_fn("train", params, context(2, pipeline_id, replicas))))
                for pipeline_id in (0, 1)] == counts


MIRRORED = """
import json, sys
import tensorflow as tf
from tests.data import test_tfds
from input_fns import tfds as plugin
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
devices = ["CPU:0", "CPU:1"]
params = {**plugin.DEFAULT_PARAMS, **json.loads(sys.argv[1])}
result = {}
strategy = tf.distribute.MirroredStrategy(devices)
for mode in ("train", "eval"):
    dataset = strategy.distribute_datasets_from_function(
        lambda context: plugin.input_fn(mode, params, context))
    result[mode] = [[row.numpy().tolist() for row in strategy.experimental_local_results(
        features["row"])] for features, _ in dataset]
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    strategy = tf.compat.v1.distribute.MirroredStrategy(devices)
    iterator = strategy.make_input_fn_iterator(
        lambda context: plugin.input_fn("train", params, context))
    session.run(iterator.initializer)
    batch = strategy.experimental_local_results(iterator.get_next()[0]["row"])
    result["graph"] = [[row.tolist() for row in session.run(batch)] for _ in range(4)]
print(json.dumps(result))
"""


@pytest.mark.cluster
def test_mirrored_replicas_share_the_batch_and_see_each_record_once(params):
    params.update(train_split="train[:16]", eval_split="train", epochs=1)
    done = subprocess.run([sys.executable, "-c", MIRRORED, json.dumps(params)], cwd=ROOT,
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    for key, records in (("train", 16), ("eval", TRAIN_ROWS), ("graph", 16)):
        seen = [row for step in result[key] for replica in step for row in replica]
        assert len(seen) == len(set(seen)) == records, key
    for key in ("train", "graph"):
        assert [[len(replica) for replica in step] for step in result[key]] == [[2, 2]] * 4


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
    ({"batch_size": 0}, None, "--param batch_size=1"),
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
