"""Each task of a job on this machine gets its share of cores, GPUs and variables."""

from __future__ import annotations

import pytest

from estimator_trainer import environment, machine
from estimator_trainer.launcher import launch

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("roles, gpus, cores, expected", [
    (["chief"], [], 8, [(8, "-1")]),
    (["chief", "worker", "ps"], ["0", "1"], 2, [(1, "0"), (1, "1"), (1, "-1")]),
    (["chief", "worker", "evaluator"], ["0", "1", "2"], 6, [(2, "0"), (2, "1"), (2, "2")]),
    (["chief", "worker", "evaluator"], ["4", "5"], 6, [(2, "4"), (2, "5"), (2, "-1")]),
    (["chief", "worker"], ["0", "1", "2", "3"], 8, [(4, "0,1"), (4, "2,3")]),
    (["chief", "worker", "worker"], ["7"], 1, [(1, "7"), (1, "7"), (1, "7")]),
])
def test_a_machine_is_divided_among_the_tasks(roles, gpus, cores, expected):
    tasks = [(role, roles[:i].count(role)) for i, role in enumerate(roles)]
    divided = launch.divide(tasks, gpus, cores)
    assert [(share.threads, share.gpus) for share in divided] == expected


def test_a_task_gets_its_own_place_and_the_users_choice_of_threads(monkeypatch):
    monkeypatch.setenv("CLUSTER_SPEC", "{}")
    monkeypatch.setenv("TF_CONFIG", "{}")
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "7")
    variables = environment.of_task('{"task": 1}', 2, "0")
    assert variables["TF_CONFIG"] == '{"task": 1}' and variables["CUDA_VISIBLE_DEVICES"] == "0"
    assert variables["TF_NUM_INTRAOP_THREADS"] == "7" and "CLUSTER_SPEC" not in variables
    assert variables["TF_NUM_INTEROP_THREADS"] == "2"


@pytest.mark.parametrize("variable, expected", [
    ("", []), ("-1", []), ("0", ["0"]), ("2, GPU-ab", ["2", "GPU-ab"]), ("1,-1,2", ["1"])])
def test_the_users_choice_of_gpus_is_what_is_divided(variable, expected):
    assert machine.visible_gpus(variable) == expected
