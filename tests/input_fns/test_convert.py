"""`python -m input_fns.convert`: every record arrives, and mistakes are one sentence."""

import gzip
import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest

from input_fns import digits, tfrecord
from input_fns.convert import __main__ as convert, sources
from tests.support import jobs

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.cluster]


@pytest.fixture(scope="module", name="converted")
def fixture_converted(tmp_path_factory):
    """Converts the bundled digits; returns (folder, data_dir, what the command printed)."""
    folder, data_dir = tmp_path_factory.mktemp("tfrecord") / "new", tmp_path_factory.mktemp("tfds")
    done = subprocess.run(
        [sys.executable, "-m", "input_fns.convert", "--dataset=digits", f"--data_dir={data_dir}",
         f"--output={folder}", "--shards=3"], cwd=jobs.REPO, capture_output=True, text=True,
        timeout=120, check=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    return folder, data_dir, done.stdout


def write_idx(folder, split, images, labels, compress=False):
    """Writes MNIST's two files of a split, `t10k` or `train`."""
    for name, magic, data in (("images-idx3", 0x803, images), ("labels-idx1", 0x801, labels)):
        content = (magic.to_bytes(4, "big") + np.array(data.shape, ">u4").tobytes() +
                   data.astype(np.uint8).tobytes())
        path = folder / f"{split}-{name}-ubyte{'.gz' if compress else ''}"
        path.write_bytes(gzip.compress(content) if compress else content)


@pytest.fixture(name="idx")
def fixture_idx(tmp_path):
    """A folder of IDX files: 7 training and 3 test images of 4x3 pixels."""
    folder = tmp_path / "idx"
    folder.mkdir()
    numbers = np.arange(120, dtype=np.uint8).reshape(10, 4, 3)
    write_idx(folder, "train", numbers[:7], np.arange(7) % 5, compress=True)
    write_idx(folder, "t10k", numbers[7:], np.arange(3))
    return folder


def read(output, mode="eval"):
    """Returns (images, labels, keys) as the command's own params read them."""
    command = shlex.split(output.partition("train on them: ")[2])
    source = dict(pair.split("=") for pair in command if "=" in pair and pair[0] != "-")
    params = {**tfrecord.DEFAULT_PARAMS, **source, "key": "key", "batch_size": 10000}
    params |= tfrecord.data_params(params)
    if mode == "train":
        params["eval_files"] = params["train_files"]
    (features, labels), = tfrecord.input_fn("eval", params)
    return features["image"].numpy(), labels.numpy(), features["key"].numpy().tolist(), params


@pytest.mark.parametrize("mode, rows", (("train", 1442), ("eval", 355)))
def test_a_dataset_of_tfds_arrives_whole_and_in_order(converted, mode, rows):
    _, data_dir, output = converted
    images, labels, keys, params = read(output, mode)
    expected = digits.input_fn("eval", {
        **digits.DEFAULT_PARAMS, "data_dir": str(data_dir), "batch_size": 10000, "tfds_id": True,
        "eval_split": "train" if mode == "train" else "test"})
    (features, expected_labels), = expected
    assert len(labels) == rows and images.shape == (rows, 8, 8, 1)
    np.testing.assert_array_equal(images, features["image"])
    np.testing.assert_array_equal(labels, expected_labels)
    assert keys == features["tfds_id"].numpy().tolist()
    assert tfrecord.data_params(params) == {
        "num_classes": 10, "image_shape": [8, 8, 1], "train_examples": 1442}
    assert tfrecord.data_problem(params) == ""


def test_the_command_prints_what_it_wrote(converted):
    folder, _, output = converted
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["dataset.json", *(f"{split}-{i:05d}-of-00003.tfrecord"
                                       for split in ("test", "train") for i in range(3))]
    assert all(f"  {name}\n" in output for name in names)
    assert "wrote 355 test, 1442 train records of 10 classes" in output or (
        "wrote 1442 train, 355 test records of 10 classes" in output)
    assert "--param train_files='" in output
    assert json.loads((folder / "dataset.json").read_text()) == {
        "num_examples": {"train": 1442, "test": 355}, "num_classes": 10, "image_shape": [8, 8, 1]}


def test_idx_files_arrive_whole(idx, tmp_path, capsys):
    flags = [f"--idx={idx}", f"--output={tmp_path / 'out'}", "--shards=2"]
    assert convert.main(flags) == 0
    output = capsys.readouterr().out
    images, labels, keys, params = read(output, "train")
    np.testing.assert_allclose(images.ravel() * 255, np.arange(84), rtol=1e-5)
    assert images.shape == (7, 4, 3, 1) and labels.tolist() == [0, 1, 2, 3, 4, 0, 1]
    assert keys == [b"train__%d" % row for row in range(7)] and params["num_classes"] == 5
    assert read(output)[1].tolist() == [0, 1, 2]
    before = sorted((tmp_path / "out").iterdir())
    assert convert.main(flags) == 0  # Again, over what is there.
    assert sorted((tmp_path / "out").iterdir()) == before


def test_a_failure_leaves_no_file(idx, tmp_path, monkeypatch):
    def broken(self):
        yield "key", np.zeros((2, 2, 1), np.uint8), 0
        raise OSError("gone")

    monkeypatch.setattr(sources._TfdsRecords, "__iter__", broken)
    with pytest.raises(OSError, match="gone"):
        convert.main(["--dataset=digits", f"--data_dir={tmp_path / 'tfds'}",
                      f"--output={tmp_path / 'out'}"])
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("flags, exit_code, expected", (
    (["--idx={idx}", "--shards=4"], 2, "expected 1 to 3, the records of the smallest split"),
    (["--idx={idx}/no"], 2, "holds no file; expected train-images-idx3-ubyte or"),
    (["--idx={idx}", "--output={idx}/held"], 2, "holds train-00000-of-00009.tfrecord, of another"),
    (["--dataset=mnits"], 2, "nearest: mnist"),
    (["--dataset=imdb_reviews"], 2, "expected uint8 images of one shape with a class each"),
))
def test_a_mistake_is_one_sentence(idx, tmp_path, capsys, flags, exit_code, expected):
    (idx / "held").mkdir()
    (idx / "held" / "train-00000-of-00009.tfrecord").write_bytes(b"")
    flags = [f"--output={tmp_path / 'out'}", f"--data_dir={tmp_path}",
             *(flag.format(idx=idx) for flag in flags)]
    assert convert.main(flags) == exit_code
    message = capsys.readouterr().err
    assert expected in message and message.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_damaged_idx_files_are_named(idx, tmp_path, capsys):
    def message():
        assert convert.main([f"--idx={idx}", f"--output={tmp_path / 'out'}"]) == 1
        return capsys.readouterr().err

    path = idx / "t10k-labels-idx1-ubyte"
    content = path.read_bytes()
    for damaged, expected in ((content[:-1], "has 2 bytes of data; its head says 3 (3)"),
                              (b"PNG" + content, "is no IDX file of uint8 labels"),
                              (content[:6], "is no IDX file of uint8 labels")):
        path.write_bytes(damaged)
        assert f"{path} {expected}" in message()
    path.unlink()
    write_idx(idx, "t10k", np.zeros((3, 4, 3)), np.arange(2))
    assert "holds 3 images and" in message()
    zipped = idx / "train-images-idx3-ubyte.gz"
    zipped.write_bytes(zipped.read_bytes()[:-9])
    assert f"{zipped} is truncated or no gzip file" in message()


@pytest.mark.parametrize("flags, expected", (
    ([], "--output"), (["--output=x"], "one of the arguments --dataset --idx is required"),
    (["--output=x", "--idx=y", "--shards=two"], "--shards")))
def test_a_mistake_in_the_flags_exits_with_2(capsys, flags, expected):
    with pytest.raises(SystemExit) as caught:
        convert.main(flags)
    assert caught.value.code == 2 and expected in capsys.readouterr().err
