"""Commands, Python functions and scripts start in one way: the same checks in the same order."""

from __future__ import annotations

import os
import re
import sys

import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer import cli, logs, versions
from estimator_trainer.checks import machine_check, run_plan
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster import task_config
from estimator_trainer.environment import Environment
from estimator_trainer.plugins.source_files import Script
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import line_model

_SCRIPT = line_model.SOURCE + """
import sys

estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params=DEFAULT_PARAMS)
estimator.train(lambda: input_fn("train", DEFAULT_PARAMS), max_steps=5)
"""
_FROZEN = line_model.SOURCE.replace("y = slope", """\
free = tf.compat.v1.get_variable("free", [], initializer=tf.zeros_initializer())
    y = (slope + free)""")


@pytest.fixture
def each_way(tmp_path, capfd, monkeypatch):
    """Returns a function that sends a mistake as a command, a Python call and a script.

    Running a script in this process leaves its own program as it is.
    """
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    script, plugin = tmp_path / "script.py", str(line_model.write(tmp_path))
    script.write_text(_SCRIPT)

    def run(*argv):
        with logs.as_before():
            return cli.main(argv), capfd.readouterr().err

    def send(model_dir, **settings):
        flags = [f"--{name}={value}" for name, value in settings.items()]
        yield run(f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={model_dir}",
                  "--train_steps=5", *flags)
        with pytest.raises(estimator_trainer.TrainerError) as caught:
            estimator_trainer.train(plugin, plugin, model_dir, train_steps=5, **settings)
        yield caught.value.exit_code, str(caught.value)
        yield run("run", *flags, str(script), "--", model_dir)

    return send


_CLUSTER = '{"cluster": {"chief": ["127.0.0.1:1"]}, "task": {"type": "%s", "index": 0}}'


@pytest.mark.parametrize("model_dir, settings, variables, expected", [
    ("new", {"device": "gpu:9"}, {}, "device is 'gpu:9' (from SOURCE), and TensorFlow sees "),
    ("new", {"num_replicas": 0, "train_distribute": "mirrored", "sync_replicas": 2}, {},
     "sync_replicas is 2 (from SOURCE)"),
    ("run[1]", {}, {}, "run[1]' (from SOURCE), and TensorFlow takes [ in a path for part of"),
    ("script.py", {}, {}, "script.py' (from SOURCE), which is a file; expected a directory"),
    ("full", {}, {}, "1 MiB of free disk; expected at least 100 MiB"),
    ("nosuch://bucket/job", {}, {}, "has no file system for nosuch:// here"),
    ("new", {}, {"TF_CONFIG": _CLUSTER % "cheif"}, "Did you mean 'chief'"),
    pytest.param("new", {}, {"TF_USE_LEGACY_KERAS": "0"}, "TF_USE_LEGACY_KERAS",
                 marks=pytest.mark.skipif(versions.installed().mode == "native",
                                          reason="TensorFlow 2.15 has Keras 2 without it")),
])
def test_a_mistake_is_refused_alike_in_each_way(
        model_dir, settings, variables, expected, each_way, tmp_path, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if model_dir == "full":
        monkeypatch.setattr(machine_check, "bytes_at", lambda folder: 1 << 20)
    folder = model_dir if "://" in model_dir else str(tmp_path / model_dir)
    for code, message in each_way(folder, **settings):
        message = re.sub(r"from (--\w+|\w+=|the script's Estimator)\)", "from SOURCE)", message)
        assert code == 2 and expected in message and "Traceback" not in message, message
    assert model_dir == "script.py" or not os.path.exists(folder)


def test_replicas_without_a_strategy_are_refused_in_a_script_too():
    local = task_config.parse(None)
    plan = run_plan.for_script(Script("./a.py", "/a.py", ()), TrainerConfig(), Environment())
    plan = run_plan.for_script_training(
        plan, TrainerConfig(num_replicas=2), local, _ScriptRun(), has_own_strategy=True)
    assert any("neither" in str(each) and "train_distribute" in str(each)
               for each in plan.problems)


class _ScriptRun:
    """A training of a script that only its plan looks at."""

    evaluates, protocol, strategies = False, None, None

    def load(self, plan: Plan) -> None:
        """Loads nothing."""


@pytest.mark.cluster
def test_a_python_call_keeps_frozen_variables_as_the_command_does(tmp_path):
    path = tmp_path / "frozen.py"
    path.write_text(_FROZEN)
    ended = estimator_trainer.train(str(path), str(path), tmp_path / "model", train_steps=20,
                                    freeze="slope", intra_op_threads=2)
    assert ended.status == "done" and "TF_NUM_INTRAOP_THREADS" not in os.environ
    values = {name: tf.train.load_variable(str(tmp_path / "model"), name)
              for name in ("slope", "free")}
    assert values["slope"] == 0 and values["free"] > 0


@pytest.mark.cluster
def test_a_python_call_logs_what_becomes_of_a_scratch_model_dir(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = str(line_model.write(tmp_path))
    estimator_trainer.train(path, path, train_steps=5)
    assert "which the next run without a model_dir removes" in capfd.readouterr().err


def test_a_page_of_several_runs_needs_the_storage_of_each(tmp_path):
    with pytest.raises(estimator_trainer.ConfigError, match="nosuch://b"):
        estimator_trainer.report([tmp_path, "nosuch://b/c"])
    with pytest.raises(estimator_trainer.ConfigError, match="output is 'nosuch://b/page.html'"):
        estimator_trainer.report([tmp_path], "nosuch://b/page.html")


def test_check_lists_tf1_among_the_problems_of_a_python_call():
    assert any("expected no tf1=" in problem
               for problem in estimator_trainer.check(tf1=True)["problems"])
