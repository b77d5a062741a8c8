"""The watchdog ends a process whose main thread waits in vain, and breaks dead connections."""

from __future__ import annotations

import socket
import subprocess
import sys
from unittest import mock

import pytest

from estimator_trainer import deadlines
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination import watchdog
from estimator_trainer.coordination.job_view import Observation
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

# The main thread makes no progress, and logs without a pause.
_STALLED = """
import sys
from absl import logging
from estimator_trainer import logs
from estimator_trainer.cluster import task_config
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer import tensorflow_import
logs.configure("local", False)
tensorflow_import.load(False)
from estimator_trainer.coordination.job_state import JobStateWriter
from estimator_trainer.coordination.job_view import ChiefView
from estimator_trainer.coordination import lease
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
config = TrainerConfig(model_dir=sys.argv[1], stall_timeout_secs=1)
task, stop = task_config.parse(None), Stop()
held = lease.acquire(sys.argv[1], task, False, stop)
view = ChiefView(task, stop, JobStateWriter(sys.argv[1], False, 60), held)
with Watchdog(config, task, stop, view):
    while True:
        logging.info("step 1")
"""


@pytest.mark.cluster
@pytest.mark.soak
def test_watchdog_prints_the_last_line_beside_a_thread_that_logs(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", _STALLED, str(tmp_path)], text=True, stderr=subprocess.PIPE,
        timeout=60, env=jobs.environment(), check=False)
    assert ended.returncode == 142
    assert ended.stderr.splitlines()[-1] == (
        'role=local status=lost step=0 reason="no progress for 1 s"')


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='it needs /proc')
def test_keep_alive_concerns_connections_to_tasks_alone():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(
            ("127.0.0.1", 0)) as other:
        with (socket.create_connection(server.getsockname()) as to_task,
              socket.create_connection(other.getsockname()) as to_other):
            assert watchdog.keep_alive(frozenset([server.getsockname()[1]])) == 1
            assert to_task.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            limit = to_task.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            assert limit == deadlines.CONNECTION_SECS * 1000
            assert not to_other.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            to_task.sendall(b"x")  # The connection is still open.


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='it needs /proc')
def test_ports_of_the_cluster():
    [task, *_] = task_config.of_counts({"chief": 1, "worker": 1})
    assert watchdog.ports(task) == {2222}


def test_a_worker_that_waits_for_many_ps_polls_them_seldom(monkeypatch):
    count, polled = 320, []
    task = [each for each in task_config.of_counts({"chief": 1, "worker": 1, "ps": count})
            if each.name == "worker:0"][0]
    monkeypatch.setattr(watchdog.peers, "states",
                        lambda group: polled.append(len(group)) or dict.fromkeys(group, "up"))
    clock = [1000.0]
    monkeypatch.setattr(watchdog.time, "monotonic", lambda: clock[0])
    view = mock.Mock(**{"poll.return_value": Observation(), "restarted_peer.return_value": ""})
    watching = watchdog.Watchdog(TrainerConfig(), task, Stop(), view)
    for _ in range(100):
        clock[0] += deadlines.WATCHDOG_POLL_SECS
        watching._poll()
    # 50 s, of which the first 10 are not yet quiet.
    assert polled == [count] * 4
