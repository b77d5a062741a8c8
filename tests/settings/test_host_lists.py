"""Lists of hosts tell a cluster, one task a command, without a TF_CONFIG of the user's."""

from __future__ import annotations

import re
import shlex

import pytest

from estimator_trainer import cli
from estimator_trainer.cluster import task_config
from tests.support import jobs

_LISTS = ["tf-config", "--ps_hosts=a:1,b:1", "--worker_hosts=c:1,d:1"]


def test_describe_prints_only_a_tasks_tf_config(capsys):
    assert cli.main([*_LISTS, "--job_name=worker", "--task_index=1"]) == 0
    task = task_config.parse(capsys.readouterr().out)
    assert (task.role, task.index, task.name) == ("worker", 0, "worker:1")
    assert task.cluster == {"chief": ("c:1",), "worker": ("d:1",), "ps": ("a:1", "b:1")}


def test_describe_prints_lines_for_each_tasks_shell(capsys):
    assert cli.main(_LISTS) == 0
    lines = [shlex.split(line, comments=True) for line in capsys.readouterr().out.splitlines()]
    assert [words[0] for words in lines] == ["export"] * 4
    tasks = [task_config.parse(words[1].removeprefix("TF_CONFIG=")) for words in lines]
    assert [task.name for task in tasks] == ["ps:0", "ps:1", "worker:0", "worker:1"]


@pytest.mark.parametrize("flags, expected", [
    (["--worker_hosts=c"], "worker_hosts is 'c' (from --worker_hosts); expected \"host:port\", like"
     " \"host:2222\". For example: --worker_hosts=c:2222"),
    (["--worker_hosts=c:1", "--ps_hosts=a:1,b:70000"], "ps_hosts is 'b:70000' (from --ps_hosts);"
     " expected \"host:port\" with a port from 1 to 65535. For example: --ps_hosts=a:1,b:2222"),
    (["--worker_hosts=::1:2222,d:text"], "of an IPv6 address, like \"[::1]:2222\". For example:"
     " --worker_hosts='[::1]:2222,d:2222'"),
    (["--ps_hosts=a:1"], "worker_hosts is missing"),
    (["--worker_hosts=c:1", "--job_name=wrker"],
     "one of data_worker, ps, worker. Did you mean 'worker'?"),
    (["--worker_hosts=c:1", "--job_name=worker", "--task_index=1"], "expected less than the 1 of"),
    (["--worker_hosts=c:1,c:1"], "expected one of its own"),
    (["ps", "--worker_hosts=c:1"], "tf-config got 'ps'"),
])
def test_host_lists_explain_a_mistake(flags, expected, capsys):
    assert cli.main(["tf-config", *flags]) == 2
    error = capsys.readouterr().err
    assert expected in error and "Traceback" not in error


@pytest.mark.parametrize("flags, expected", [
    (["--job_name=worker", "--task_id=1"], "role              worker:0"),
    (["--job_name=ps", "--task_index=1"], "task              ps:1"),
    ([], "job_name is missing"),
    (["--job_name=worker", "--task_id=2"], "task_id is 2 (from --task_id); expected less than"),
])
def test_host_lists_serve_train_in_place_of_tf_config(flags, expected, capsys, monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    addresses = jobs.free_addresses(4)
    code = cli.main(["check", f"--ps_hosts={','.join(addresses[:2])}", "--model_dir=/tmp/m",
                     f"--worker_hosts={','.join(addresses[2:])}", *flags])
    found = capsys.readouterr()
    assert expected in found.out + found.err and code == (2 if "is " in expected else 0)


@pytest.mark.parametrize("command, tf_config, expected", [
    (["check"], '{"cluster": {"worker": ["a:1"]}}', "TF_CONFIG has a cluster too"),
    (["evaluate"], "", "`evaluate` runs in no cluster"),
    (["launch", "--worker=1", "--"], "", "launch makes the cluster by itself")])
def test_host_lists_are_refused_where_nothing_uses_them(
        command, tf_config, expected, capsys, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", tf_config)
    assert cli.main([*command, "--worker_hosts=a:1,b:1", "--job_name=worker"]) == 2
    assert expected in capsys.readouterr().err


def test_host_lists_may_call_the_only_job_local():
    hosts = '{"cluster": {"local": ["a:1", "b:1"]}, "task": {"type": "local", "index": 1}}'
    task = task_config.parse(hosts)
    assert (task.role, task.index, task.name) == ("worker", 0, "local:1")
    assert task.cluster == {"chief": ("a:1",), "worker": ("b:1",)} and task.is_all_reduce
    assert task_config.parse('{"cluster": {"local": ["a:1"]}}').is_local


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_host_lists_make_a_cluster_of_two_ps(tmp_path, data_dir):
    addresses = jobs.free_addresses(4)
    lists = [f"--ps_hosts={','.join(addresses[:2])}", f"--worker_hosts={','.join(addresses[2:])}"]
    flags = ["--model_fn=cnn", "--input_fn=digits", f"--param=data_dir={data_dir}",
             "--train_steps=100", f"--model_dir={tmp_path}/model"]
    tasks = []
    try:
        for role, index in (("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)):
            tasks.append(jobs.start(tmp_path, f"{role}:{index}", [
                *flags, *lists, f"--job_name={role}", f"--task_index={index}"]))
        jobs.wait(tasks, 120)
    finally:
        for task in tasks:
            jobs.kill(task)
    graph = (tmp_path / "model" / "graph.pbtxt").read_text()
    nodes = re.findall(r'op: "VarHandleOp"\n(?:  input.*\n)*  device: "/job:ps/task:(\d)', graph)
    assert set(nodes) == {"0", "1"}
    assert 100 <= jobs.saved_step(tmp_path / "model") <= 102
