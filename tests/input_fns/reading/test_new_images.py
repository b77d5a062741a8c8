"""Images to predict, which `predict_files` names."""

from __future__ import annotations

import pytest
import tensorflow as tf

from input_fns import image_folder
from input_fns.reading.errors import DataFileError

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.cluster]


def _infer(plugin, params):
    return list(plugin.input_fn("infer", params).as_numpy_iterator())


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
def test_found_in_folders_lists_and_patterns(folder, data, expected):
    [features] = _infer(image_folder, _images(predict_files=data.format(folder)))
    assert features["image"].shape == (len(expected), 8, 8, 3)
    assert [name.decode() for name in features["file"]] == [f"{folder}/{e}" for e in expected]


def test_found_are_files_whose_names_look_like_patterns_and_lists(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    contents = tf.io.encode_png(tf.zeros([9, 7, 3], tf.uint8)).numpy()
    names = ["a [1].png", "b, c (2).png", "größe.png"]
    for name in names:
        (tmp_path / name).write_bytes(contents)
    data = f"~/{names[0]},{tmp_path}/{names[1]}, ~/gr*.png"
    [features] = _infer(image_folder, _images(predict_files=data))
    assert [name.decode() for name in features["file"]] == [f"{tmp_path}/{name}" for name in names]
    [batch] = image_folder.rows_to_predict(_images(predict_files=data)).batches
    assert batch.column("file").to_pylist() == [f"{tmp_path}/{name}" for name in names]


def test_found_labels_are_those_of_the_folders(folder):
    params = _images(predict_files=str(folder), class_names=["cat", "dog"])
    [(_, label)] = _infer(image_folder, params)
    assert label.tolist() == [b"", b"", b"", b"cat"]
    assert image_folder.data_params(params) == {"num_classes": 2, "class_names": ["cat", "dog"]}
    assert image_folder.data_params({**params, "class_names": []}) == {}


def test_found_labels_are_those_of_folders_within_others(tmp_path):
    for name in ("train/cat/1.png", "val/dog/cat/2.png"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(tf.io.encode_png(tf.zeros([9, 7, 3], tf.uint8)).numpy())
    params = _images(predict_files=str(tmp_path), class_names=["cat", "dog"])
    [(_, label)] = _infer(image_folder, params)
    assert label.tolist() == [b"cat", b"dog"]


@pytest.mark.parametrize("name, expected", [
    ("bad.txt", "line 2 of .*no.png"), ("nothing*", "--data="), ("empty", "holds no .jpg")])
def test_found_nothing_is_one_sentence(folder, name, expected):
    (folder / "empty").mkdir(exist_ok=True)
    with pytest.raises(DataFileError, match=expected):
        _infer(image_folder, _images(predict_files=f"{folder}/{name}"))
    (folder / "empty").rmdir()
