"""`check --probe` builds the graphs, and looks at the model_dir with all tasks."""

from __future__ import annotations

import json
import time

import pytest

from tests.support import jobs


def _tf_config(hosts, role="worker", index=0, **extra):
    return json.dumps({"cluster": hosts, "task": {"type": role, "index": index}, **extra})


@pytest.mark.cluster
def test_probe_shows_the_data_and_the_tasks_that_share_model_dir(tmp_path, data_dir):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    flags = ("check", "--probe", "--json", f"--param=data_dir={data_dir}",
             f"--model_dir={tmp_path}/model")

    def run(role):
        ran = jobs.trainer(*flags, TF_CONFIG=_tf_config(hosts, role))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return json.loads(ran.stdout)

    alone = run("worker")
    assert alone["facts"]["features"] == ["image float32(None, 8, 8, 1)"]
    assert alone["facts"]["labels"] == "int64(None,)" and alone["facts"]["gpus of TensorFlow"]
    assert any("shows no sign of chief:0" in warning for warning in alone["warnings"])
    run("chief")
    both = run("worker")
    assert not any("no sign" in warning for warning in both["warnings"])
    assert len(both["facts"]["model_dir written by"]) == 2


@pytest.mark.cluster
def test_probe_reports_what_only_tensorflow_finds(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("def input_fn(mode): raise KeyError('no such column')\n")
    (tmp_path / "file").write_text("")
    ran = jobs.trainer("check", "--probe", "--json", f"--input_fn={path}",
                       f"--model_dir={tmp_path}/file/job")
    problems = json.loads(ran.stdout)["problems"]
    assert ran.returncode == 2 and len(problems) == 2, ran.stdout + ran.stderr
    assert "cannot be written" in problems[0] and "no such column" in problems[1]


@pytest.mark.cluster
def test_probe_of_a_table_shows_what_each_column_is_to_the_model(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,day,size,label\n" + "".join(
        f"r{i},2024-01-{i % 28 + 1:02},{i % 7},{i * i % 3}\n" for i in range(200)))
    ran = jobs.trainer("check", "--probe", "--model_fn=canned", "--input_fn=csv",
                       f"--param=train_files={path}")
    lines = [line.split() for line in ran.stdout.splitlines()]
    kinds = {line[0]: line[1] for line in lines if "values" in line}
    assert ran.returncode == 0 and ran.stdout.rstrip().endswith("ready"), ran.stdout + ran.stderr
    assert kinds == {"id": "left", "day": "date", "size": "number"}
    assert not ran.stderr  # The log does not repeat the facts.


@pytest.mark.cluster
def test_probe_of_a_worker_finds_a_model_dir_that_is_not_shared(tmp_path):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    slow = jobs.REPO / "tests" / "support" / "slow.py"
    tasks = []
    try:
        for role in hosts:
            folder = tmp_path / ("own" if role == "worker" else "shared")
            tasks.append(jobs.start(tmp_path, f"{role}:0", [
                f"--model_fn={slow}", f"--input_fn={slow}", f"--model_dir={folder}",
                "--peer_timeout_secs=6"], _tf_config(hosts, role)))
        warning = "seems not to be shared with chief:0, which answers at " + hosts["chief"][0]
        jobs.wait_for(lambda: warning in tasks[1].log, 60)
        time.sleep(2)
        assert tasks[1].log.count(warning) == 1
        assert "not to be shared" not in tasks[0].log + tasks[2].log
    finally:
        for task in tasks:
            jobs.kill(task)
