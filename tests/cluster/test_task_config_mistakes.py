"""A mistake in TF_CONFIG is named with its path, and ends in an example that works."""

from __future__ import annotations

import json
import shlex

import pytest

from estimator_trainer import errors
from estimator_trainer.cluster import correction, task_config
from tests.support.tf_configs import A, B, C, config, D

# Each case is a mistake, and what its message says (besides a corrected example).
REJECTED = {
    "single quotes": (config({"worker": [A, B]}).replace('"', "'"),
                      "and \"task\", where texts take double quotes, not single ones"),
    "cut off": ('{"cluster": {"worker": [', "which is not JSON: Expecting value: line 1"),
    "quotes around it all": (f"'{config({'worker': [A, B]})}'", "not single ones"),
    "escaped quotes": (config({"worker": [A, B]}).replace('"', '\\"'), "which is not JSON"),
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
                      " data_worker, evaluator, master, ps, worker. Did you mean 'worker'?"),
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
    "second of one evaluator": (config({"chief": [A], "evaluator": [B]}, "evaluator", 1),
                                'task index is 1 (from TF_CONFIG["task"]["index"]); expected 0'),
    "third of two evaluators": (config({"chief": [A], "evaluator": [B, C]}, "evaluator", 2),
                                "expected a whole number from 0 to 1"),
    "one of two evaluators": (config({"chief": [A], "evaluator": [B, C]}, "evaluator", None),
                              "task index is missing"),
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
    "IPv6 with a port": (config({"worker": [A, "::1:2222"]}), "of an IPv6 address", '"[::1]:2222"'),
    "IPv6 alone": (config({"worker": [A, "fe80::1"]}), "of an IPv6 address", '"[fe80::1]:2222"'),
    "IPv6 in brackets": (config({"worker": [A, "[::1]"]}), "of an IPv6", '"[::1]:2222"'),
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
    # TFJob's operator writes another key than TensorFlow reads.
    "dynamic worker 0 of the operator": (
        config({"worker": {"0": A}, "ps": [C]}).replace("cluster", "sparseCluster"),
        "key is 'sparseCluster'", "enableDynamicWorker"),
    "map of no chief": (config({"chief": {}, "worker": [A]}), "hosts is {}"),
    "map that skips one": (config({"worker": {"0": A, "2": B}}), "the list of every worker"),
}


@pytest.mark.parametrize("case", REJECTED)
def test_parse_names_a_mistake_by_its_path_with_an_example(case: str) -> None:
    text, *expected = REJECTED[case]
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(text)
    message = str(raised.value)
    for part in expected:
        assert part in message
    assert message.count("For example: TF_CONFIG=") == 1
    (example,) = shlex.split(message.partition("For example: TF_CONFIG=")[2])
    assert task_config.parse(example)
    assert max(len(str(problem)) for problem in raised.value.problems[:-1] or [""]) < 400


def test_parse_reports_all_mistakes_at_once() -> None:
    text = json.dumps({
        "cluster": {"chief": ["a"], "master": ["b:0"], "wroker": ["http://c:1", 7], "ps": []},
        "task": {"type": "boss", "index": True},
    })
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(text)
    assert len(raised.value.problems) == 8
    for part in ("'a'", "'b:0'", "'master'", "'http://c:1'", "7", "'wroker'", "[]", "'boss'"):
        assert any(f"is {part} (from TF_CONFIG" in str(p) for p in raised.value.problems)


def test_parse_reports_wrong_type_and_address_together() -> None:
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(config({"worker": ["a", "b:1"]}, "worker", 5))
    assert [problem.field for problem in raised.value.problems] == ["address", "task index"]


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
def test_parse_shows_the_users_own_cluster_corrected(text: str, fixed: str) -> None:
    assert json.loads(correction.corrected(text)) == json.loads(fixed)


def test_parse_refuses_dynamic_workers_in_every_task() -> None:
    for worker, role, index in (({"0": A}, "worker", 0), ({"1": B}, "worker", 1), ({}, "ps", 0)):
        with pytest.raises(errors.TaskConfigError, match="enableDynamicWorker"):
            task_config.parse(config({"worker": worker, "ps": [D]}, role, index))


_ARGUMENTS = {"args": ["--api_key=SEKRET"]}


@pytest.mark.parametrize("text", [
    config({"wroker": [A]}, job=_ARGUMENTS), config({"worker": [A, B], "job": _ARGUMENTS}),
    config({"worker": [A, B], "Job": [_ARGUMENTS]}), config({}, job=_ARGUMENTS)[:-1],
    config({}, job=json.dumps(_ARGUMENTS))[:-1], config({}, Job=_ARGUMENTS).replace('"', "'"),
    "{cluster: {worker: [a:1, b:1]}, job: {args: [--api_key=SEKRET]}}",
    "cluster:\n  worker: [a:1]\njob:\n  args: [--api_key=SEKRET]\n",
    json.dumps(config({"worker": [A]}, job=_ARGUMENTS)), json.dumps([{"job": _ARGUMENTS}]),
    json.dumps({"cluster": config({"worker": [A]}, job=_ARGUMENTS)}),
    json.dumps({"cluster": {"worker": [A, B]}, "task": {"type": "worker", "index": 9,
                                                        "args": ["SEKRET"]}}),
    json.dumps({"worker": [A, B], "task": {"type": "worker", "index": 0, "args": ["SEKRET"]}})])
def test_parse_repeats_nothing_that_job_holds(text: str) -> None:
    for read in (lambda: task_config.parse(text), lambda: task_config.parse("", text)):
        with pytest.raises(errors.TaskConfigError) as raised:
            read()
        assert "SEKRET" not in str(raised.value)


def test_parse_keeps_nothing_of_job() -> None:
    task = task_config.parse(config({"worker": [A, B]}, job=_ARGUMENTS))
    assert "SEKRET" not in repr(task) + task.tf_config()
