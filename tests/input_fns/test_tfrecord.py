"""The input plug-in `tfrecord`: what it reads, and who reads which record."""

import json
import math

import numpy as np
import pytest
import tensorflow as tf

from input_fns import tfrecord, tfrecord as plugin
from input_fns.reading.errors import DataFileError
from tests.support import example_files
from tests.support.example_files import example, row, ROWS, rows_of, SHAPE
from tests.support.reading import context, folders_of


@pytest.fixture(scope="module", name="folders")
def fixture_folders(tmp_path_factory):
    return folders_of(example_files.write_files, tmp_path_factory)


@pytest.fixture(name="params")
def fixture_params(folders):
    return {**plugin.DEFAULT_PARAMS, "train_files": folders[3], "eval_files": folders[3],
            "image_shape": SHAPE, "key": "key", "num_classes": 10, "batch_size": 4}


@pytest.mark.parametrize("mode", ("train", "eval"))
def test_features_are_images_in_0_to_1_keys_and_labels(params, mode):
    dataset = plugin.input_fn(mode=mode, params=params)
    size = 4 if mode == "train" else None
    assert dataset.element_spec == (
        {"image": tf.TensorSpec([size, *SHAPE], tf.float32),
         "key": tf.TensorSpec([size], tf.string)},
        tf.TensorSpec([size], tf.int64))
    (features, labels) = next(iter(dataset))
    numbers = [int(key.split()[1]) for key in features["key"].numpy()]
    np.testing.assert_array_equal(labels, np.array(numbers) % 10)
    np.testing.assert_allclose(features["image"].numpy().reshape(4, 6) * 255,
                               [[n, 0, 51, 102, 204, 255] for n in numbers], rtol=1e-5)


def test_prediction_needs_no_label(params, tmp_path):
    example_files.write(tmp_path / "unlabelled", [example(image_raw=bytes(6), key=b"row 7")])
    params["eval_files"] = str(tmp_path / "unlabelled")
    assert rows_of(plugin.input_fn("infer", params)) == [7]


