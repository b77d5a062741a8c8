"""The machine check looks at a machine, a cluster and a model_dir without TensorFlow."""

from __future__ import annotations

import os
import shutil
import socket
import threading

import pytest
import tensorflow as tf

from estimator_trainer.checks import machine_check, run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs, sockets, tf_configs


def _examine(tf_config="", is_probing=False, **settings):
    plan = run_plan.for_training(TrainerConfig(**settings), Environment(tf_config=tf_config))
    return machine_check.examine(plan, Environment(), is_probing)


def test_examine_warns_of_hosts_that_do_not_resolve():
    found = _examine(tf_configs.config({
        "chief": ["no-such-host.invalid:1"], "worker": ["[::1]:2"], "ps": ["localhost:3"]}),
        model_dir="/tmp")
    [warning] = found.warnings
    assert "'no-such-host.invalid'" in warning and "getent hosts" in warning


@pytest.mark.timeout(60)
def test_examine_waits_a_bounded_time_for_a_name_server(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(machine_check.deadlines, "CHECK_SECS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: answered.wait(300))
    found = _examine(tf_configs.config({"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}),
                     model_dir="gs://bucket/job")
    assert len(found.warnings) == 3 and "no answer in" in found.warnings[0]
    answered.set()


def test_examine_finds_a_model_dir_that_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # Root may write anywhere.
    [problem] = map(str, _examine(model_dir=str(tmp_path / "a" / "b")).problems)
    assert f"{tmp_path} cannot be written" in problem and "ls -ld" in problem


def test_examine_warns_of_too_little_room_for_checkpoints(monkeypatch, tmp_path):
    usage = shutil.disk_usage(tmp_path)._replace(free=5 << 30)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert not _examine(model_dir=str(tmp_path)).warnings
    for step, gib in ((9, 1), (10, 2)):
        with (tmp_path / f"model.ckpt-{step}.data-00000-of-00001").open("wb") as file:
            file.truncate(gib << 30)
    [warning] = _examine(model_dir=str(tmp_path)).warnings
    assert "has 5.0 GiB of free disk, and the newest checkpoint takes 2.0 GiB" in warning
    assert "at least 6.0" in warning and "--keep_checkpoint_max=1" in warning


def test_examine_opens_a_remote_model_dir_with_probe_only():
    found = _examine(model_dir="gs://bucket/job")
    assert not found.problems and not found.warnings and "free disk" not in found.facts


def test_examine_finds_missing_imports_without_importing(tmp_path):
    (tmp_path / "neighbour.py").write_text("raise ImportError('was imported')\n")
    path = tmp_path / "own.py"
    path.write_text(
        "from __future__ import annotations\n"
        "import os.path, neighbour\nimport not_there.inner as n\nfrom nor_this import x\n"
        "from . import nothing\n"
        "try:\n    import optional\nexcept ImportError:\n    optional = None\n"
        "if TYPE_CHECKING:\n    import for_types\n"
        "def model_fn(features):\n    import later\n")
    problems = _examine(model_fn=str(path)).problems
    assert [f"line {line}, imports '{name}'" in problem for problem, line, name in zip(
        problems, (3, 4), ("not_there", "nor_this"), strict=True)] == [True, True]
    assert "PYTHONPATH" in problems[0]


def test_examine_lists_gpus_without_tensorflow(monkeypatch, tmp_path):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100 (UUID: GPU-1)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert machine_check.examine(run_plan.for_training(TrainerConfig(), Environment()), Environment(
        cuda_visible_devices="")).facts == {"gpus": ["GPU 0: NVIDIA H100"],
                                            "CUDA_VISIBLE_DEVICES": "''"}


def test_examine_connects_to_peers_with_probe_only(monkeypatch):
    server = tf.distribute.Server.create_local_server()
    [down] = jobs.free_addresses(1)
    with sockets.bound("127.0.0.1", listens=True) as silent:
        monkeypatch.setattr(machine_check.deadlines, "PEER_ANSWER_SECS", 0.3)
        hosts = {"chief": [server.target.removeprefix("grpc://")], "ps": [f"127.0.0.1:{silent}"],
                 "worker": [jobs.free_addresses(1)[0], down]}
        text = tf_configs.config(hosts)
        assert not _examine(text, model_dir="gs://b/j").warnings
        found = _examine(text, is_probing=True, model_dir="gs://b/j")
    assert [found.facts[f"peer {name}"].split()[0] for name in ("chief:0", "worker:1", "ps:0")] == [
        "up", "down", "silent"]
    assert len(found.warnings) == 2 and "firewall" in found.warnings[0]
