"""TF_CONFIG and CLUSTER_SPEC of every platform describe one job to all of its tasks."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import cli, errors
from estimator_trainer.checks import machine_check
from estimator_trainer.cluster import ports, task_config
from tests.support import dialects
from tests.support.dialects import DIALECTS
from tests.support.tf_configs import A, ALL_ROLES, B, C, CHIEF_WORKER, config, D, E

# These are Vertex AI's worker pools.
POOLS = {"workerpool0": [A], "workerpool1": [B, C], "workerpool2": [D], "workerpool3": [E]}


@pytest.mark.parametrize("pool, index, role", [
    ("workerpool0", 0, "chief"), ("workerpool1", 1, "worker"), ("workerpool2", 0, "ps"),
    ("workerpool3", 0, "evaluator"),
])
def test_parse_reads_worker_pools_without_a_tf_config(pool: str, index: int, role: str) -> None:
    task = task_config.parse(None, config(POOLS, pool, index, environment="cloud"))
    assert (task.role, task.index, task.cluster) == (role, index, ALL_ROLES)
    assert task.name == f"{pool}:{index}"
    assert task.has_evaluator
    assert task.notes[0] == "TF_CONFIG is not set: the cluster is read from CLUSTER_SPEC"


def test_parse_of_one_replica_in_one_pool_is_local() -> None:
    pools = {"workerpool0": [A], "workerpool1": []}
    assert task_config.parse("", config(pools, "workerpool0")).is_local


def test_parse_reads_only_the_evaluator_from_pools_beside_tf_config() -> None:
    text = config({"chief": [A], "worker": [B]}, "chief")
    task = task_config.parse(text, config(POOLS, "workerpool0"))
    assert (task.cluster, task.has_evaluator) == (CHIEF_WORKER, True)
    del_evaluator = {pool: hosts for pool, hosts in POOLS.items() if pool != "workerpool3"}
    assert not task_config.parse(text, config(del_evaluator, "workerpool0")).has_evaluator
    for tonys_or_broken in ('{"worker": ["a:1"]}', "not JSON", "[]"):
        assert not task_config.parse(text, tonys_or_broken).has_evaluator


def test_parse_counts_the_evaluators_that_are_listed() -> None:
    text = config({"chief": [A], "worker": [B]}, "evaluator", 1)
    assert task_config.parse(text).num_evaluators == 0  # Nothing tells their number.
    pools = POOLS | {"workerpool2": [], "workerpool3": [D, E]}
    assert task_config.parse(text, config(pools, "workerpool3", 1)).num_evaluators == 2
    assert task_config.parse(None, config(pools, "workerpool3", 1)).num_evaluators == 2
    listed = config({"chief": [A], "worker": [B], "evaluator": [C, D, E]}, "chief")
    assert task_config.parse(listed).num_evaluators == 3


def test_parse_of_an_empty_tf_config_is_local_beside_worker_pools() -> None:
    assert task_config.parse("{}", config(POOLS, "workerpool0")).is_local


def test_parse_names_a_mistake_in_worker_pools_by_its_path() -> None:
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(None, config({"workerpool0": [A], "workerpool1": ["b"]}, "workerpool0"))
    assert 'from CLUSTER_SPEC["cluster"]["workerpool1"][0]' in str(raised.value)


def tasks_of(dialect: str) -> list[task_config.TaskConfig]:
    return [task_config.parse(each.get("TF_CONFIG"), each.get("CLUSTER_SPEC"))
            for each in DIALECTS[dialect]]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_parse_gives_all_tasks_the_same_job(dialect: str) -> None:
    tasks = tasks_of(dialect)
    assert len(tasks) >= 3
    assert all(task.cluster == tasks[0].cluster for task in tasks)
    assert len({task.num_trainers for task in tasks}) == 1
    assert [task.name for task in tasks if task.is_chief] == [tasks[0].name]
    assert tasks[0].address == tasks[0].cluster["chief"][0]
    assert all(task.name_of("chief", 0) == tasks[0].name for task in tasks)
    assert len({(task.role, task.index) for task in tasks}) == len(tasks)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_parse_gives_check_the_same_form_in_every_task(
        dialect: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # The hosts do not exist, and this machine's ports are not theirs.
    monkeypatch.setattr(machine_check, "_fault_of_name", lambda host: "")
    monkeypatch.setattr(ports, "problems", lambda task: [])
    shown = []
    for variables in DIALECTS[dialect]:
        with monkeypatch.context() as patched:
            for name, text in variables.items():
                patched.setenv(name, text)
            code = cli.main(["check", "--json", "--model_dir=gs://bucket/job",
                             f"--train_distribute={dialects.strategy(dialect)}"])
        shown.append(json.loads(capsys.readouterr().out))
        assert code == 0, shown[-1]["problems"]
    tasks = tasks_of(dialect)
    assert all(each["cluster"] == shown[0]["cluster"] for each in shown)
    assert {each["world_size"] for each in shown} == {tasks[0].num_trainers}
    assert [each["role"] for each in shown] == [f"{task.role}:{task.index}" for task in tasks]
    assert [each["task"] for each in shown if each["role"] == "chief:0"] == [tasks[0].name]
    trainers = [each["shard"] for each, task in zip(shown, tasks) if task.is_trainer]
    assert trainers == [f"{i + 1}/{len(trainers)}" for i in range(len(trainers))]
    assert [each["evaluator"] == "in the cluster" for each in shown] == [
        task.has_evaluator for task in tasks]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_parse_gives_trainers_shards_without_gaps_or_overlaps(dialect: str) -> None:
    trainers = [task for task in tasks_of(dialect) if task.is_trainer]
    count = trainers[0].num_trainers
    assert [(task.num_input_pipelines, task.input_pipeline_id)
            for task in trainers] == [(count, i) for i in range(count)]


@pytest.mark.parametrize("dialect, known", [
    ("TFJob, chief", [True] * 5), ("ecosystem jinja", [True] * 4),
    ("Vertex AI", [False] * 4 + [True]), ("SageMaker, ps", [False] * 4),
])
def test_parse_finds_an_evaluator_that_the_platform_lists(dialect: str, known: list[bool]) -> None:
    assert [task.has_evaluator for task in tasks_of(dialect)] == known


def test_parse_reads_the_platforms_own_bytes() -> None:
    """As in tf-operator's pod_test.go, Vertex AI's manual and SageMaker's test_training.py."""
    tfjob, vertex, sagemaker = (DIALECTS[name][0]["TF_CONFIG"] for name in (
        "TFJob, no head", "Vertex AI", "SageMaker, ps"))
    assert tfjob.startswith('{"cluster":{"evaluator":["test-tfjob-evaluator-0.ns3.svc:2222"],"ps":')
    assert tfjob.endswith('"task":{"type":"worker","index":0},"environment":"cloud"}')
    assert vertex.endswith('"task":{"cloud":"x-tp","index":0,"trial":"1","type":"chief"}}')
    assert sagemaker == (
        '{"cluster":{"master":["host1:2222"],"ps":["host1:2223","host2:2223"],'
        '"worker":["host2:2222"]},"environment":"cloud","task":{"index":0,"type":"master"}}')


