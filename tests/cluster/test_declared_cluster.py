"""Data workers have their places in TF_CONFIG, beside a cluster that does not know them."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import errors
from estimator_trainer.cluster import task_config
from estimator_trainer.settings import host_lists
from tests.support.tf_configs import A, B, C, config, D, E

pytestmark = pytest.mark.any_tensorflow
_CLUSTER = {"chief": [A], "worker": [B], "ps": [C], "data_worker": [D, E]}


@pytest.mark.parametrize("role, index", [("chief", 0), ("worker", 0), ("ps", 0)])
def test_parse_leaves_data_workers_out_of_the_cluster(role: str, index: int) -> None:
    task = task_config.parse(config(_CLUSTER, role, index))
    assert task.data_workers == (D, E)
    plain = {job: hosts for job, hosts in _CLUSTER.items() if job != "data_worker"}
    alone = task_config.parse(config(plain, role, index))
    assert (task.counts, task.fingerprint, task.input_pipeline_id) == (
        alone.counts, alone.fingerprint, alone.input_pipeline_id)
    for text in (task.tf_config(), task.strategy_tf_config(),
                 task.server_place(has_strategy=False).tf_config()):
        assert "data_worker" not in text
    assert task.platform_tf_config == config(_CLUSTER, role, index)


def test_parse_of_a_data_worker_gives_its_address_and_no_share() -> None:
    task = task_config.parse(config(_CLUSTER, "data_worker", "1"))
    assert (task.role, task.index, task.name, task.address) == (
        "data_worker", 1, "data_worker:1", E)
    assert not task.is_trainer and not task.is_chief and task.num_trainers == 2
    # RunConfig accepts the normal form as a task that does not train.
    assert json.loads(task.tf_config())["task"]["type"] == "evaluator"
    assert task.strategy_tf_config() == ""


def test_parse_of_a_chief_beside_data_workers_trains_alone() -> None:
    chief, data_worker = (task_config.parse(config({"chief": [A], "data_worker": [D]}, role))
                          for role in ("chief", "data_worker"))
    assert chief.is_local and chief.data_workers == (D,) and chief.declared_address == A
    assert data_worker.name_of("chief", 0) == chief.name


@pytest.mark.parametrize("cluster, role, expected", [
    ({"data_worker": [D]}, "data_worker", "a chief or a worker as well, because data_worker train"),
    ({"chief": [A], "data_worker": [D]}, "data_wroker", "Did you mean 'data_worker'"),
    ({"chief": [A], "dataworker": [D]}, "chief", "Did you mean 'data_worker'"),
    ({"chief": [A], "data_worker": [A]}, "chief", "chief:0 has the same"),
    ({}, "data_worker", "the data_worker and the tasks that they serve")])
def test_parse_explains_data_workers_that_cannot_serve(cluster, role, expected) -> None:
    with pytest.raises(errors.TaskConfigError, match=expected):
        task_config.parse(config(cluster, role))


def test_describe_prints_the_tf_config_of_each_data_worker() -> None:
    lists = host_lists.HostLists(worker_hosts=(A, B), ps_hosts=(C,), data_worker_hosts=(D, E))
    texts = host_lists.describe(lists)
    assert texts.count("export TF_CONFIG=") == 5 and "# data_worker:1" in texts
    one = host_lists.HostLists(worker_hosts=(A,), data_worker_hosts=(D,), job_name="data_worker")
    assert task_config.parse(host_lists.describe(one)).name == "data_worker:0"
