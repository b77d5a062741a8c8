"""TF_CONFIG of every platform ends in one normal form, and mistakes end in one complete message."""

from __future__ import annotations

import ast
import json
import pathlib
import shlex
import sys
from typing import Any

import dialects
from dialects import DIALECTS
import pytest

from estimator_trainer import cli
from estimator_trainer import cluster_example
from estimator_trainer import cluster_spec
from estimator_trainer import doctor
from estimator_trainer import errors
from estimator_trainer import ports
from estimator_trainer import task_config

A, B, C, D, E = (f"host{i}:2222" for i in range(5))


def config(cluster: Any, role: Any = "worker", index: Any = 0, **extra: Any) -> str:
    return json.dumps({"cluster": cluster, "task": {"type": role, "index": index}, **extra})


# What one task is told, and what the user gets.
# text, role, index, name, cluster, (num_input_pipelines, input_pipeline_id)
CHIEF_WORKER = {"chief": (A,), "worker": (B,)}
ALL_ROLES = {"chief": (A,), "worker": (B, C), "ps": (D,)}
ACCEPTED: dict[str, tuple[Any, ...]] = {
    "unset": (None, "local", 0, "local", {}, (1, 0)),
    "empty": ("", "local", 0, "local", {}, (1, 0)),
    "blank": (" \n", "local", 0, "local", {}, (1, 0)),
    "empty object": ("{}", "local", 0, "local", {}, (1, 0)),
    "only an environment": ('{"environment": "cloud"}', "local", 0, "local", {}, (1, 0)),
    "null cluster": ('{"cluster": null, "task": null}', "local", 0, "local", {}, (1, 0)),
    "empty cluster": (config({}), "local", 0, "local", {}, (1, 0)),
    "empty cluster, master": (config({}, "master"), "local", 0, "local", {}, (1, 0)),
    "task of no cluster": ('{"task": {"type": "worker"}}', "local", 0, "local", {}, (1, 0)),
    "chief": (config({"chief": [A], "worker": [B]}, "chief"),
              "chief", 0, "chief:0", CHIEF_WORKER, (2, 0)),
    "worker": (config({"chief": [A], "worker": [B]}),
               "worker", 0, "worker:0", CHIEF_WORKER, (2, 1)),
    "second worker": (config({"chief": [A], "worker": [B, C], "ps": [D]}, "worker", 1),
                      "worker", 1, "worker:1", ALL_ROLES, (3, 2)),
    "ps": (config({"chief": [A], "worker": [B, C], "ps": [D]}, "ps"),
           "ps", 0, "ps:0", ALL_ROLES, (1, 0)),
    "ps and chief": (config({"chief": [A], "ps": [B]}, "chief"),
                     "chief", 0, "chief:0", {"chief": (A,), "ps": (B,)}, (1, 0)),
    "master": (config({"master": [A], "worker": [B]}, "master"),
               "chief", 0, "master:0", CHIEF_WORKER, (2, 0)),
    "worker of a master": (config({"master": [A], "worker": [B]}),
                           "worker", 0, "worker:0", CHIEF_WORKER, (2, 1)),
    "master called chief by the task": (config({"master": [A], "worker": [B]}, "chief"),
                                        "chief", 0, "master:0", CHIEF_WORKER, (2, 0)),
    "no head, worker 0": (config({"worker": [A, B]}, "worker", 0),
                          "chief", 0, "worker:0", CHIEF_WORKER, (2, 0)),
    "no head, worker 1": (config({"worker": [A, B]}, "worker", 1),
                          "worker", 0, "worker:1", CHIEF_WORKER, (2, 1)),
    "no head, with ps": (config({"worker": [A, B, C], "ps": [D]}, "worker", 2),
                         "worker", 1, "worker:2", ALL_ROLES, (3, 2)),
    "no head, the ps": (config({"worker": [A, B, C], "ps": [D]}, "ps"),
                        "ps", 0, "ps:0", ALL_ROLES, (1, 0)),
    "no head, one worker and a ps": (config({"worker": [A], "ps": [B]}),
                                     "chief", 0, "worker:0", {"chief": (A,), "ps": (B,)}, (1, 0)),
    "evaluator in the cluster": (
        config({"chief": [A], "worker": [B], "evaluator": [E]}, "evaluator"),
        "evaluator", 0, "evaluator:0", CHIEF_WORKER, (1, 0)),
    "evaluator outside the cluster": (config({"chief": [A], "worker": [B]}, "evaluator"),
                                      "evaluator", 0, "evaluator:0", CHIEF_WORKER, (1, 0)),
    "evaluator of an empty cluster": (config({}, "evaluator"),
                                      "evaluator", 0, "evaluator:0", {}, (1, 0)),
    "evaluator that is told of itself only": (config({"evaluator": [E]}, "evaluator"),
                                              "evaluator", 0, "evaluator:0", {}, (1, 0)),
    "evaluator of a lone chief": (config({"chief": [A]}, "evaluator"),
                                  "evaluator", 0, "evaluator:0", {"chief": (A,)}, (1, 0)),
    "evaluator of a master": (config({"master": [A], "worker": [B]}, "evaluator"),
                              "evaluator", 0, "evaluator:0", CHIEF_WORKER, (1, 0)),
    "chief beside an evaluator": (config({"chief": [A], "worker": [B], "evaluator": [E]}, "chief"),
                                  "chief", 0, "chief:0", CHIEF_WORKER, (2, 0)),
    "empty evaluator key": (config({"chief": [A], "worker": [B], "evaluator": []}, "chief"),
                            "chief", 0, "chief:0", CHIEF_WORKER, (2, 0)),
    "null evaluator key": (config({"chief": [A], "worker": [B], "evaluator": None}, "chief"),
                           "chief", 0, "chief:0", CHIEF_WORKER, (2, 0)),
    "text index": (config({"worker": [A, B]}, "worker", "1"),
                   "worker", 0, "worker:1", CHIEF_WORKER, (2, 1)),
    "no index where one fits": ('{"cluster": {"chief": ["%s"], "worker": ["%s"]},'
                                ' "task": {"type": "chief"}}' % (A, B),
                                "chief", 0, "chief:0", CHIEF_WORKER, (2, 0)),
    "roles in capitals": (config({"Chief": [A], "WORKER": [B]}, "Worker"),
                          "worker", 0, "worker:0", CHIEF_WORKER, (2, 1)),
    "map of all workers": (config({"chief": {"0": A}, "worker": {"1": C, "0": B}, "ps": [D]},
                                  "worker", 1),
                           "worker", 1, "worker:1", ALL_ROLES, (3, 2)),
    "one chief": (config({"chief": [A]}, "chief"), "local", 0, "chief:0", {}, (1, 0)),
    "one master": (config({"master": [A]}, "master"), "local", 0, "master:0", {}, (1, 0)),
    "one worker": (config({"worker": [A]}), "local", 0, "worker:0", {}, (1, 0)),
    "one chief, and an evaluator": (config({"chief": [A], "evaluator": [E]}, "chief"),
                                    "local", 0, "chief:0", {}, (1, 0)),
    "one task and no word on which": ('{"cluster": {"worker": ["%s"]}}' % A,
                                      "local", 0, "worker:0", {}, (1, 0)),
    "extra keys": (config({"chief": [A], "worker": [B]}, "chief", job={"scale_tier": "BASIC"},
                          open_ports=[1], rpc_layer="grpc", service={}),
                   "chief", 0, "chief:0", CHIEF_WORKER, (2, 0)),
    "job as a text": (config({"chief": [A], "worker": [B]}, "chief", job='{"job_args": []}'),
                      "chief", 0, "chief:0", CHIEF_WORKER, (2, 0)),
    "IPv6": (config({"chief": ["[::1]:2222"], "worker": ["[fe80::1]:2222"]}),
             "worker", 0, "worker:0",
             {"chief": ("[::1]:2222",), "worker": ("[fe80::1]:2222",)}, (2, 1)),
    "one host, two ports": (config({"chief": ["h:1"], "worker": ["h:65535"]}),
                            "worker", 0, "worker:0", {"chief": ("h:1",), "worker": ("h:65535",)},
                            (2, 1)),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_unambiguous_is_accepted(case: str) -> None:
    text, role, index, name, cluster, pipelines = ACCEPTED[case]
    task = task_config.parse(text)
    assert (task.role, task.index, task.name, task.cluster) == (role, index, name, cluster)
    assert (task.num_input_pipelines, task.input_pipeline_id) == pipelines
    assert task.address == (cluster[role][index] if role in cluster else "")
    assert task.name_of(role, index) == name


# A mistake, and what its message says (besides a corrected example).
REJECTED = {
    "single quotes": (config({"worker": [A, B]}).replace('"', "'"),
                      "expected JSON, where texts take double quotes, not single ones"),
    "cut off": ('{"cluster": {"worker": [', "(from TF_CONFIG); expected JSON ("),
    "quotes around it all": (f"'{config({'worker': [A, B]})}'", "not single ones"),
    "escaped quotes": (config({"worker": [A, B]}).replace('"', '\\"'), "expected JSON"),
    "a list": ("[]", 'value is [] (from TF_CONFIG); expected a JSON object'),
    "a number": ("1", "value is 1 (from TF_CONFIG); expected a JSON object"),
    "JSON in a text": (json.dumps(config({"worker": [A, B]})), "expected a JSON object"),
    "cluster is a list": ('{"cluster": ["a:1"]}',
                          """cluster is ['a:1'] (from TF_CONFIG["cluster"]); expected an object"""),
    "roles beside the cluster": ('{"worker": ["a:1", "b:1"], "task": {"type": "worker"}}',
                                 "key is 'worker' (from TF_CONFIG); expected the roles inside"),
    "Cluster": ('{"Cluster": {"worker": ["a:1", "b:1"]}}', "key is 'Cluster' (from TF_CONFIG)"),
    "misspelt role": (config({"wroker": [A, B]}),
                      """role is 'wroker' (from TF_CONFIG["cluster"]); expected one of chief,"""
                      " evaluator, master, ps, worker. Did you mean 'worker'?"),
    "ps_hosts": (config({"ps_hosts": [A], "worker": [B]}),
                 'role is \'ps_hosts\' (from TF_CONFIG["cluster"]); expected "ps"'),
    "worker_hosts": (config({"ps": [A], "worker_hosts": [B, C]}), 'expected "worker"'),
    "chief and master": (config({"chief": [A], "master": [B]}, "chief"),
                         "role is 'master'", "'chief', which mean the same"),
    "worker and Worker": (config({"worker": [A], "Worker": [B]}), "which mean the same"),
    "two chiefs": (config({"chief": [A, B]}, "chief"),
                   'from TF_CONFIG["cluster"]["chief"]); expected one host, because a job has one'),
    "two masters": (config({"master": [A, B], "worker": [C]}, "master"),
                    'from TF_CONFIG["cluster"]["master"]); expected one host'),
    "two evaluators": (config({"chief": [A], "evaluator": [B, C]}, "evaluator"),
                       'from TF_CONFIG["cluster"]["evaluator"]); expected one host'),
    "second evaluator": (config({"chief": [A], "worker": [B]}, "evaluator", 1),
                         'task index is 1 (from TF_CONFIG["task"]["index"]); expected 0'),
    "index out of range": (config({"worker": [A, B]}, "worker", 2),
                           'task index is 2 (from TF_CONFIG["task"]["index"]); expected a whole'
                           " number from 0 to 1"),
    "negative index": (config({"worker": [A, B]}, "worker", -1), "task index is -1"),
    "negative text index": (config({"worker": [A, B]}, "worker", "-1"), "task index is -1"),
    "boolean index": (config({"worker": [A, B]}, "worker", True), "task index is True"),
    "fractional index": (config({"worker": [A, B]}, "worker", 1.0), "task index is 1.0"),
    "index in words": (config({"worker": [A, B]}, "worker", "one"), "task index is 'one'"),
    "huge index": (config({"worker": [A, B]}, "worker", "9" * 5000), "task index is '999"),
    "no index where many fit": (config({"worker": [A, B]}, "worker", None),
                                "task index is missing"),
    "index without a cluster": (config({}, "worker", 3), "task index is 3"),
    "ps without a cluster": (config({}, "ps"), "cluster is missing"),
    "role missing from the cluster": (config({"chief": [A], "ps": [B]}, "worker"),
                                      'task type is \'worker\' (from TF_CONFIG["task"]["type"]);'
                                      " expected one of chief, evaluator, ps"),
    "chief missing from the cluster": (config({"worker": [A, B]}, "chief"),
                                       "task type is 'chief'"),
    "worker among evaluators": (config({"evaluator": [A]}, "worker"), "task type is 'worker'"),
    "misspelt task type": (config({"worker": [A, B]}, "wroker"),
                           "task type is 'wroker'", "Did you mean 'worker'?"),
    "task type is a number": (config({"worker": [A, B]}, 1), "task type is 1"),
    "task type missing": (config({"worker": [A, B]}, None),
                          'task type is missing (from TF_CONFIG["task"]["type"])'),
    "task missing": ('{"cluster": {"worker": ["a:1", "b:1"]}}', "task type is missing"),
    "task is a text": ('{"cluster": {"worker": ["a:1", "b:1"]}, "task": "worker"}',
                       'task is \'worker\' (from TF_CONFIG["task"]); expected an object'),
    "no hosts": (config({"chief": [A], "worker": []}, "chief"),
                 'hosts is [] (from TF_CONFIG["cluster"]["worker"]); expected a list'),
    "hosts in one text": (config({"worker": "host0:2222,host1:2222"}), "expected a list"),
    "hosts is null": (config({"worker": None}), "hosts is missing"),
    "empty host": (config({"worker": [""]}),
                   'address is \'\' (from TF_CONFIG["cluster"]["worker"][0]); expected "host:'),
    "no port": (config({"worker": [A, "host1"]}),
                'address is \'host1\' (from TF_CONFIG["cluster"]["worker"][1])'),
    "empty port": (config({"worker": [A, "host1:"]}), "address is 'host1:'"),
    "no host": (config({"worker": [A, ":2222"]}), "address is ':2222'"),
    "port zero": (config({"worker": [A, "host1:0"]}), "a port from 1 to 65535"),
    "port too large": (config({"worker": [A, "host1:65536"]}), "a port from 1 to 65535"),
    "port in words": (config({"worker": [A, "host1:http"]}), "address is 'host1:http'"),
    "address is a number": (config({"worker": [A, 2222]}), "address is 2222", "expected a text"),
    "http": (config({"worker": [A, "http://host1:2222"]}),
             'expected "host:port" without "http://"'),
    "grpc": (config({"worker": [A, "grpc://host1:2222"]}), 'without "grpc://"'),
    "two workers at one port": (config({"worker": [A, A]}),
                                'from TF_CONFIG["cluster"]["worker"][1]); expected one of its own,'
                                " because worker:0 has the same"),
    "two roles at one port": (config({"chief": [A], "worker": [B], "ps": [A]}, "ps"),
                              'from TF_CONFIG["cluster"]["ps"][0])', "chief:0 has the same"),
    "ps alone": (config({"ps": [A]}, "ps"), "expected a chief or a worker as well"),
    "ps and evaluator": (config({"ps": [A], "evaluator": [B]}, "ps"), "a chief or a worker"),
    "dynamic worker 0": (config({"worker": {"0": A}, "ps": [C]}), "enableDynamicWorker"),
    "dynamic worker 1": (config({"worker": {"1": A}, "ps": [C]}, "worker", 1),
                         """hosts is {'1': 'host0:2222'}""", "the list of every worker"),
    "ps of dynamic workers": (config({"worker": {}, "ps": [C]}, "ps"), "enableDynamicWorker"),
    "map of no chief": (config({"chief": {}, "worker": [A]}), "hosts is {}"),
    "map that skips one": (config({"worker": {"0": A, "2": B}}), "the list of every worker"),
}


@pytest.mark.parametrize("case", REJECTED)
def test_a_mistake_is_named_with_its_path_and_an_example_that_works(case: str) -> None:
    text, *expected = REJECTED[case]
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(text)
    message = str(raised.value)
    for part in expected:
        assert part in message
    assert message.count("For example: TF_CONFIG=") == 1
    (example,) = shlex.split(message.partition("For example: TF_CONFIG=")[2])
    assert task_config.parse(example)
    assert len(max(raised.value.problems[:-1], key=len, default="")) < 400


def test_all_mistakes_of_one_text_are_reported_at_once() -> None:
    text = json.dumps({
        "cluster": {"chief": ["a"], "master": ["b:0"], "wroker": ["http://c:1", 7], "ps": []},
        "task": {"type": "boss", "index": True},
    })
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(text)
    assert len(raised.value.problems) == 8
    for part in ("'a'", "'b:0'", "'master'", "'http://c:1'", "7", "'wroker'", "[]", "'boss'"):
        assert any(f"is {part} (from TF_CONFIG" in p for p in raised.value.problems)


def test_wrong_type_and_wrong_address_are_reported_together() -> None:
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(config({"worker": ["a", "b:1"]}, "worker", 5))
    assert [p.split(" is ")[0] for p in raised.value.problems] == ["address", "task index"]


@pytest.mark.parametrize("text, fixed", [
    (config({"worker": [A, B]}).replace('"', "'"), config({"worker": [A, B]})),
    (f"'{config({'worker': [A, B]})}'", config({"worker": [A, B]})),
    (config({"wroker": ["a", "b:0"], "ps_hosts": ["http://c:1/"]}, "wroker", "7"),
     config({"worker": ["a:2222", "b:2222"], "ps": ["c:1"]})),
    (config({"master": ["a:1", "b:1"], "ps": ["a:1"]}, "master"),
     config({"master": ["a:1"], "ps": ["a:2"], "worker": ["b:1"]}, "master")),
    (config({"worker": {"1": "b:1"}, "ps": ["c:1"]}, "worker", 1),
     config({"worker": ["worker0:2222", "b:1"], "ps": ["c:1"]}, "worker", 1)),
    (config({"ps": ["a:1"]}, "ps"), config({"chief": ["chief0:2222"], "ps": ["a:1"]}, "ps")),
    (config({"worker": "a:1,b:1"}), config({"worker": ["a:1", "b:1"]})),
])
def test_the_example_is_the_users_own_cluster_corrected(text: str, fixed: str) -> None:
    assert json.loads(cluster_example.corrected(text)) == json.loads(fixed)


@pytest.mark.parametrize("text, note", [
    (config({"worker": [A, B, C]}, "worker", 1), "no chief in TF_CONFIG: worker:0 acts as chief,"
     " worker:1 becomes worker:0 and so on"),
    (config({"worker": [A], "ps": [B]}), "no chief in TF_CONFIG: worker:0 acts as chief"),
    (config({"master": [A], "worker": [B]}), "master:0 acts as chief"),
    (config({"master": [A]}, "master"), "master:0 is the only task to train: it needs no cluster"),
    (config({"chief": [A], "worker": [B]}, environment="google"),
     'environment "google" is dropped: with it no task would start its server'),
    (config({"chief": [A], "worker": [B]}, session_master="grpc://x:1"),
     "session_master is dropped: it is not used here"),
])
def test_each_rewrite_is_one_line_for_the_log(text: str, note: str) -> None:
    assert task_config.parse(text).notes == (note,)


def test_a_plain_chief_and_worker_cluster_is_not_rewritten() -> None:
    assert not task_config.parse(config({"chief": [A], "worker": [B], "evaluator": [E]})).notes


def test_a_cluster_with_a_master_remembers_that_the_head_evaluates() -> None:
    assert task_config.parse(config({"master": [A], "worker": [B]})).head_evaluates
    assert task_config.parse(config({"master": [A]}, "master")).head_evaluates
    assert not task_config.parse(config({"chief": [A], "worker": [B]})).head_evaluates


def test_every_task_is_called_what_the_platform_calls_it() -> None:
    task = task_config.parse(config({"worker": [A, B, C], "ps": [D]}, "ps"))
    names = [task.name_of(*place) for place in (("chief", 0), ("worker", 0), ("worker", 1),
                                                ("ps", 0), ("evaluator", 0))]
    assert names == ["worker:0", "worker:1", "worker:2", "ps:0", "evaluator:0"]


def test_head_can_be_written_as_master_only_where_one_was_declared_and_nobody_else_evaluates(
) -> None:
    master = config({"master": [A], "worker": [B]}, "master")
    assert json.loads(task_config.parse(master).tf_config("master")) == json.loads(master)
    assert json.loads(task_config.parse(master).tf_config())["task"]["type"] == "chief"
    evaluated = config({"master": [A], "worker": [B], "evaluator": [C]}, "master")
    for text, head in ((config({"chief": [A], "worker": [B]}), "master"), (evaluated, "master"),
                       (master, "worker")):
        with pytest.raises(ValueError, match="head is"):
            task_config.parse(text).tf_config(head)


def test_the_normal_form_reads_back_as_itself_with_the_tuning_trial() -> None:
    text = json.dumps({"cluster": {"worker": [A, B], "evaluator": [E]},
                       "task": {"type": "worker", "index": "1", "trial": "7", "cloud": "x"}})
    task = task_config.parse(text)
    again = task_config.parse(task.tf_config())
    assert (again.cluster, again.role, again.index) == (task.cluster, task.role, task.index)
    assert again.trial == task.trial == "7"
    assert again.tf_config() == task.tf_config()


# Vertex AI's worker pools.
POOLS = {"workerpool0": [A], "workerpool1": [B, C], "workerpool2": [D], "workerpool3": [E]}


@pytest.mark.parametrize("pool, index, role", [
    ("workerpool0", 0, "chief"), ("workerpool1", 1, "worker"), ("workerpool2", 0, "ps"),
    ("workerpool3", 0, "evaluator"),
])
def test_worker_pools_replace_an_unset_tf_config(pool: str, index: int, role: str) -> None:
    task = task_config.parse(None, config(POOLS, pool, index, environment="cloud"))
    assert (task.role, task.index, task.cluster) == (role, index, ALL_ROLES)
    assert task.name == f"{pool}:{index}"
    assert task.has_evaluator
    assert task.notes[0] == "TF_CONFIG is not set: the cluster is read from CLUSTER_SPEC"


def test_one_worker_pool_of_one_replica_is_local() -> None:
    pools = {"workerpool0": [A], "workerpool1": []}
    assert task_config.parse("", config(pools, "workerpool0")).is_local


def test_worker_pools_beside_tf_config_only_tell_of_the_evaluator() -> None:
    text = config({"chief": [A], "worker": [B]}, "chief")
    task = task_config.parse(text, config(POOLS, "workerpool0"))
    assert (task.cluster, task.has_evaluator) == (CHIEF_WORKER, True)
    del_evaluator = {pool: hosts for pool, hosts in POOLS.items() if pool != "workerpool3"}
    assert not task_config.parse(text, config(del_evaluator, "workerpool0")).has_evaluator
    for tonys_or_broken in ('{"worker": ["a:1"]}', "not JSON", "[]"):
        assert not task_config.parse(text, tonys_or_broken).has_evaluator


def test_a_lone_chief_beside_an_evaluator_is_local_and_knows_that_it_need_not_evaluate() -> None:
    task = task_config.parse(config({"chief": [A], "evaluator": [E]}, "chief"))
    assert (task.is_local, task.has_evaluator, task.tf_config()) == (True, True, "{}")


def test_an_explicitly_empty_tf_config_is_local_beside_worker_pools() -> None:
    assert task_config.parse("{}", config(POOLS, "workerpool0")).is_local


def test_a_mistake_in_worker_pools_is_named_with_its_path() -> None:
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(None, config({"workerpool0": [A], "workerpool1": ["b"]}, "workerpool0"))
    assert 'from CLUSTER_SPEC["cluster"]["workerpool1"][0]' in str(raised.value)


def tasks_of(dialect: str) -> list[task_config.TaskConfig]:
    return [task_config.parse(each.get("TF_CONFIG"), each.get("CLUSTER_SPEC"))
            for each in DIALECTS[dialect]]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_tasks_of_a_job_agree_on_it(dialect: str) -> None:
    tasks = tasks_of(dialect)
    assert len(tasks) >= 3
    assert all(task.cluster == tasks[0].cluster for task in tasks)
    assert len({task.num_trainers for task in tasks}) == 1
    assert [task.name for task in tasks if task.is_chief] == [tasks[0].name]
    assert tasks[0].address == tasks[0].cluster["chief"][0]
    assert all(task.name_of("chief", 0) == tasks[0].name for task in tasks)
    assert len({(task.role, task.index) for task in tasks}) == len(tasks)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_check_shows_the_same_normal_form_in_every_task(
        dialect: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # The hosts are nowhere, and this machine's ports are not theirs.
    monkeypatch.setattr(doctor, "_fault_of_name", lambda host: "")
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
def test_the_trainers_of_a_job_share_its_data_without_gaps_or_overlaps(dialect: str) -> None:
    trainers = [task for task in tasks_of(dialect) if task.is_trainer]
    count = trainers[0].num_trainers
    assert [(task.num_input_pipelines, task.input_pipeline_id)
            for task in trainers] == [(count, i) for i in range(count)]


@pytest.mark.parametrize("dialect, known", [
    ("TFJob, chief", [True] * 5), ("ecosystem jinja", [True] * 4),
    ("Vertex AI", [False] * 4 + [True]), ("SageMaker, ps", [False] * 4),
])
def test_an_evaluator_is_known_where_the_platform_lists_it(dialect: str, known: list[bool]) -> None:
    assert [task.has_evaluator for task in tasks_of(dialect)] == known


def test_the_platforms_own_bytes_are_those_that_are_read() -> None:
    """As in tf-operator's pod_test.go, Vertex AI's manual and SageMaker's test_training.py."""
    tfjob, vertex, sagemaker = (DIALECTS[name][0]["TF_CONFIG"] for name in (
        "TFJob, no head", "Vertex AI", "SageMaker, ps"))
    assert tfjob.startswith('{"cluster":{"evaluator":["test-tfjob-evaluator-0.ns3.svc:2222"],"ps":')
    assert tfjob.endswith('"task":{"type":"worker","index":0},"environment":"cloud"}')
    assert vertex.endswith('"task":{"cloud":"x-tp","index":0,"trial":"1","type":"chief"}}')
    assert sagemaker == (
        '{"cluster":{"master":["host1:2222"],"ps":["host1:2223","host2:2223"],'
        '"worker":["host2:2222"]},"environment":"cloud","task":{"index":0,"type":"master"}}')


def test_worker_pools_by_number_are_ignored_beside_tf_config_and_refused_alone() -> None:
    """The form in a unit test of Vertex AI's SDK, which no platform is known to write."""
    pools = json.dumps({"cluster": {"worker_pools": [{"index": 0, "replicas": [A, B]}]},
                        "task": {"worker_pool_index": 0, "replica_index": 0}})
    assert task_config.parse(config({"chief": [A], "worker": [B]}), pools).cluster == CHIEF_WORKER
    with pytest.raises(errors.TaskConfigError, match="role is 'worker_pools'"):
        task_config.parse(None, pools)


def test_dynamic_workers_are_refused_by_every_task_of_the_job() -> None:
    for worker, role, index in (({"0": A}, "worker", 0), ({"1": B}, "worker", 1), ({}, "ps", 0)):
        with pytest.raises(errors.TaskConfigError, match="enableDynamicWorker"):
            task_config.parse(config({"worker": worker, "ps": [D]}, role, index))


# What TensorFlow makes of the normal form.
@pytest.mark.parametrize("dialect", DIALECTS)
def test_run_config_takes_the_normal_form_of_every_task(
        dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_config = pytest.importorskip("tensorflow_estimator").estimator.RunConfig
    for task in tasks_of(dialect):
        for head in ["chief"] + ["master"] * (task.head_evaluates and not task.has_evaluator):
            monkeypatch.setenv("TF_CONFIG", task.tf_config(head))
            built = run_config()
            assert built.task_type == (head if task.role == "chief" else task.role)
            assert (built.task_id, built.is_chief) == (task.index, task.is_chief)
            is_counted = task.role != "evaluator"
            assert built.num_worker_replicas == (task.num_trainers if is_counted else 0)
            assert built.num_ps_replicas == (len(task.cluster.get("ps", ())) if is_counted else 0)


@pytest.mark.parametrize("text, task_type", [
    (None, "worker"), ("", "worker"), (config({"chief": [A]}, "chief"), "worker"),
    (config({"master": [A]}, "master"), "worker"), (config({}, "evaluator"), "evaluator"),
    (config({"evaluator": [E]}, "evaluator"), "evaluator"),
    (config({"chief": [A]}, "evaluator"), "evaluator"),
])
def test_run_config_takes_a_task_that_stands_alone(
        text: str | None, task_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_config = pytest.importorskip("tensorflow_estimator").estimator.RunConfig
    task = task_config.parse(text)
    monkeypatch.setenv("TF_CONFIG", task.tf_config())
    built = run_config()
    assert (built.task_type, built.task_id, built.is_chief) == (task_type, 0, task.is_chief)
    assert not built.cluster_spec


def test_strategies_resolve_the_normal_form_to_the_same_cluster(
        monkeypatch: pytest.MonkeyPatch) -> None:
    tf = pytest.importorskip("tensorflow")
    task = tasks_of("TFJob, master")[2]
    monkeypatch.setenv("TF_CONFIG", task.tf_config())
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    assert resolver.cluster_spec().as_dict() == {
        "chief": ["test-tfjob-master-0.ns3.svc:2222"], "ps": ["test-tfjob-ps-0.ns3.svc:2222"],
        "worker": [f"test-tfjob-worker-{i}.ns3.svc:2222" for i in range(2)]}
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)


def test_parsing_needs_the_standard_library_only() -> None:
    for module in (task_config, cluster_spec, cluster_example):
        tree = ast.parse(pathlib.Path(str(module.__file__)).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [node.module] if isinstance(node, ast.ImportFrom) else (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [])
            for name in names:
                assert str(name).split(".")[0] in {*sys.stdlib_module_names, "estimator_trainer"}
            assert not (isinstance(node, ast.Attribute) and node.attr == "environ")