@pytest.mark.cluster
def test_pipelines_share_files_evenly_and_the_rest_by_record(params, folders):
    params.update(train_files=folders[4], batch_size=1, epochs=1)
    bounds = [ROWS * i ** 2 // 16 for i in range(5)]
    first, second = (set(rows_of(plugin.input_fn("train", params, context(2, i)))) for i in (0, 1))
    assert first == {*range(*bounds[:2]), *range(*bounds[2:4])}
    assert second == {*range(*bounds[1:3]), *range(*bounds[3:])}
    # 3 files for 2 pipelines: one each, and every second record of the third.
    params["train_files"] = folders[3]
    parts = [rows_of(plugin.input_fn("train", params, context(2, i))) for i in (0, 1)]
    bounds = [ROWS * i ** 2 // 9 for i in range(4)]
    for i, part in enumerate(parts):
        assert set(range(*bounds[i:i + 2])) <= set(part)
        assert len(set(range(*bounds[2:])) & set(part)) in (6, 7)


@pytest.mark.cluster
def test_input_fn_of_two_patterns_repeats_its_order(params, folders):
    many = {"train_files": ",".join([folders[4], folders[1]]), "seed": 1, "epochs": 1}
    one, other = (rows_of(plugin.input_fn("train", {**params, **many})) for _ in "12")
    assert one == other


@pytest.mark.parametrize("compression", ("GZIP", "ZLIB"))
def test_reads_compressed_files(params, tmp_path, compression):
    example_files.write(tmp_path / "rows", map(row, range(5)), compression)
    params.update(eval_files=str(tmp_path / "rows"), compression=compression)
    assert rows_of(plugin.input_fn("eval", params)) == list(range(5))


def test_reads_any_schema(params, tmp_path):
    example_files.write(tmp_path / "ads", [example(tags=[1, 2], price=0.5, label=1),
                                           example(price=1.5, label=0)])
    params.update(eval_files=str(tmp_path / "ads"), image="", key="", schema={
        "tags": {"dtype": "int64", "shape": "varlen"}, "price": {"dtype": "float32", "shape": []},
        "label": {"dtype": "int64", "shape": []}})
    (features, labels), = plugin.input_fn("eval", params)
    assert tf.sparse.to_dense(features["tags"]).numpy().tolist() == [[1, 2], [0, 0]]
    assert features["price"].numpy().tolist() == [0.5, 1.5] and labels.numpy().tolist() == [1, 0]


def test_a_key_may_be_a_whole_number(params, tmp_path):
    example_files.write(tmp_path / "ads", [example(ad=2**53 + 1, price=0.5, label=1)])
    params.update(eval_files=str(tmp_path / "ads"), image="", key="ad", schema={
        "ad": {"dtype": "int64", "shape": []}, "price": {"dtype": "float32", "shape": []},
        "label": {"dtype": "int64", "shape": []}})
    (features, _), = plugin.input_fn("eval", params)
    assert features["ad"].numpy().tolist() == [2**53 + 1]


def test_a_flat_image(params):
    features, _ = next(iter(plugin.input_fn("eval", {**params, "image_shape": [6]})))
    assert features["image"].shape == [4, 6]


def test_dataset_json_sets_the_params(params, tmp_path):
    facts = {"num_examples": {"train": ROWS}, "num_classes": 10, "image_shape": SHAPE}
    (tmp_path / "dataset.json").write_text(json.dumps(facts))
    for i in range(2):
        example_files.write(tmp_path / f"train-{i:05d}-of-00002.tfrecord", [row(i)])
    params["train_files"] = str(tmp_path / "train-*")
    known = {"num_classes": 10, "image_shape": SHAPE}
    assert plugin.data_params(params) == {**known, "train_examples": ROWS}
    params["train_files"] = str(tmp_path / "train-00000-*")
    assert plugin.data_params(params) == known
    assert plugin.data_params({**params, "train_files": ""}) == {}
    assert plugin.data_params({**params, "train_files": "/nowhere/*"}) == {}
    (tmp_path / "dataset.json").write_text("{}")
    with pytest.raises(RuntimeError, match="'num_examples'|'num_classes'") as caught:
        plugin.data_params(params)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("changes, exit_code, expected", (
    ({"train_files": ""}, 2, "--param train_files='/data/train-*'"),
    ({"train_files": "{folder}/prat-*"}, 1, "holds part-0, part-1, part-2. For example: --param "
     "train_files='{folder}/part-"),
    ({"train_files": "{folder}"}, 1, "is a folder; expected a file"),
    ({"train_files": "{folder}/part-0,{folder}/no/*"}, 1, "there is no folder '{folder}/no'"),
    ({"compression": "gzip"}, 2, "--param compression=GZIP"),
    ({"label": "lable"}, 2, "expected one of ['image_raw', 'label']"),
    ({"image": "pixels"}, 2, "--param image="),
    ({"image": "label"}, 2, "--param image="),
    ({"schema": {"label": "int64"}}, 2, "schema has 'int64' for 'label'"),
    ({"schema": {"label": {"dtype": "int32", "shape": []}}}, 2, "['float32', 'int64', 'string']"),
    ({"batch_size": 0}, 2, "--param batch_size=64"),
))
def test_a_mistake_is_one_sentence(params, folders, changes, exit_code, expected):
    folder = folders[3].rpartition("/")[0]
    params.update({key: value.format(folder=folder) if isinstance(value, str) else value
                   for key, value in changes.items()})
    with pytest.raises((ValueError, RuntimeError)) as caught:
        plugin.input_fn("train", params)
    assert caught.value.exit_code == exit_code
    assert expected.format(folder=folder) in str(caught.value) and "\n" not in str(caught.value)


def test_a_column_of_a_table_as_the_label_names_the_plugin_of_tables(params, tmp_path):
    (tmp_path / "houses.csv").write_text("area,price\n50,1000\n")
    params.update(train_files=str(tmp_path / "houses.csv"), label="price")
    with pytest.raises(DataFileError, match="houses.csv is CSV .* For example: --input_fn=csv$"):
        plugin.data_params(params)


def _infer(plugin, params):
    return list(plugin.input_fn("infer", params).as_numpy_iterator())


def _records(path, **params):
    return {**tfrecord.DEFAULT_PARAMS, "train_files": "/gone", "predict_files": str(path),
            "image_shape": example_files.SHAPE, "num_classes": 3, **params}


@pytest.mark.any_tensorflow
@pytest.mark.cluster
def test_records_are_predicted_with_and_without_labels(tmp_path):
    path = tmp_path / "new"
    example_files.write(path, [example_files.example(image_raw=bytes(6))])
    assert isinstance(_infer(tfrecord, _records(path))[0], dict)
    # A label that is no class is told, and harms no prediction.
    example_files.write(path, [example_files.row(7)])
    [(_, label)] = _infer(tfrecord, _records(path))
    assert label.tolist() == [7]


@pytest.mark.any_tensorflow
@pytest.mark.cluster
def test_a_record_that_cannot_be_predicted_is_named(tmp_path):
    example_files.write(tmp_path / "new", [example_files.example(image_raw=bytes(5))])
    assert "has 5 bytes; expected 6" in tfrecord.data_problem(_records(tmp_path / "new"))


@pytest.mark.any_tensorflow
@pytest.mark.cluster
def test_a_conversion_keeps_the_names_of_the_classes(tmp_path):
    facts = {"num_examples": {}, "num_classes": 2, "image_shape": [8, 8, 3],
             "class_names": ["cat", "dog"]}
    (tmp_path / "dataset.json").write_text(json.dumps(facts))
    assert tfrecord.data_params({"train_files": f"{tmp_path}/train-*"})["class_names"] == [
        "cat", "dog"]


def _write(path, *records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record.SerializeToString())


def _floats(**features):
    return tf.train.Features(feature={
        name: tf.train.Feature(float_list=tf.train.FloatList(value=values))
        for name, values in features.items()})


def _schema(params, path, **schema):
    return {**params, "train_files": str(path), "eval_files": str(path), "image": "", "label": "y",
            "key": "", "schema": {name: {"dtype": "float32", "shape": shape}
                                  for name, shape in schema.items()}}


def test_a_record_with_a_number_that_is_not_finite_is_named(params, tmp_path):
    path = tmp_path / "numbers.tfrecord"
    good = tf.train.Example(features=_floats(y=[1], x=[2], other=[math.nan]))
    _write(path, good, good, tf.train.Example(features=_floats(y=[1], x=[math.inf])), good)
    used = _schema(params, path, y=[], x="varlen")
    assert plugin.not_finite(used) == f"record 3 of {path} has inf in feature 'x'"
    assert plugin.not_finite(_schema(params, path, y=[])) == ""


def test_a_list_of_a_sequence_example_is_refused(params, tmp_path):
    path = tmp_path / "sequences.tfrecord"
    steps = tf.train.FeatureList(feature=[tf.train.Feature(
        float_list=tf.train.FloatList(value=[1]))])
    _write(path, tf.train.SequenceExample(
        context=_floats(y=[1]),
        feature_lists=tf.train.FeatureLists(feature_list={"steps": steps})))
    plugin.input_fn("eval", _schema(params, path, y=[]))
    with pytest.raises(RuntimeError, match="record 1 of .* is a tf.SequenceExample, and 'steps'"):
        plugin.input_fn("eval", _schema(params, path, y=[], steps="varlen"))


def test_a_misspelt_list_is_logged_with_the_nearest_name(params, tmp_path, caplog):
    path = tmp_path / "lists.tfrecord"
    _write(path, *[tf.train.Example(features=_floats(y=[1], history=[2, 3]))] * 3)
    plugin.input_fn("eval", _schema(params, path, y=[], histroy="varlen"))
    assert "schema has 'histroy', and none of the first 3 records" in caplog.text
    assert "They have history, y. Did you mean 'history'?" in caplog.text


@pytest.mark.parametrize("number", (math.nan, math.inf))
@pytest.mark.parametrize("shape", ([], "varlen"))
def test_new_data_with_a_number_that_is_not_finite_are_refused(tmp_path, number, shape):
    params = {**plugin.DEFAULT_PARAMS, "image": "", "label": "y", "schema": {
        "x": {"dtype": "float32", "shape": shape}, "y": {"dtype": "int64", "shape": []}}}
    path = tmp_path / "new"
    example_files.write(path, [example(x=value, y=1) for value in (0.5, 1.5, number, 2.5)])
    params["predict_files"] = str(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a number is nan or infinite"):
        list(plugin.input_fn("infer", params))
    assert plugin.data_problem(params) == (
        f"record 3 of {path}: has {number} in feature 'x'; expected finite numbers")
    example_files.write(path, [example(x=0.5, y=1)])
    assert len(list(plugin.input_fn("infer", params))) == 1 and not plugin.data_problem(params)
