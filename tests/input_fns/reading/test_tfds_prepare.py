"""How a dataset gets on disk: once, whoever starts together, or with one clear sentence."""

import errno
import http.server
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import tensorflow_datasets as tfds

from input_fns import digits, tfds as tfds_plugin
from input_fns.reading import tfds_prepare
from tests.support import jobs

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


@pytest.mark.any_tensorflow
def test_a_dataset_that_another_process_prepares_meanwhile_has_its_splits(tmp_path):
    def make_builder():
        builder = digits.Digits(data_dir=tmp_path)
        if not builder.data_path.exists():
            digits.Digits(data_dir=tmp_path).download_and_prepare()
        return builder

    assert set(tfds_prepare.prepared(make_builder).info.splits) == {"train", "test"}


@pytest.mark.soak
@pytest.mark.cluster
@pytest.mark.any_tensorflow
def test_prepared_once_by_several_processes(tmp_path):
    processes = {}
    for name in "abc":
        with open(tmp_path / name, "wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-c", PREPARE, str(tmp_path / "data"), str(tmp_path / "log")],
                cwd=jobs.REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
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
def test_prepared_without_network_and_data_is_one_sentence(tmp_path):
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
def test_prepared_from_downloads_without_network(tmp_path):
    builder = tfds.builder("mnist", data_dir=str(tmp_path))
    downloads = tmp_path / "downloads" / "mnist"
    (downloads / "images.gz.tmp.5b61").mkdir(parents=True)
    assert "cannot be reached" in tfds_prepare._unreachable(builder)
    (downloads / "images.gz").write_bytes(b"")
    assert tfds_prepare._unreachable(builder) == ""


def test_prepared_with_any_answer_of_the_network():
    with http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        assert tfds_prepare._probe(url) == ""  # 501: it serves no HEAD
        server.shutdown()
    assert "refused" in tfds_prepare._probe(url)


def test_prepared_where_nothing_can_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    params = {**digits.DEFAULT_PARAMS, "data_dir": str(tmp_path / "file" / "data")}
    with pytest.raises(RuntimeError) as caught:
        digits.input_fn("train", params)
    assert caught.value.exit_code == 2
    assert "Not a directory" in str(caught.value) and "network" not in str(caught.value)
    assert str(caught.value).endswith("can be written: --param data_dir=/path")


def no_locks(*_):
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.cluster
@pytest.mark.parametrize("way", ("file system", "platform"))
def test_prepared_where_there_are_no_locks(tmp_path, monkeypatch, way):
    if way == "platform":
        monkeypatch.setattr(tfds_prepare, "fcntl", None)
    else:
        monkeypatch.setattr(tfds_prepare.fcntl, "flock", no_locks)
    dataset = digits.input_fn("eval", {**digits.DEFAULT_PARAMS, "data_dir": str(tmp_path)})
    assert sum(len(labels) for _, labels in dataset) == 355


@pytest.mark.cluster
def test_prepared_by_the_winner_of_a_race_without_locks(tmp_path, monkeypatch):
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


def test_prepared_keeps_the_error_of_a_failing_dataset(tmp_path, monkeypatch):
    def fail(self, dl_manager):
        return {"train": open(tmp_path / "missing.csv", encoding="utf-8")}

    monkeypatch.setattr(digits.Digits, "_split_generators", fail)
    with pytest.raises(FileNotFoundError, match="missing.csv"):
        tfds_prepare.prepared(lambda: digits.Digits(data_dir=str(tmp_path)))


def test_prepared_by_hand_names_the_folder(tmp_path, monkeypatch):
    def by_hand(self, dl_manager):
        return {"train": self._generate_examples(dl_manager.manual_dir)}

    monkeypatch.setattr(digits.Digits, "MANUAL_DOWNLOAD_INSTRUCTIONS", "Ask the authors.")
    monkeypatch.setattr(digits.Digits, "_split_generators", by_hand)
    with pytest.raises(RuntimeError, match="Manual directory .*downloads/manual") as caught:
        tfds_prepare.prepared(lambda: digits.Digits(data_dir=str(tmp_path)))
    assert caught.value.exit_code == 2
