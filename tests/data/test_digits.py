"""The input plug-in `digits`, and how any dataset gets on disk: once, or one clear sentence."""

import csv
import errno
import gzip
import hashlib
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns import digits
from input_fns import tfds as tfds_plugin
from input_fns.reading import tfds_prepare

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "input_fns" / "digits.csv.gz"

# Of sklearn/datasets/data/digits.csv.gz in scikit-learn 1.9.1.
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


def test_the_splits_hold_the_rows_in_order_every_fifth_of_a_class_for_the_test(params, source):
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


PREPARE = """
import os, sys, time
from absl import logging
import numpy as np
import tensorflow_datasets as tfds
from input_fns import digits
from input_fns.reading import tfds_prepare

data_dir, log = sys.argv[1:]
logging.use_absl_handler()
logging.set_verbosity("info")
logging.set_stderrthreshold("info")

class SlowSet(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self, features=tfds.features.FeaturesDict({"row": np.int64}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        with open(log, "a") as lines:
            lines.write(f"{os.getpid()}\\n")
        with open(log) as lines:
            if len(lines.readlines()) == 1:
                time.sleep(300)  # the first of all processes; it gets killed
        yield from ((row, {"row": row}) for row in range(3))

print("ready", flush=True)
sys.stdin.readline()
builder = tfds_prepare.prepared(lambda: SlowSet(data_dir=data_dir))
assert [int(record["row"]) for record in builder.as_dataset(split="train[:2]")]
digits.input_fn("eval", {**digits.DEFAULT_PARAMS, "data_dir": data_dir})
print(builder.info.splits["train"].num_examples)
"""


@pytest.mark.cluster
@pytest.mark.any_tensorflow
def test_processes_prepare_once_and_take_over_from_a_killed_one(tmp_path):
    processes = {}
    for name in "abc":
        with open(tmp_path / name, "wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-c", PREPARE, str(tmp_path / "data"), str(tmp_path / "log")],
                cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
                env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        processes[process.pid] = (process, tmp_path / name)
    for process, _ in processes.values():
        assert process.stdout.readline() == "ready\n"
    for process, _ in processes.values():
        process.stdin.write("\n")
        process.stdin.flush()

    log = tmp_path / "log"
    wait_until(lambda: log.exists() and log.read_text().endswith("\n"))
    killed, _ = processes.pop(int(log.read_text()))
    for _, stderr in processes.values():
        wait_until(lambda: f"waits for process {killed.pid} on " in stderr.read_text())
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()

    for process, stderr in processes.values():
        assert process.communicate(timeout=60)[0] == "3\n", stderr.read_text()
    first, second = map(int, log.read_text().split())  # of the two left, one generated
    assert first == killed.pid and second in processes
    errors = "".join(stderr.read_text() for _, stderr in processes.values())
    assert errors.count("] prepares digits in") == 1


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(name="no_network")
def fixture_no_network(monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.timeout(60)  # TFDS itself tries again and again, for minutes.
@pytest.mark.usefixtures("no_network")
def test_no_network_and_no_data_is_one_quick_sentence(tmp_path):
    params = {**tfds_plugin.DEFAULT_PARAMS, "data_dir": str(tmp_path)}
    with pytest.raises(RuntimeError) as caught:
        tfds_plugin.input_fn("train", params)
    assert caught.value.exit_code == 2
    text = str(caught.value)
    assert "\n" not in text
    assert f"Dataset 'mnist' is not in data_dir '{tmp_path}'" in text
    assert "storage.googleapis.com cannot be reached" in text
    assert (f"python -c \"import tensorflow_datasets as tfds; tfds.builder('mnist', "
            f"data_dir='{tmp_path}').download_and_prepare()\"") in text
    assert f"copy {tmp_path}/mnist here" in text and "--param data_dir=" in text


@pytest.mark.usefixtures("no_network")
def test_what_was_downloaded_before_needs_no_network(tmp_path):
    builder = tfds.builder("mnist", data_dir=str(tmp_path))
    downloads = tmp_path / "downloads" / "mnist"
    (downloads / "images.gz.tmp.5b61").mkdir(parents=True)
    assert "cannot be reached" in tfds_prepare._unreachable(builder)
    (downloads / "images.gz").write_bytes(b"")
    assert tfds_prepare._unreachable(builder) == ""


def test_any_answer_is_network():
    with http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        assert tfds_prepare._probe(url) == ""  # 501: it serves no HEAD
        server.shutdown()
    assert "refused" in tfds_prepare._probe(url)


def test_a_data_dir_that_cannot_be_written_is_one_sentence(params, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError) as caught:
        digits.input_fn("train", {**params, "data_dir": str(tmp_path / "file" / "data")})
    assert caught.value.exit_code == 2
    assert "Not a directory" in str(caught.value) and "network" not in str(caught.value)
    assert str(caught.value).endswith("can be written: --param data_dir=/path")


def no_locks(*_):
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.parametrize("way", ("file system", "platform"))
def test_prepares_where_there_are_no_locks(params, tmp_path, monkeypatch, way):
    if way == "platform":
        monkeypatch.setattr(tfds_prepare, "fcntl", None)
    else:
        monkeypatch.setattr(tfds_prepare.fcntl, "flock", no_locks)
    dataset = digits.input_fn("eval", {**params, "data_dir": str(tmp_path)})
    assert sum(len(labels) for _, labels in dataset) == 355


def test_losing_the_race_without_locks_reads_the_winners_data(tmp_path, monkeypatch):
    monkeypatch.setattr(tfds_prepare, "fcntl", None)
    make_builder = digits.Digits
    generate = digits.Digits._split_generators

    def slower(self, dl_manager):
        monkeypatch.setattr(digits.Digits, "_split_generators", generate)
        make_builder(data_dir=str(tmp_path)).download_and_prepare()
        return generate(self, dl_manager)

    monkeypatch.setattr(digits.Digits, "_split_generators", slower)
    builder = tfds_prepare.prepared(lambda: make_builder(data_dir=str(tmp_path)))
    assert builder.info.splits["test"].num_examples == 355


def test_a_failing_dataset_keeps_its_own_error(tmp_path, monkeypatch):
    def fail(self, dl_manager):
        return {"train": open(tmp_path / "missing.csv", encoding="utf-8")}

    monkeypatch.setattr(digits.Digits, "_split_generators", fail)
    with pytest.raises(FileNotFoundError, match="missing.csv"):
        tfds_prepare.prepared(lambda: digits.Digits(data_dir=str(tmp_path)))


def test_a_dataset_to_download_by_hand_says_where(tmp_path, monkeypatch):
    def by_hand(self, dl_manager):
        return {"train": self._generate_examples(dl_manager.manual_dir)}

    monkeypatch.setattr(digits.Digits, "MANUAL_DOWNLOAD_INSTRUCTIONS", "Ask the authors.")
    monkeypatch.setattr(digits.Digits, "_split_generators", by_hand)
    with pytest.raises(RuntimeError, match="Manual directory .*downloads/manual") as caught:
        tfds_prepare.prepared(lambda: digits.Digits(data_dir=str(tmp_path)))
    assert caught.value.exit_code == 2
