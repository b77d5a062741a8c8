"""`check` prints what is known of a run, and no secret."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import cli
from estimator_trainer.checks import printout, run_plan
from estimator_trainer.checks.plan import Findings
from estimator_trainer.environment import Environment
from estimator_trainer.plugins import loader
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

_SECRET = "AKIA-fake-secret-9f3b"


def test_describe_shows_every_problem_at_once(tmp_path):
    ran = jobs.program("check", "--json", "--model_fn=cn", "--input_fn=digit",
                       f"--model_dir={tmp_path}", TF_CONFIG="{'cluster'")
    assert ran.returncode == 2
    assert len(json.loads(ran.stdout)["problems"]) == 3


@pytest.mark.parametrize("model_fn", loader.available("model_fn"))
def test_describe_shows_the_params_of_every_model(model_fn, capsys):
    assert cli.main(["check", f"--model_fn={model_fn}", "--input_fn=digits"]) == 0
    shown = capsys.readouterr().out
    assert "hidden_units=" in shown or "learning_rate=" in shown or "keras_model=" in shown
    assert shown.rstrip().endswith("ready")


def test_describe_shows_the_normal_form_of_tf_config(tmp_path):
    hosts = {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}
    ran = jobs.program("check", "--json", "--train_distribute=multi_worker_mirrored",
                       f"--model_dir={tmp_path}", TF_CONFIG=json.dumps(
                           {"cluster": hosts, "task": {"type": "worker", "index": 1}}))
    shown = json.loads(ran.stdout)
    assert ran.returncode == 0, ran.stdout
    assert shown["task"] == "worker:1" and shown["role"] == "worker:0"
    assert shown["cluster"] == {"chief": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222"]}
    assert shown["shard"] == "2/2"


def test_describe_shows_vertex_ais_model_dir_and_trial():
    tf_config = json.dumps({"cluster": {"chief": ["10.0.0.1:2222"]},
                            "task": {"type": "chief", "index": 0, "trial": "7"}})
    ran = jobs.program("check", "--json", TF_CONFIG=tf_config, AIP_MODEL_DIR="gs://bucket/model")
    assert json.loads(ran.stdout)["model_dir"] == "gs://bucket/model/7"


def _tf_config(hosts, role="worker", index=0, **extra):
    return json.dumps({"cluster": hosts, "task": {"type": role, "index": index}, **extra})


def _check(capsys, *args):
    """Returns the exit code and the JSON of `check --json`, in this process."""
    code = cli.main(["check", "--json", *args])
    return code, json.loads(capsys.readouterr().out)


def test_describe_prints_for_people_and_for_machines():
    plan = run_plan.for_training(TrainerConfig(), Environment())
    found = Findings(["a problem"], ["a warning"], {"a fact": ["x", "y"], "a longer name": 3})
    lines = printout.describe(plan, found, as_json=False).splitlines()
    assert lines[-3:] == ["WARNING  a warning", "PROBLEM  a problem", "1 problem, 1 warning"]
    assert "a fact            x; y" in lines
    shown = json.loads(printout.describe(plan, found, as_json=True))
    assert shown["problems"] == ["a problem"] and shown["warnings"] == ["a warning"]
    assert shown["facts"]["a longer name"] == 3


def test_describe_shows_a_param_that_is_a_list_of_numbers(capsys, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("DEFAULT_PARAMS = {'sizes': [1, 2]}\ndef model_fn(features): pass\n")
    assert cli.main(["check", f"--model_fn={path}"]) == 0
    assert "sizes='1,2'" in capsys.readouterr().out


def test_describe_fails_for_problems_and_not_for_warnings(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TF_CONFIG", _tf_config(
        {"chief": ["a.invalid:1"], "worker": ["b.invalid:1"], "ps": ["c.invalid:1"]}))
    code, shown = _check(capsys, f"--model_dir={tmp_path}")
    assert code == 0 and len(shown["warnings"]) == 3
    path = tmp_path / "own.py"
    path.write_text("import not_there\ndef model_fn(features): pass\n")
    code, shown = _check(capsys, f"--model_dir={tmp_path}", f"--model_fn={path}", "--probe")
    assert code == 2 and len(shown["problems"]) == 1
    assert "--probe did not try" in shown["warnings"][-1]


@pytest.mark.soak
@pytest.mark.cluster
def test_describe_shows_no_secret_of_the_environment(tmp_path, data_dir):
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
