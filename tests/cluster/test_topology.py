"""A cluster that cannot train with a strategy is refused, by every task alike, with the fix."""

from __future__ import annotations

import dataclasses
import json
from typing import Sequence

import pytest

from estimator_trainer.cluster import task_config, topology


def tasks_of(*roles: str) -> list[task_config.TaskConfig]:
    """The tasks of a job such as ("chief", "worker", "worker", "ps"), with an evaluator added."""
    cluster: dict[str, list[str]] = {}
    for i, role in enumerate(roles):
        cluster.setdefault(role, []).append(f"host{i}:2222")
    places = [(role, i) for role, hosts in cluster.items() for i in range(len(hosts))]
    return [
        task_config.parse(
            json.dumps({"cluster": cluster, "task": {"type": role, "index": index}}))
        for role, index in [*places, ("evaluator", 0)]
    ]


ONE_PROCESS = {"none", "one_device", "mirrored", "central_storage"}
CLUSTERS = {
    ("chief",): ONE_PROCESS | {"multi_worker_mirrored"},
    ("master",): ONE_PROCESS | {"multi_worker_mirrored"},
    ("worker",): ONE_PROCESS | {"multi_worker_mirrored"},
    ("chief", "worker"): {"multi_worker_mirrored"},
    ("master", "worker", "worker"): {"multi_worker_mirrored"},
    ("worker", "worker"): {"multi_worker_mirrored"},
    ("chief", "ps"): {"none", "parameter_server"},
    ("worker", "ps"): {"none", "parameter_server"},
    ("chief", "worker", "ps"): {"none", "parameter_server"},
    ("master", "worker", "ps", "ps"): {"none", "parameter_server"},
}


@pytest.mark.parametrize("train_distribute", topology.STRATEGIES)
@pytest.mark.parametrize("roles, allowed", CLUSTERS.items(), ids=map("+".join, CLUSTERS))
def test_problems_of_each_strategy_on_each_cluster(
        roles: Sequence[str], allowed: set[str], train_distribute: str) -> None:
    verdicts = {topology.problems(task, train_distribute, "none") for task in tasks_of(*roles)}
    assert len(verdicts) == 1
    found = verdicts.pop()
    assert bool(found) == (train_distribute not in allowed)
    for problem in map(str, found):
        assert problem.startswith(f"train_distribute is '{train_distribute}' (from --")
        suggested = problem.partition("For example: --train_distribute=")[2]
        assert suggested in allowed


@pytest.mark.parametrize("train_distribute", topology.STRATEGIES)
def test_problems_of_parameter_server_without_a_cluster(train_distribute: str) -> None:
    found = topology.problems(task_config.parse(None), train_distribute, "none")
    assert bool(found) == (train_distribute == "parameter_server")


@pytest.mark.parametrize("eval_distribute", topology.STRATEGIES)
@pytest.mark.parametrize("roles, allowed", CLUSTERS.items(), ids=map("+".join, CLUSTERS))
def test_problems_of_eval_distribute(
        roles: Sequence[str], allowed: set[str], eval_distribute: str) -> None:
    train_distribute = sorted(allowed)[0]
    verdicts = {topology.problems(task, train_distribute, eval_distribute)
                for task in tasks_of(*roles)}
    assert len(verdicts) == 1
    found = verdicts.pop()
    assert bool(found) == (eval_distribute not in ONE_PROCESS)
    for problem in map(str, found):
        assert problem.startswith(f"eval_distribute is '{eval_distribute}' (from --")
        assert "evaluation runs in one process" in problem
        assert problem.endswith("For example: --eval_distribute=none")


@pytest.mark.parametrize("roles, train_distribute, why", [
    (("chief", "worker"), "none", "wait for variables that ps tasks hold"),
    (("chief", "worker"), "mirrored", "only the chief would train"),
    (("chief", "worker"), "parameter_server", "keeps variables in ps tasks"),
    (("chief", "ps"), "multi_worker_mirrored", "keep the variables themselves"),
    (("chief", "worker", "ps"), "one_device", "only the chief would train"),
    (("chief",), "parameter_server", "this cluster has none"),
])
def test_problems_give_the_reason(roles: Sequence[str], train_distribute: str, why: str) -> None:
    [problem] = map(str, topology.problems(tasks_of(*roles)[0], train_distribute, "none"))
    assert why in problem


def test_problems_of_training_and_evaluation_together() -> None:
    task = tasks_of("chief", "worker")[0]
    assert len(topology.problems(task, "none", "parameter_server")) == 2


@pytest.mark.parametrize("train_distribute", topology.STRATEGIES)
def test_problems_of_an_evaluator_without_trainers(
        train_distribute: str) -> None:
    task = task_config.parse('{"cluster": {}, "task": {"type": "evaluator", "index": 0}}')
    assert topology.problems(task, train_distribute, "mirrored") == ()
    assert len(topology.problems(task, train_distribute, "multi_worker_mirrored")) == 1


@pytest.mark.parametrize("counts", [
    {"chief": 1}, {"chief": 0, "worker": 1}, {"chief": 1, "evaluator": 1},
    {"chief": 1, "worker": 2, "ps": 1, "evaluator": 1}, {"worker": 3, "ps": 2, "evaluator": 0},
    {"chief": 0, "worker": 2, "ps": 0, "evaluator": 1}])
def test_of_counts_makes_the_job_that_tf_config_makes(counts: dict[str, int]) -> None:
    cluster = {role: [f"{role}-{i}:2222" for i in range(count)]
               for role, count in counts.items() if count}
    tasks = [task_config.parse(json.dumps({"cluster": cluster, "task": {"type": role, "index": i}}))
             for role, hosts in cluster.items() for i in range(len(hosts))]
    assert task_config.of_counts(counts) == [
        dataclasses.replace(task, platform_tf_config="") for task in tasks]
