"""A port counts as taken just if TensorFlow's server could not have it, and its holder is named."""

from __future__ import annotations

import os
import pathlib
import shutil
import socket
import sys

import pytest
import tensorflow as tf

from estimator_trainer.cluster import ports, task_config
from tests.support import jobs, sockets, tf_configs


def _task_at(port):
    hosts = {"chief": ["127.0.0.1:1"], "worker": [f"127.0.0.1:{port}"]}
    return task_config.parse(tf_configs.config(hosts))


def _tensorflow_starts_at(port):
    try:
        return tf.distribute.Server({"worker": [f"127.0.0.1:{port}"]}, "worker", 0) is not None
    except tf.errors.OpError:
        return False


_REUSE = (socket.SO_REUSEADDR, socket.SO_REUSEPORT)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::"])
@pytest.mark.parametrize("options, listens", [
    ((), True), ((), False), (_REUSE[:1], True), (_REUSE[:1], False), (_REUSE[1:], True),
    (_REUSE[1:], False), (_REUSE, True), (_REUSE, False)])
def test_taken_exactly_if_tensorflow_could_not_have_the_port(host, options, listens):
    with sockets.bound(host, *options, listens=listens) as port:
        problems = ports.problems(_task_at(port))
        assert bool(problems) == (listens or socket.SO_REUSEADDR not in options)
        assert bool(problems) != _tensorflow_starts_at(port)


def test_taken_by_a_listener_on_the_other_loopback():
    with sockets.bound("::1", listens=True) as port:
        assert ports.problems(_task_at(port))


def test_problems_name_the_process_at_a_taken_port():
    with sockets.bound("127.0.0.1", listens=True) as port:
        [problem] = map(str, ports.problems(_task_at(port)))
    name = pathlib.Path(sys.executable).name
    assert f"port {port} is taken on this machine by process {os.getpid()} (" in problem
    assert name in problem and "Stop the process" in problem
    assert not ports.problems(_task_at(port))


@pytest.mark.parametrize("words", [
    ["program.py", "--password=SEKRET"], ["-m", "estimator_trainer", "--param=api_key=SEKRET"]])
def test_problems_name_a_process_without_its_arguments(words, monkeypatch, tmp_path):
    with sockets.bound("127.0.0.1", listens=True) as port:
        shutil.copytree("/proc/self/net", tmp_path / "net", ignore=lambda folder, names: [
            name for name in names if name not in ("tcp", "tcp6")])
        (tmp_path / "7").mkdir()
        (tmp_path / "7/fd").symlink_to("/proc/self/fd")
        (tmp_path / "7/cmdline").write_text("\0".join(["python3", *words]))
        monkeypatch.setattr(ports, "_PROC", tmp_path)
        [problem] = map(str, ports.problems(_task_at(port)))
    assert f"by process 7 (python3 {' '.join(words[:-1])})" in problem


def test_problems_blame_nobody_for_a_port_of_another_user(monkeypatch, tmp_path):
    with sockets.bound("127.0.0.1", listens=True) as port:
        (tmp_path / "net").mkdir()
        for name in ("tcp", "tcp6"):
            shutil.copy(f"/proc/net/{name}", tmp_path / "net" / name)
        monkeypatch.setattr(ports, "_PROC", tmp_path)
        [problem] = map(str, ports.problems(_task_at(port)))
    assert "taken on this machine by a process of another user; expected a free port" in problem


def test_problems_are_of_the_address_that_others_know(tmp_path):
    """On every interface, whatever the cluster says: a firewall has to keep strangers out."""
    [address] = jobs.free_addresses(1)
    server = tf.distribute.Server({"worker": [address]}, "worker", 0)
    port = int(address.rpartition(":")[2])
    lines = pathlib.Path("/proc/net/tcp6").read_text().splitlines()
    assert [line.split()[1] for line in lines if f":{port:04X} " in line and " 0A " in line] == [
        f"{'0' * 32}:{port:04X}"]
    del server
