"""The contract of all input plug-ins: each row once, in shards, epochs, batches and orders."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns import arrays, csv, digits, image_folder, tfds as tfds_plugin, tfrecord
from tests.support import csv_files, example_files, images_of_classes, numbered_rows, reading
from tests.support.reading import context

pytestmark = pytest.mark.cluster

_OFF = tf.data.experimental.AutoShardPolicy.OFF


@dataclasses.dataclass(frozen=True)
class Numbered:
    """Rows that a plug-in reads, and how a test names them."""

    plugin: Any
    params: Callable[[int], dict[str, Any]]  # By the number of files.
    feature: str  # Has the name of a row.
    rows_of: Callable[[tf.data.Dataset], list[Any]]
    stored: Callable[[int], list[Any]]  # The names in their order in so many files.
    is_even: bool  # Shards differ by one row at most.

    def read(self, mode, changes=None, files=3, of=None):
        """Returns the names of the rows of a mode, in the order in which they come."""
        params = {**self.params(files), **(changes or {})}
        return self.rows_of(self.plugin.input_fn(mode, params, of or context()))


def _in_files(plugin, module, folders, tmp_path_factory, feature, **params):
    """Returns rows of `module` of tests/support, which writes them into files."""
    def params_of(files):
        if files not in folders:
            folders[files] = module.write_files(tmp_path_factory.mktemp(f"files{files}"), files)
        return {**plugin.DEFAULT_PARAMS, **params, "train_files": folders[files],
                "eval_files": folders[files], "batch_size": 4}
    return Numbered(plugin, params_of, feature, module.rows_of,
                    lambda files: list(range(module.ROWS)), False)


def _csv(tmp_path_factory, data_dirs):
    return _in_files(csv, csv_files, {}, tmp_path_factory, "row", num_classes=3)


def _tfrecord(tmp_path_factory, data_dirs):
    return _in_files(tfrecord, example_files, {}, tmp_path_factory, "key", num_classes=10,
                     image_shape=example_files.SHAPE, key="key")


def _image_folder(tmp_path_factory, data_dirs):
    folder = images_of_classes.write(tmp_path_factory.mktemp("images"))
    params = {**image_folder.DEFAULT_PARAMS, "train_dir": str(folder), "eval_dir": str(folder),
              "image_size": 8, "batch_size": 4, "file_name": "file"}
    stored = sorted(f"{path.parent.name}/{path.name}" for path in folder.glob("*/[0-9]*"))
    return Numbered(image_folder, lambda files: params, "file", images_of_classes.names_of,
                    lambda files: stored, True)


def _arrays(tmp_path_factory, data_dirs):
    folder = tmp_path_factory.mktemp("arrays")

    def params_of(files):
        paths = []
        for number, part in enumerate(np.array_split(np.arange(23), files)):
            paths.append(str(folder / f"{number}-of-{files}.npz"))
            np.savez(paths[-1], row=part, label=part % 3)
        return {**arrays.DEFAULT_PARAMS, "train_files": ",".join(paths), "num_classes": 3,
                "eval_files": ",".join(paths), "batch_size": 4}

    def rows_of(dataset):
        return [int(row) for batch in dataset
                for row in (batch[0] if isinstance(batch, tuple) else batch)["row"]]

    return Numbered(arrays, params_of, "row", rows_of, lambda files: list(range(23)), True)


def _tfds(tmp_path_factory, data_dirs):
    def stored(files):
        return [int(record["row"]) for record in numbered_rows.NumberedRows(
            data_dir=data_dirs[files]).as_dataset(
                split="train", read_config=tfds.ReadConfig(interleave_cycle_length=1))]

    return Numbered(tfds_plugin, lambda files: {
        **tfds_plugin.DEFAULT_PARAMS, "dataset": "numbered_rows", "data_dir": data_dirs[files],
        "eval_split": "train", "batch_size": 4, "num_classes": 4},
        "row", numbered_rows.rows_of, stored, True)


def _digits(tmp_path_factory, data_dirs):
    params = {**digits.DEFAULT_PARAMS, "data_dir": str(tmp_path_factory.mktemp("digits")),
              "num_classes": 10, "tfds_id": True, "train_split": "train[:23]",
              "eval_split": "train[:23]", "batch_size": 4}

    def rows_of(dataset):
        return [int(name.split(b"__")[1]) for features, _ in dataset
                for name in features["tfds_id"].numpy()]

    return Numbered(digits, lambda files: params, "tfds_id", rows_of,
                    lambda files: list(range(23)), True)


@pytest.fixture(name="data", scope="module",
                params=[pytest.param(_csv, marks=pytest.mark.cluster), _tfrecord, _image_folder,
                        _arrays, _tfds, pytest.param(_digits, marks=pytest.mark.cluster)],
                ids=lambda make: make.__name__[1:])
def fixture_data(request, tmp_path_factory, data_dirs):
    return request.param(tmp_path_factory, data_dirs)


@pytest.mark.parametrize("mode", ("eval", "infer"))
@pytest.mark.parametrize("files", (1, 4))
def test_evaluation_is_every_row_once_in_the_stored_order(data, files, mode):
    for changes in ({}, {"batch_size": 5, "seed": 9}):
        assert data.read(mode, changes, files) == data.stored(files)


@pytest.mark.parametrize("mode", ("train", "eval", "infer"))
def test_input_fn_works_in_a_graph(data, mode):
    got = reading.read_in_a_graph(
        lambda: data.plugin.input_fn(mode, {**data.params(3), "epochs": 1}), data.feature)
    rows = len(data.stored(3))
    assert len(set(got)) == len(got) == (rows // 4 * 4 if mode == "train" else rows)


_SHARDS = {(1, 3), (3, 2), (4, 2)}
_MORE_SHARDS = sorted({*itertools.product((1, 2, 3, 4, 5), (1, 2, 3, 4))} - _SHARDS)


@pytest.mark.cluster
@pytest.mark.parametrize("mode", ("train", "eval", pytest.param("infer", marks=pytest.mark.soak)))
@pytest.mark.parametrize("files, pipelines", [
    *sorted(_SHARDS), *(pytest.param(*each, marks=pytest.mark.soak) for each in _MORE_SHARDS)])
def test_shards_hold_every_row_once(data, files, pipelines, mode):
    shards = [data.read(mode, {"epochs": 1, "batch_size": 1}, files, context(pipelines, i))
              for i in range(pipelines)]
    assert sorted(sum(shards, [])) == sorted(data.stored(files))
    sizes = [len(shard) for shard in shards]
    assert min(sizes) > 0 and (not data.is_even or max(sizes) - min(sizes) <= 1)


def test_training_has_full_batches_for_its_epochs(data):
    rows = data.stored(3)
    batches = list(data.plugin.input_fn("train", {**data.params(3), "epochs": 3}))
    assert [len(labels) for _, labels in batches] == [4] * (len(rows) * 3 // 4)
    read = data.rows_of(batches)
    counts = collections.Counter(read)
    assert set(counts) == set(rows) and set(counts.values()) <= {2, 3}
    assert read[:len(rows)] != rows
    endless = data.plugin.input_fn("train", {**data.params(3), "epochs": 0})
    assert len(data.rows_of(endless.take(30))) == 120


@pytest.mark.cluster
def test_the_order_of_training_follows_from_the_seed(data):
    def order(**changes):
        return data.read("train", {"epochs": 1, **changes}, of=context(replicas=2))

    assert order(seed=3) == order(seed=3) != order(seed=4)
    rows = data.stored(3)
    assert order(shuffle_buffer=0) == rows[:len(rows) // 2 * 2]


@pytest.mark.parametrize("mode", ("train", "eval", "infer"))
def test_nothing_shards_a_second_time_and_replicas_share_the_batch(data, mode):
    dataset = data.plugin.input_fn(mode, data.params(3), context(2, 1, replicas=2))
    assert dataset.options().experimental_distribute.auto_shard_policy == _OFF
    if mode == "train":
        assert dataset.element_spec[1].shape == [2]
