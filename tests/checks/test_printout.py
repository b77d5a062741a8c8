"""`check` and `list` print what is known of a run and of the plug-ins."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import cli
from estimator_trainer.plugins import loader
from tests.support import jobs


def test_check_reports_every_problem_at_once(tmp_path):
    ran = jobs.program("check", "--json", "--model_fn=cn", "--input_fn=digit",
                       f"--model_dir={tmp_path}", TF_CONFIG="{'cluster'")
    assert ran.returncode == 2
    assert len(json.loads(ran.stdout)["problems"]) == 3


@pytest.mark.parametrize("model_fn", loader.available("model_fn"))
def test_check_shows_the_params_of_every_model(model_fn, capsys):
    assert cli.main(["check", f"--model_fn={model_fn}", "--input_fn=csv"]) == 0
    shown = capsys.readouterr().out
    assert "hidden_units=" in shown or "learning_rate=" in shown or "keras_model=" in shown
    assert shown.rstrip().endswith("ready")


def test_check_shows_the_normal_form_of_tf_config(tmp_path):
    hosts = {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}
    ran = jobs.program("check", "--json", "--train_distribute=multi_worker_mirrored",
                       f"--model_dir={tmp_path}", TF_CONFIG=json.dumps(
                           {"cluster": hosts, "task": {"type": "worker", "index": 1}}))
    shown = json.loads(ran.stdout)
    assert ran.returncode == 0, ran.stdout
    assert shown["task"] == "worker:1" and shown["role"] == "worker:0"
    assert shown["cluster"] == {"chief": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222"]}
    assert shown["shard"] == "2/2"


def test_vertex_ai_model_dir_and_trial_are_honoured():
    tf_config = json.dumps({"cluster": {"chief": ["10.0.0.1:2222"]},
                            "task": {"type": "chief", "index": 0, "trial": "7"}})
    ran = jobs.program("check", "--json", TF_CONFIG=tf_config, AIP_MODEL_DIR="gs://bucket/model")
    assert json.loads(ran.stdout)["model_dir"] == "gs://bucket/model/7"


@pytest.mark.cluster
def test_list_shows_every_param_with_its_default():
    listed = {(p["kind"], p["name"]): p for p in json.loads(jobs.program("list", "--json").stdout)}
    assert listed["model_fn", "cnn"]["params"]["learning_rate"] == 0.1
    assert listed["input_fn", "digits"]["params"]["batch_size"] == 64
    assert all(p["doc"] for p in listed.values())
    silent = {(name, key) for (_, name), p in listed.items() for key in p["params"]
              if not p["texts"].get(key)}
    assert not silent
    shown = jobs.program("list").stdout
    assert "    depth=50                        number of layers with weights\n" in shown
    assert shown.count("    warmup_steps=0 ") == 1  # What many share is listed once.
