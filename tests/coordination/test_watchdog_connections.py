"""Connections to tasks are told to break when their other end is gone; others are left alone."""

from __future__ import annotations

import socket
import sys

import pytest

from estimator_trainer import deadlines
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination import watchdog

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it needs /proc")


def test_only_connections_to_the_ports_of_tasks_break_when_they_are_silent():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(
            ("127.0.0.1", 0)) as other:
        with (socket.create_connection(server.getsockname()) as to_task,
              socket.create_connection(other.getsockname()) as to_other):
            assert watchdog.keep_alive(frozenset([server.getsockname()[1]])) == 1
            assert to_task.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            limit = to_task.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            assert limit == deadlines.CONNECTION_SECS * 1000
            assert not to_other.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            to_task.sendall(b"x")  # It is open still.


def test_the_ports_are_those_of_the_cluster():
    [task, *_] = task_config.of_counts({"chief": 1, "worker": 1})
    assert watchdog.ports(task) == {2222}
