"""Files that are in the training data and in the evaluation's, by path or content."""

from __future__ import annotations

import pytest

from input_fns import csv, image_folder, tfrecord
from input_fns.reading import same_files
from tests.support import example_files, images_of_classes

pytestmark = pytest.mark.any_tensorflow
_TABLE = "x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(60))


@pytest.fixture(name="warned")
def fixture_warned(monkeypatch):
    logged = []
    monkeypatch.setattr("absl.logging.warning", lambda text, *args: logged.append(text % args))
    return logged


def _write(folder, **contents):
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: str(folder / name) for name in contents}


def test_paths_and_contents_are_compared(tmp_path):
    large = b"a" * 10_000
    paths = _write(tmp_path, a=b"1234", b=b"1235", copy=b"1234", large=large + b"1",
                   other=large + b"2", again=large + b"1", empty=b"", nothing=b"")
    (tmp_path / "link").symlink_to(tmp_path / "b")
    training = tuple(paths[name] for name in ("a", "b", "large", "empty"))
    for name, expected in {"copy": "a", "a": "a", "again": "large", "other": None,
                           "nothing": None}.items():
        found = same_files.same(training, (paths[name],))
        assert found == ({paths[name]: paths[expected]} if expected else {}), name
    assert same_files.same(training, (str(tmp_path / "link"), "gs://bucket/x")) == {
        str(tmp_path / "link"): paths["b"]}


def test_large_contents_are_not_read_to_their_end(tmp_path, monkeypatch):
    monkeypatch.setattr(same_files, "_MOST_BYTES", 15_000)
    paths = _write(tmp_path, **{name: b"a" * 10_000 for name in ("one", "two")})
    assert same_files.same((paths["one"],), (paths["two"],)) == {}


@pytest.mark.parametrize("prepares", (True, False))
def test_a_table_that_is_in_both_parts_is_one_warning(tmp_path, warned, prepares):
    paths = _write(tmp_path, train=_TABLE.encode(), copy=_TABLE.encode())
    params = {**csv.DEFAULT_PARAMS, "label": "y", "train_files": paths["train"],
              "eval_files": paths["copy"]}
    params |= {"prepare_columns": True, "table_columns": {}} if prepares else {}
    csv.data_params(params)
    [warning] = [each for each in warned if "leave it out" not in each]
    assert warning == (
        "1 of the 1 files for evaluation is also in the training data: the evaluation then measures"
        " what the model remembers, not what it has learned of new data. Name other files in"
        " eval_files."
        f" For example: {paths['copy']}, which is the same as {paths['train']}")
    warned.clear()
    csv.data_params({**params, "eval_files": ""})
    assert not [each for each in warned if "remembers" in each]


def test_records_and_images_are_compared_too(tmp_path, warned):
    pattern = example_files.write_files(tmp_path, 2)
    params = {**tfrecord.DEFAULT_PARAMS, "train_files": pattern,
              "eval_files": str(tmp_path / "part-1")}
    tfrecord.data_params(params)
    assert warned[-1].startswith("1 of the 1 files for evaluation is also in the training data")
    (tmp_path / "images").mkdir()
    folder = images_of_classes.write(tmp_path / "images")
    params = {**image_folder.DEFAULT_PARAMS, "train_dir": str(folder)}
    warned.clear()
    image_folder.data_params(params)
    assert not [each for each in warned if "remembers" in each]
    # The fifth of each class is for evaluation.
    copied = sorted((folder / images_of_classes.CLASSES[0]).iterdir())
    copied[4].write_bytes(copied[0].read_bytes())
    image_folder.data_params(params)  # A file that has changed is compared again.
    [warning] = [each for each in warned if "remembers" in each]
    assert warning.startswith("1 of the 3 images for evaluation is also in the training data")
    assert str(copied[4]) in warning
