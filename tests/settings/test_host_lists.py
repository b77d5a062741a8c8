"""Lists of hosts tell a cluster, one task a command, without a TF_CONFIG of the user's."""

from __future__ import annotations

import re
import shlex

import pytest

from estimator_trainer import cli
from estimator_trainer.cluster import task_config
from tests.support import jobs

_LISTS = ["tf-config", "--ps_hosts=a:1,b:1", "--worker_hosts=c:1,d:1"]


def test_a_tasks_tf_config_is_all_that_is_printed(capsys):
    assert cli.main([*_LISTS, "--job_name=worker", "--task_index=1"]) == 0
    task = task_config.parse(capsys.readouterr().out)
    assert (task.role, task.index, task.name) == ("worker", 0, "worker:1")
    assert task.cluster == {"chief": ("c:1",), "worker": ("d:1",), "ps": ("a:1", "b:1")}


def test_every_tasks_line_can_be_pasted_into_its_shell(capsys):
    assert cli.main(_LISTS) == 0
    lines = [shlex.split(line, comments=True) for line in capsys.readouterr().out.splitlines()]
    assert [words[0] for words in lines] == ["export"] * 4
    tasks = [task_config.parse(words[1].removeprefix("TF_CONFIG=")) for words in lines]
    assert [task.name for task in tasks] == ["ps:0", "ps:1", "worker:0", "worker:1"]


@pytest.mark.parametrize("flags, expected", [
    (["--worker_hosts=c"], "expected \"host:port\""),
    (["--ps_hosts=a:1"], "worker_hosts is missing"),
    (["--worker_hosts=c:1", "--job_name=wrker"], "Did you mean 'worker'?"),
    (["--worker_hosts=c:1", "--job_name=worker", "--task_index=1"], "expected less than the 1 of"),
    (["--worker_hosts=c:1,c:1"], "expected one of its own"),
    (["ps", "--worker_hosts=c:1"], "tf-config got 'ps'"),
])
def test_a_mistake_in_the_lists_is_explained(flags, expected, capsys):
    assert cli.main(["tf-config", *flags]) == 2
    error = capsys.readouterr().err
    assert expected in error and "Traceback" not in error


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_two_ps_share_the_variables_of_a_cluster_made_of_lists(tmp_path, data_dir):
    addresses = jobs.free_addresses(4)
    lists = [f"--ps_hosts={','.join(addresses[:2])}", f"--worker_hosts={','.join(addresses[2:])}"]
    flags = ["--model_fn=cnn", "--input_fn=digits", f"--param=data_dir={data_dir}",
             "--train_steps=100", f"--model_dir={tmp_path}/model"]
    tasks = []
    try:
        for role, index in (("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)):
            tf_config = jobs.program("tf-config", *lists, f"--job_name={role}",
                                     f"--task_index={index}").stdout
            tasks.append(jobs.start(tmp_path, f"{role}:{index}", flags, tf_config))
        jobs.wait(tasks, 120)
    finally:
        for task in tasks:
            jobs.kill(task)
    graph = (tmp_path / "model" / "graph.pbtxt").read_text()
    nodes = re.findall(r'op: "VarHandleOp"\n(?:  input.*\n)*  device: "/job:ps/task:(\d)', graph)
    assert set(nodes) == {"0", "1"}
    assert 100 <= jobs.saved_step(tmp_path / "model") <= 102
