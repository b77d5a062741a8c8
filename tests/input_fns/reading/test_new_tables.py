"""New data to predict, which `predict_files` names: tables, images, records."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from input_fns import csv as csv_plugin, image_folder, tfrecord
from input_fns.reading.errors import DataFileError
from tests.support import example_files

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.cluster]
COLUMNS = {"age": 0, "job": "", "income": ""}


@pytest.fixture(name="table")
def fixture_table(tmp_path):
    """Params of a trained model, whose training files are gone; a function writes new files."""
    params = {**csv_plugin.DEFAULT_PARAMS, "train_files": "/gone/*.csv", "columns": COLUMNS,
              "label": "income", "label_vocabulary": ["low", "high"], "num_classes": 2,
              "predict_files": f"{tmp_path}/*.csv"}

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.csv").write_text(text)
        return params

    return write


def _infer(plugin, params):
    return list(plugin.input_fn("infer", params).as_numpy_iterator())


def test_a_table_without_the_label_is_read_in_any_order_of_columns(table):
    [features] = _infer(csv_plugin, table(new="job,extra,age\ncook,x,3\n\n,,4\n"))
    assert features["age"].tolist() == [3, 4] and features["job"].tolist() == [b"cook", b""]
    assert set(features) == {"age", "job"}


def test_the_labels_of_a_table_are_told_as_they_are_written(table):
    [(features, label)] = _infer(csv_plugin, table(new="age,job,income\n1,a,high\n2,b,?\n3,c,\n"))
    assert label.tolist() == [b"high", b"?", b""] and set(features) == {"age", "job"}


def test_each_file_may_have_a_header_of_its_own(table):
    batches = _infer(csv_plugin, table(a="age,job\n1,x\n", b="job,age\ny,2\n", c="job,age\nz,3\n"))
    assert [batch["age"].tolist() for batch in batches] == [[1], [2, 3]]
    # A label that some files lack is told of none.
    assert all(isinstance(batch, dict) for batch in _infer(
        csv_plugin, table(a="age,job,income\n1,x,low\n")))


def test_a_missing_column_is_named_with_one_like_it(table):
    with pytest.raises(DataFileError, match="new.csv .*lacks the column age, .*'Age'"):
        _infer(csv_plugin, table(new="Age,job\n1,a\n"))


def test_a_bad_line_of_new_data_is_named(table):
    problem = csv_plugin.data_problem(table(new="age,income,job\n1,,a\nold,,b\n"))
    assert "line 3 of " in problem
    assert "new.csv: column 'age' is 'old'; expected an integer" in problem
    assert problem.startswith("line 3 of ")


def test_types_come_from_the_training_file_where_columns_do_not_tell_them(table, tmp_path):
    params = table(new="job,age\ncook,3\n")
    (tmp_path / "train.txt").write_text("age,job,income\n1.5,a,low\n")
    params.update(columns={}, train_files=f"{tmp_path}/train.txt")
    assert _infer(csv_plugin, params)[0]["age"].dtype == np.float32


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    """Images beside a class folder and another one, with lists of files."""
    folder = tmp_path_factory.mktemp("new")
    image = tf.io.encode_png(tf.zeros([9, 7, 3], tf.uint8)).numpy()
    for name in ("b.png", "a.PNG", "cat/c.png", "bird/d.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(image)
    (folder / "list.txt").write_text("cat/c.png\n\n  b.png\n")
    (folder / "bad.txt").write_text("b.png\nno.png\n")
    return folder


def _images(**params):
    return {**image_folder.DEFAULT_PARAMS, "train_dir": "/gone", "image_size": 8,
            "augment": "none", "file_name": "file", **params}


@pytest.mark.parametrize("data, expected", [
    ("{0}", ["a.PNG", "b.png", "bird/d.png", "cat/c.png"]),
    ("{0}/list.txt", ["cat/c.png", "b.png"]),
    ("{0}/*", ["a.PNG", "b.png", "bird/d.png", "cat/c.png"]),
    ("{0}/cat/c.png, {0}/b*", ["cat/c.png", "b.png", "bird/d.png"])])
def test_images_are_found_in_folders_lists_and_patterns(folder, data, expected):
    [features] = _infer(image_folder, _images(predict_files=data.format(folder)))
    assert features["image"].shape == (len(expected), 8, 8, 3)
    assert [name.decode() for name in features["file"]] == [f"{folder}/{e}" for e in expected]


def test_the_folder_of_a_class_tells_the_label_of_an_image(folder):
    params = _images(predict_files=str(folder), class_names=["cat", "dog"])
    [(_, label)] = _infer(image_folder, params)
    assert label.tolist() == [b"", b"", b"", b"cat"]
    assert image_folder.data_params(params) == {"num_classes": 2, "class_names": ["cat", "dog"]}
    assert image_folder.data_params({**params, "class_names": []}) == {}


@pytest.mark.parametrize("name, expected", [
    ("bad.txt", "line 2 of .*no.png"), ("nothing*", "--data="), ("empty", "holds no .jpg")])
def test_data_without_an_image_is_one_sentence(folder, name, expected):
    (folder / "empty").mkdir(exist_ok=True)
    with pytest.raises(DataFileError, match=expected):
        _infer(image_folder, _images(predict_files=f"{folder}/{name}"))
    (folder / "empty").rmdir()


def _records(path, **params):
    return {**tfrecord.DEFAULT_PARAMS, "train_files": "/gone", "predict_files": str(path),
            "image_shape": example_files.SHAPE, "num_classes": 3, **params}


def test_records_are_predicted_with_and_without_labels(tmp_path):
    path = tmp_path / "new"
    example_files.write(path, [example_files.example(image_raw=bytes(6))])
    assert isinstance(_infer(tfrecord, _records(path))[0], dict)
    # A label that is no class is told, and harms no prediction.
    example_files.write(path, [example_files.row(7)])
    [(_, label)] = _infer(tfrecord, _records(path))
    assert label.tolist() == [7]


def test_a_record_that_cannot_be_predicted_is_named(tmp_path):
    example_files.write(tmp_path / "new", [example_files.example(image_raw=bytes(5))])
    assert "has 5 bytes; expected 6" in tfrecord.data_problem(_records(tmp_path / "new"))


def test_a_conversion_keeps_the_names_of_the_classes(tmp_path):
    facts = {"num_examples": {}, "num_classes": 2, "image_shape": [8, 8, 3],
             "class_names": ["cat", "dog"]}
    (tmp_path / "dataset.json").write_text(json.dumps(facts))
    assert tfrecord.data_params({"train_files": f"{tmp_path}/train-*"})["class_names"] == [
        "cat", "dog"]
