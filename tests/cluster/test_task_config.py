"""A TF_CONFIG ends in one normal form, whatever its author left out."""

from __future__ import annotations

import ast
import json
import pathlib
import sys
from typing import Any

import pytest

from estimator_trainer.cluster import correction, declared_cluster, task_config
from tests.support.tf_configs import A, ALL_ROLES, B, C, CHIEF_WORKER, config, D, E

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
    "second of two evaluators": (
        config({"chief": [A], "worker": [B], "evaluator": [D, E]}, "evaluator", 1),
        "evaluator", 1, "evaluator:1", CHIEF_WORKER, (1, 0)),
    "second evaluator outside the cluster": (
        config({"chief": [A], "worker": [B]}, "evaluator", 1),
        "evaluator", 1, "evaluator:1", CHIEF_WORKER, (1, 0)),
    "one host, two ports": (config({"chief": ["h:1"], "worker": ["h:65535"]}),
                            "worker", 0, "worker:0", {"chief": ("h:1",), "worker": ("h:65535",)},
                            (2, 1)),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_parse_takes_what_is_unambiguous(case: str) -> None:
    text, role, index, name, cluster, pipelines = ACCEPTED[case]
    task = task_config.parse(text)
    assert (task.role, task.index, task.name, task.cluster) == (role, index, name, cluster)
    assert (task.num_input_pipelines, task.input_pipeline_id) == pipelines
    assert task.address == (cluster[role][index] if role in cluster else "")
    assert task.name_of(role, index) == name


@pytest.mark.parametrize("text, note", [
    (config({"worker": [A, B, C]}, "worker", 1), "no chief in TF_CONFIG: worker:0 acts as chief"),
    (config({"worker": [A], "ps": [B]}), "no chief in TF_CONFIG: worker:0 acts as chief"),
    (config({"master": [A], "worker": [B]}), "master:0 acts as chief"),
    (config({"master": [A]}, "master"), "master:0 is the only task to train: it needs no cluster"),
    (config({"chief": [A], "worker": [B]}, environment="google"),
     'environment "google" is dropped: with it no task would start its server'),
    (config({"chief": [A], "worker": [B]}, session_master="grpc://x:1"),
     "session_master is dropped: only a RunConfig that a script makes reads it"),
])
def test_parse_logs_each_correction_in_one_line(text: str, note: str) -> None:
    assert task_config.parse(text).notes == (note,)


def test_parse_leaves_a_plain_cluster_as_it_is() -> None:
    assert not task_config.parse(config({"chief": [A], "worker": [B], "evaluator": [E]})).notes


def test_parse_of_a_master_makes_the_head_evaluate() -> None:
    assert task_config.parse(config({"master": [A], "worker": [B]})).head_evaluates
    assert task_config.parse(config({"master": [A]}, "master")).head_evaluates
    assert not task_config.parse(config({"chief": [A], "worker": [B]})).head_evaluates


def test_parse_keeps_the_platforms_name_of_a_task() -> None:
    task = task_config.parse(config({"worker": [A, B, C], "ps": [D]}, "ps"))
    names = [task.name_of(*place) for place in (("chief", 0), ("worker", 0), ("worker", 1),
                                                ("ps", 0), ("evaluator", 0))]
    assert names == ["worker:0", "worker:1", "worker:2", "ps:0", "evaluator:0"]


def test_parse_keeps_names_for_servers_and_others_for_strategies() -> None:
    master = task_config.parse(config({"master": [A], "worker": [B], "evaluator": [C]}, "master"))
    assert master.server_place(False) == ({"master": (A,), "worker": (B,)}, "master", 0)
    assert master.server_place(True) == ({"chief": (A,), "worker": (B,)}, "chief", 0)
    assert json.loads(master.tf_config())["task"]["type"] == "chief"
    worker = task_config.parse(config({"worker": [A, B], "ps": [C]}, "worker", 1))
    assert worker.server_place(True) == ({"worker": (A, B), "ps": (C,)}, "worker", 1)
    assert (worker.role, worker.index) == ("worker", 0)
    evaluator = task_config.parse(config({"worker": [A, B], "evaluator": [C]}, "evaluator"))
    assert (evaluator.server_place(False).job, evaluator.strategy_tf_config()) == ("evaluator", "")


@pytest.mark.parametrize("text", [
    None, "", " ", '{ "cluster": null}', config({"master": [A]}, "master"),
    config({"worker": [A, B]}, "worker", "1"), config({"worker": {"0": A, "1": B}}),
    json.dumps({"cluster": {"worker": [A, B], "evaluator": [E]}, "environment": "google",
                "task": {"type": "evaluator", "index": 0, "trial": "3"}, "job": "SECRET"})])
def test_parse_leaves_the_users_code_the_platforms_tf_config(text: str | None) -> None:
    assert task_config.parse(text).platform_tf_config == (text or "")


def test_parse_of_the_normal_form_gives_itself() -> None:
    text = json.dumps({"cluster": {"worker": [A, B], "evaluator": [E]},
                       "task": {"type": "worker", "index": "1", "trial": "7", "cloud": "x"}})
    task = task_config.parse(text)
    again = task_config.parse(task.tf_config())
    assert (again.cluster, again.role, again.index) == (task.cluster, task.role, task.index)
    assert again.trial == task.trial == "7"
    assert again.tf_config() == task.tf_config()


def test_parse_of_a_lone_chief_with_an_evaluator_is_local() -> None:
    task = task_config.parse(config({"chief": [A], "evaluator": [E]}, "chief"))
    assert (task.is_local, task.has_evaluator, task.tf_config()) == (True, True, "{}")


@pytest.mark.parametrize("text, task_type", [
    (None, "worker"), ("", "worker"), (config({"chief": [A]}, "chief"), "worker"),
    (config({"master": [A]}, "master"), "worker"), (config({}, "evaluator"), "evaluator"),
    (config({"evaluator": [E]}, "evaluator"), "evaluator"),
    (config({"chief": [A]}, "evaluator"), "evaluator"),
])
def test_parse_of_a_lone_task_suits_run_config(
        text: str | None, task_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_config = pytest.importorskip("tensorflow_estimator").estimator.RunConfig
    task = task_config.parse(text)
    monkeypatch.setenv("TF_CONFIG", task.tf_config())
    built = run_config()
    assert (built.task_type, built.task_id, built.is_chief) == (task_type, 0, task.is_chief)
    assert not built.cluster_spec


def test_parse_needs_the_standard_library_only() -> None:
    for module in (task_config, declared_cluster, correction):
        tree = ast.parse(pathlib.Path(str(module.__file__)).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [node.module] if isinstance(node, ast.ImportFrom) else (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [])
            for name in names:
                assert str(name).split(".")[0] in {*sys.stdlib_module_names, "estimator_trainer"}
            assert not (isinstance(node, ast.Attribute) and node.attr == "environ")
