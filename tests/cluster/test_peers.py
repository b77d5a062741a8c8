"""A peer is up, silent or down; the first request to stop counts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.cluster import peers
from estimator_trainer.coordination import stop as stop_lib
from estimator_trainer.coordination.stop import Stop
from tests.support import jobs


def test_a_tensorflow_server_is_up():
    server = tf.distribute.Server.create_local_server()
    assert peers.state(server.target.removeprefix("grpc://")) == "up"


def test_a_port_nobody_listens_at_is_down():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert peers.state(f"127.0.0.1:{closed.getsockname()[1]}") == "down"


def test_a_stopped_process_is_silent(monkeypatch):
    monkeypatch.setattr(peers.deadlines, "PEER_ANSWER_SECS", 0.2)
    with socket.socket() as listener:  # The kernel takes connections for it.
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert peers.state(f"127.0.0.1:{listener.getsockname()[1]}") == "silent"


def test_many_peers_that_say_nothing_take_no_longer_than_one(monkeypatch):
    monkeypatch.setattr(peers.deadlines, "CHECK_SECS", 0.1)
    with socket.socket() as closed, socket.create_server(("127.0.0.1", 0)) as listener:
        closed.bind(("127.0.0.1", 0))
        addresses = {f"ps:{i}": f"127.0.0.1:{listener.getsockname()[1]}" for i in range(50)}
        addresses["ps:50"] = f"127.0.0.1:{closed.getsockname()[1]}"
        found = peers.states(addresses)
    assert found.pop("ps:50") == "down"
    assert found == dict.fromkeys(found, "silent") and len(found) == 50


def test_the_first_request_to_stop_counts():
    stop = Stop()
    stop.check()
    stop.request_end("stopped", "SIGTERM", "chief:0")
    stop.request_end("failed", "NaN", "worker:0")
    with pytest.raises(errors.Interrupted, match="chief:0: stopped: SIGTERM"):
        stop.check()


def test_the_end_of_a_job_interrupts_no_evaluation():
    stop = Stop()
    stop.request_end("done", "early_stopping", "chief:0")
    stop.check()


def test_a_signal_asks_to_stop_and_the_handlers_come_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    stop = Stop()
    with stop_lib.stopping_on_signals(stop, "local", lambda: 0):
        stop_lib.reclaim_sigterm()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(5) and stop.request.reason == "SIGTERM"
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


# usleep waits with Python's lock, as TensorFlow does for the tasks of an all-reduce.
_WAITS_WITH_THE_LOCK = """
import ctypes
from estimator_trainer.coordination import stop
with stop.killed_after(0.1):
    pass
with stop.killed_after(2):
    ctypes.PyDLL(None).usleep(60_000_000)
"""


def test_a_process_that_waits_with_pythons_lock_is_killed_and_shows_where():
    ended = subprocess.run([sys.executable, "-c", _WAITS_WITH_THE_LOCK], text=True, timeout=50,
                           stderr=subprocess.PIPE, env=jobs.environment(), check=False)
    assert ended.returncode == -signal.SIGALRM
    assert "line 7 in <module>" in ended.stderr