def test_parse_refuses_worker_pools_by_number() -> None:
    """The form in a unit test of Vertex AI's SDK, which no platform is known to write."""
    pools = json.dumps({"cluster": {"worker_pools": [{"index": 0, "replicas": [A, B]}]},
                        "task": {"worker_pool_index": 0, "replica_index": 0}})
    assert task_config.parse(config({"chief": [A], "worker": [B]}), pools).cluster == CHIEF_WORKER
    with pytest.raises(errors.TaskConfigError, match="role is 'worker_pools'"):
        task_config.parse(None, pools)


# TensorFlow makes this of the normal form.
@pytest.mark.parametrize("dialect", DIALECTS)
def test_parse_gives_run_config_a_form_that_it_takes(
        dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_config = pytest.importorskip("tensorflow_estimator").estimator.RunConfig
    for task in tasks_of(dialect):
        monkeypatch.setenv("TF_CONFIG", task.tf_config())
        built = run_config()
        assert built.task_type == task.role
        assert (built.task_id, built.is_chief) == (task.index, task.is_chief)
        is_counted = task.role != "evaluator"
        assert built.num_worker_replicas == (task.num_trainers if is_counted else 0)
        assert built.num_ps_replicas == (len(task.cluster.get("ps", ())) if is_counted else 0)


def test_parse_gives_strategies_the_same_cluster(
        monkeypatch: pytest.MonkeyPatch) -> None:
    tf = pytest.importorskip("tensorflow")
    task = tasks_of("TFJob, master")[2]
    monkeypatch.setenv("TF_CONFIG", task.tf_config())
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    assert resolver.cluster_spec().as_dict() == {
        "chief": ["test-tfjob-master-0.ns3.svc:2222"], "ps": ["test-tfjob-ps-0.ns3.svc:2222"],
        "worker": [f"test-tfjob-worker-{i}.ns3.svc:2222" for i in range(2)]}
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)
