"""Each task of `launch` gets its ports and its share of cores, GPUs and variables."""

from __future__ import annotations

import json
import socket

import pytest

from estimator_trainer import environment, errors, machine
from estimator_trainer.launcher import launch
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow


def test_reserved_port_goes_to_its_task_alone(tmp_path):
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


def test_reserved_refuses_a_host_that_is_not_this_machine():
    with pytest.raises(errors.ConfigError, match="not an address of this machine"):
        with launch.reserved("192.0.2.1", [("chief", 0)]):
            pass


@pytest.mark.parametrize("roles, gpus, cores, expected", [
    (["chief"], [], 8, [(8, "-1")]),
    (["chief", "worker", "ps"], ["0", "1"], 2, [(1, "0"), (1, "1"), (1, "-1")]),
    (["chief", "worker", "evaluator"], ["0", "1", "2"], 6, [(2, "0"), (2, "1"), (2, "2")]),
    (["chief", "worker", "evaluator"], ["4", "5"], 6, [(2, "4"), (2, "5"), (2, "-1")]),
    (["chief", "worker"], ["0", "1", "2", "3"], 8, [(4, "0,1"), (4, "2,3")]),
    (["chief", "worker", "worker"], ["7"], 1, [(1, "7"), (1, "7"), (1, "7")]),
])
def test_divide_shares_a_machine_among_the_tasks(roles, gpus, cores, expected):
    tasks = [(role, roles[:i].count(role)) for i, role in enumerate(roles)]
    assert launch.divide(tasks, gpus, cores) == expected


def test_divide_leaves_a_task_the_users_choice_of_threads(monkeypatch):
    monkeypatch.setenv("CLUSTER_SPEC", "{}")
    monkeypatch.setenv("TF_CONFIG", "{}")
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "7")
    variables = environment.of_task('{"task": 1}', 2, "0")
    assert variables["TF_CONFIG"] == '{"task": 1}' and variables["CUDA_VISIBLE_DEVICES"] == "0"
    assert variables["TF_NUM_INTRAOP_THREADS"] == "7" and "CLUSTER_SPEC" not in variables
    assert variables["TF_NUM_INTEROP_THREADS"] == "2"


@pytest.mark.parametrize("variable, expected", [
    ("", []), ("-1", []), ("0", ["0"]), ("2, GPU-ab", ["2", "GPU-ab"]), ("1,-1,2", ["1"])])
def test_divide_shares_the_users_choice_of_gpus(variable, expected):
    assert machine.visible_gpus(variable) == expected
