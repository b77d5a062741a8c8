"""The Python functions do what the commands do, in a process that goes on afterwards."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time

import absl.logging
import numpy as np
import pytest

import estimator_trainer
from tests.support import jobs, line_model

pytestmark = pytest.mark.cluster


@pytest.fixture
def line(tmp_path, monkeypatch):
    """Returns the module of a model_fn and an input_fn, as a program's own."""
    path = line_model.write(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "line", raising=False)
    import line as module
    assert module.__file__ == str(path)
    return module


def test_train_evaluate_and_export_in_one_process(line, tmp_path):
    model_dir = tmp_path / "model"
    first = estimator_trainer.train(model_fn=line.model_fn, input_fn=line.input_fn,
                                    model_dir=model_dir, params={"learning_rate": 0.01},
                                    train_steps=50, num_evaluations=2)
    assert (first.status, first.step, first.reason) == ("done", 50, "train_steps")
    assert first.metrics["global_step"] == 50 and len(first.exports) == 1
    assert estimator_trainer.evaluate(model_dir)["loss"] == first.metrics["loss"]
    second = estimator_trainer.train(model_dir=model_dir, train_steps=100)
    evaluated = [each for each in second.history if "loss" in each]
    assert [each["global_step"] for each in evaluated] == [25, 50, 100]
    assert second.history[-1]["train_loss"] > 0 and second.model_dir == str(model_dir)
    assert second.metrics["loss"] < first.metrics["loss"]
    assert os.path.isdir(estimator_trainer.export(model_dir, checkpoint="step=50"))


def test_train_leaves_the_process_as_it_was(line, tmp_path):
    import tensorflow as tf
    loggers = [logging.getLogger(name) for name in (None, "absl", "tensorflow")]

    def state():
        return ([(each.handlers[:], each.level, each.propagate) for each in loggers],
                absl.logging.get_verbosity(), signal.getsignal(signal.SIGTERM), random.getstate(),
                str(np.random.get_state()), vars(tf.compat.v1.train.SessionManager)["__init__"])

    as_before, before = state(), dict(os.environ)
    ended = estimator_trainer.train(
        functools.partial(line.model_fn), line.input_fn, tmp_path / "model", train_steps=5, seed=3,
        tf_config={"cluster": {"chief": ["127.0.0.1:1"]}, "task": {"type": "chief", "index": 0}})
    assert ended.task == ended.role == "chief:0" and "TF_CONFIG" not in os.environ
    assert state() == as_before
    changed = {name for name in os.environ if os.environ[name] != before.get(name)}
    assert not [name for name in changed if not name.startswith("TF_")]


@pytest.mark.parametrize("keywords, expected", [
    ({"train_stepz": 5}, r"train_stepz= is no setting|Did you mean 'train_steps'"),
    ({"train_steps": "5"}, r"train_steps is '5' \(from train_steps=\); expected an integer"),
    ({"train_steps": -1}, r"train_steps is -1 \(from train_steps=\)"),
    ({"model_fn": "cnnn"}, r"model_fn is 'cnnn' \(from model_fn=\).*Did you mean 'cnn'"),
    ({"params": {"learnig_rate": 1.0}}, r"param 'learnig_rate' \(from params\['learnig_rate'\]\)"),
    ({"tf_config": "{"}, "tf_config is a text"),
    ({"tf1": True}, "import estimator_trainer.compat.tf1"),
])
def test_train_raises_a_config_error_for_a_mistake(keywords, expected):
    with pytest.raises(estimator_trainer.ConfigError, match=f"(?s){expected}"):
        estimator_trainer.train(**keywords)


def test_train_raises_an_exception_of_the_users_code_as_it_is(line, tmp_path):
    def broken(features, labels, mode):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        estimator_trainer.train(broken, line.input_fn, tmp_path / "model", train_steps=5)


def test_train_requests_in_another_process_what_only_one_can_pass(line, tmp_path):
    model_dir = tmp_path / "model"
    estimator_trainer.train(line.model_fn, line.input_fn, model_dir, train_steps=5)
    ran = subprocess.run([*jobs.PROGRAM, "evaluate", f"--model_dir={model_dir}"], check=False,
                         capture_output=True, text=True, cwd=jobs.REPO)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert "model_fn is 'line:model_fn'" in ran.stderr
    assert "object of a Python program" in ran.stderr


def test_train_saves_a_checkpoint_at_ctrl_c_and_raises(line, tmp_path):
    def interrupt():
        while not (tmp_path / "model" / "checkpoint").exists():
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(estimator_trainer.Interrupted, match="SIGINT"):
        estimator_trainer.train(line.model_fn, line.input_fn, tmp_path / "model",
                                train_steps=10**8)
    assert max(each["step"] for each in
               estimator_trainer.show(tmp_path / "model")["checkpoints"]) > 0


def test_check_lists_the_problems_and_raises_none(line, tmp_path):
    found = estimator_trainer.check(line.model_fn, line.input_fn, tmp_path / "model")
    assert found["problems"] == [] and found["model_fn"].startswith("line:model_fn")
    found = estimator_trainer.check(params={"no": 1}, train_distribute="multi_worker_mirrored",
                                    tf_config={"cluster": {"worker": ["127.0.0.1:1"],
                                                           "ps": ["127.0.0.1:2"]},
                                               "task": {"type": "worker", "index": 0}})
    for problem in ("param 'no' (from params['no']) is unknown", "train_distribute is"):
        assert [text for text in found["problems"] if problem in text]


def test_calls_of_two_threads_train_one_after_the_other(line, tmp_path):
    ended = {}

    def train(name):
        ended[name] = estimator_trainer.train(line.model_fn, line.input_fn, tmp_path / name,
                                              train_steps=20)

    threads = [threading.Thread(target=train, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert {name: each.step for name, each in ended.items()} == {"a": 20, "b": 20}


def test_launch_runs_a_cluster_and_returns_its_result(tmp_path):
    path = line_model.write(tmp_path)
    ended = estimator_trainer.launch(str(path), str(path), tmp_path / "model", worker=1, ps=1,
                                     params={"scale": 2.0}, train_steps=40)
    assert ended.status == "done" and ended.step >= 40 and ended.metrics["loss"] < 1.0
    with pytest.raises(estimator_trainer.ConfigError, match="expected a name, or a file"):
        estimator_trainer.launch(lambda features: None, model_dir=tmp_path / "other")


def test_every_public_function_is_documented_and_typed():
    for name in estimator_trainer.__all__:
        thing = getattr(estimator_trainer, name)
        assert inspect.getdoc(thing), name
        if inspect.isfunction(thing):
            parameters = inspect.signature(thing).parameters.values()
            assert all(p.annotation is not p.empty for p in parameters), name
