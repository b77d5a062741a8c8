"""Nobody else takes the ports of a job on this machine before its tasks do."""

from __future__ import annotations

import json
import socket

import pytest

from estimator_trainer import errors
from estimator_trainer.launcher import launch
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow


def test_a_reserved_port_goes_to_the_task_and_to_nobody_who_asks_for_any(tmp_path):
    with launch.reserved("127.0.0.1", [("chief", 0), ("ps", 0), ("ps", 1)]) as cluster:
        assert list(map(len, cluster.values())) == [1, 2]
        port = int(cluster["chief"][0].rpartition(":")[2])
        with socket.socket() as greedy, pytest.raises(OSError):
            greedy.bind(("127.0.0.1", port))
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("", port))
            server.listen()
            tf_config = json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}})
            ran = jobs.program(f"--model_dir={tmp_path}/m", TF_CONFIG=tf_config)
    assert ran.returncode == 2 and f"port {port} is taken" in ran.stderr


def test_a_host_that_is_not_this_machine_is_refused():
    with pytest.raises(errors.ConfigError, match="not an address of this machine"):
        with launch.reserved("192.0.2.1", [("chief", 0)]):
            pass
