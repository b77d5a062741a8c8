"""`check` tells what it finds, with --probe too, and never shows a secret."""

from __future__ import annotations

import json
import time

import pytest

from estimator_trainer import cli
from estimator_trainer.checks import printout, run_plan
from estimator_trainer.checks.plan import Findings
from estimator_trainer.environment import Environment
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

_SECRET = "AKIA-fake-secret-9f3b"


def _tf_config(hosts, role="worker", index=0, **extra):
    return json.dumps({"cluster": hosts, "task": {"type": role, "index": index}, **extra})


def _check(capsys, *args):
    """Returns the exit code and the JSON of `check --json`, in this process."""
    code = cli.main(["check", "--json", *args])
    return code, json.loads(capsys.readouterr().out)


def test_what_was_found_is_printed_for_people_and_for_machines():
    plan = run_plan.for_training(TrainerConfig(), Environment())
    found = Findings(["a problem"], ["a warning"], {"a fact": ["x", "y"], "a longer name": 3})
    lines = printout.describe(plan, found, as_json=False).splitlines()
    assert lines[-3:] == ["WARNING  a warning", "PROBLEM  a problem", "1 problem, 1 warning"]
    assert "a fact            x; y" in lines
    shown = json.loads(printout.describe(plan, found, as_json=True))
    assert shown["problems"] == ["a problem"] and shown["warnings"] == ["a warning"]
    assert shown["facts"]["a longer name"] == 3


def test_a_param_that_is_a_list_of_numbers_is_shown(capsys, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("DEFAULT_PARAMS = {'sizes': [1, 2]}\ndef model_fn(features): pass\n")
    assert cli.main(["check", f"--model_fn={path}"]) == 0
    assert "sizes='1,2'" in capsys.readouterr().out


def test_warnings_do_not_change_the_exit_code_and_problems_do(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TF_CONFIG", _tf_config(
        {"chief": ["a.invalid:1"], "worker": ["b.invalid:1"], "ps": ["c.invalid:1"]}))
    code, shown = _check(capsys, f"--model_dir={tmp_path}")
    assert code == 0 and len(shown["warnings"]) == 3
    path = tmp_path / "own.py"
    path.write_text("import not_there\ndef model_fn(features): pass\n")
    code, shown = _check(capsys, f"--model_dir={tmp_path}", f"--model_fn={path}", "--probe")
    assert code == 2 and len(shown["problems"]) == 1
    assert "--probe did not try" in shown["warnings"][-1]


@pytest.mark.cluster
def test_probe_tells_the_data_and_who_shares_model_dir(tmp_path, data_dir):
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
def test_a_worker_says_that_model_dir_is_not_shared_with_its_chief(tmp_path):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    slow = jobs.REPO / "tests" / "support" / "slow.py"
    tasks = []
    try:
        for role in hosts:
            folder = tmp_path / ("own" if role == "worker" else "shared")
            tasks.append(jobs.start(tmp_path, f"{role}:0", [
                f"--model_fn={slow}", f"--input_fn={slow}", f"--model_dir={folder}",
                "--peer_timeout_secs=6"], _tf_config(hosts, role)))
        said = "seems not to be shared with chief:0, which answers at " + hosts["chief"][0]
        jobs.wait_for(lambda: said in tasks[1].log, 60)
        time.sleep(2)
        assert tasks[1].log.count(said) == 1
        assert "not to be shared" not in tasks[0].log + tasks[2].log
    finally:
        for task in tasks:
            jobs.kill(task)


@pytest.mark.soak
@pytest.mark.cluster
def test_no_secret_of_the_environment_or_of_job_is_shown_or_written(tmp_path, data_dir):
    job = {"job_args": [f"--token={_SECRET}"]}
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    broken = {**hosts, "wroker": ["a:1"]}
    texts = [_tf_config({}, "chief", job=job, secret=_SECRET), _tf_config(hosts, job=job),
             _tf_config(broken, job=json.dumps(job)), _tf_config({}, job=job)[:-1],
             _tf_config({"chief": ["a:1"]}, "chief", job=job).replace('"', "'"),
             json.dumps(_tf_config(hosts, job=job)), _tf_config({}, job=json.dumps(job))[:-1]]
    commands = [[], ["check", "--json"], ["check", "--probe"]]
    for text, command in [(texts[0], commands[0]), (texts[1], commands[2]),
                          *((text, commands[1]) for text in texts)]:
        ran = jobs.trainer(*command, f"--model_dir={tmp_path}/model", "--train_steps=20",
                           f"--param=data_dir={data_dir}", TF_CONFIG=text,
                           AWS_SECRET_ACCESS_KEY=_SECRET)
        assert _SECRET not in ran.stdout + ran.stderr, ran.stdout + ran.stderr
    written = [path for path in (tmp_path / "model").rglob("*") if path.is_file()]
    assert "result.json" in [path.name for path in written]
    assert not [path for path in written if _SECRET.encode() in path.read_bytes()]
