"""A mistake has one sentence, in the words of whoever asked: flags or keyword arguments."""

from __future__ import annotations

import threading

import pytest

import estimator_trainer
from estimator_trainer import cli, errors
from estimator_trainer.errors import MISSING, Param, Problem, Setting, UNKNOWN, Words

pytestmark = pytest.mark.any_tensorflow

# The arguments of a Python call, the same as flags, and a part of the sentence for each.
MISTAKES = {
    "an unknown setting": (
        {"train_stepz": 5}, ["--train_stepz=5"],
        "keyword 'train_stepz' (from estimator_trainer.check) is unknown",
        "flag --train_stepz (from the command line) is unknown"),
    "a setting of another type": (
        {"train_steps": "many"}, ["--train_steps=many"],
        "train_steps is 'many' (from train_steps=); expected an integer. For example:"
        " train_steps=1000",
        "train_steps is 'many' (from --train_steps); expected an integer. For example:"
        " --train_steps=1000"),
    "a value out of its range": (
        {"train_steps": -1}, ["--train_steps=-1"],
        "train_steps is -1 (from train_steps=)", "train_steps is -1 (from --train_steps)"),
    "a value that is not a choice": (
        {"best_mode": "mni"}, ["--best_mode=mni"],
        "Did you mean 'min'? For example: best_mode='min'",
        "Did you mean 'min'? For example: --best_mode=min"),
    "a list": (
        {"exporters": ["fnal"]}, ["--exporters=fnal"],
        "For example: exporters=['final', 'best']", "For example: --exporters=final,best"),
    "two settings that contradict each other": (
        {"device": "gpu:1", "train_distribute": "mirrored"},
        ["--device=gpu:1", "--train_distribute=mirrored"],
        "device is 'gpu:1' (from device=), and train_distribute is 'mirrored' (from"
        " train_distribute=), which",
        "device is 'gpu:1' (from --device), and train_distribute is 'mirrored' (from"
        " --train_distribute), which"),
    "an unknown plug-in": (
        {"model_fn": "cn"}, ["--model_fn=cn"],
        "model_fn is 'cn' (from model_fn=)", "model_fn is 'cn' (from --model_fn)"),
    "an unknown param": (
        {"params": {"learnig_rate": 1.0}}, ["--param=learnig_rate=1.0"],
        "param 'learnig_rate' (from params['learnig_rate']) is unknown",
        "param 'learnig_rate' (from --param learnig_rate) is unknown"),
    "a param of another type": (
        {"params": {"learning_rate": "fast"}}, ["--param=learning_rate=fast"],
        "expected a number. For example: params={'learning_rate': 0.1}",
        "expected a number. For example: --param learning_rate=0.1"),
    "a batch that replicas cannot share": (
        {"train_distribute": "mirrored", "num_replicas": 2, "params": {"batch_size": 3}},
        ["--train_distribute=mirrored", "--num_replicas=2", "--param=batch_size=3"],
        "For example: params={'batch_size': 4}", "For example: --param batch_size=4"),
    "replicas without a strategy": (
        {"num_replicas": 2}, ["--num_replicas=2"],
        "neither train_distribute= nor eval_distribute=",
        "neither --train_distribute nor --eval_distribute"),
    "a model_dir that is a pattern": (
        {"model_dir": "run[1]"}, ["--model_dir=run[1]"],
        "For example: model_dir='run-1'", "For example: --model_dir=run-1"),
    "a file system that is not there": (
        {"model_dir": "gcs://bucket/x"}, ["--model_dir=gcs://bucket/x"],
        "For example: model_dir='gs://bucket/x'", "For example: --model_dir=gs://bucket/x"),
}


def _as_python(**arguments):
    try:
        return "\n".join(estimator_trainer.check(**arguments)["problems"])
    except estimator_trainer.ConfigError as error:
        return str(error)


def _as_command_line(capsys, *flags):
    cli.main(["check", *flags])
    shown = capsys.readouterr()
    return shown.out + shown.err


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_problem_has_the_words_of_its_caller(mistake, capsys):
    arguments, flags, python, command_line = MISTAKES[mistake]
    sentence = _as_python(**arguments)
    assert python in sentence
    assert "--" not in sentence.replace("`estimator-trainer train --help`", "")
    assert command_line in _as_command_line(capsys, *flags)


def test_a_problem_of_tf_config_has_the_words_of_its_caller(monkeypatch, capsys):
    text = '{"cluster": {"wroker": ["a:1"]}}'
    sentence = _as_python(tf_config=text)
    assert 'role is \'wroker\' (from TF_CONFIG["cluster"])' in sentence
    assert "For example: tf_config={'cluster'" in sentence
    monkeypatch.setenv("TF_CONFIG", text)
    assert "For example: TF_CONFIG='{" in _as_command_line(capsys)


def test_a_missing_model_dir_has_the_words_of_its_caller(capsys):
    with pytest.raises(estimator_trainer.ConfigError) as raised:
        estimator_trainer.evaluate("")
    assert str(raised.value) == (
        "model_dir is missing (no model_dir=); expected the directory of a trained model. For"
        " example: model_dir='/tmp/digits'")
    assert raised.value.problems[0].field == "model_dir"
    assert raised.value.problems[0].value is MISSING
    assert cli.main(["evaluate"]) == 2
    assert "(no --model_dir)" in capsys.readouterr().err


def test_in_python_ends_with_the_call_and_stays_in_its_thread():
    words = []
    with errors.in_python():
        thread = threading.Thread(target=lambda: words.append(str(Setting("seed", 1))))
        thread.start()
        thread.join()
        words.append(str(Setting("seed", 1)))
    assert [*words, str(Setting("seed", 1))] == ["--seed=1", "seed=1", "--seed=1"]


@pytest.mark.parametrize("problem, sentence", [
    (Problem("a", 1), "a is 1 (from --a)."),
    (Problem("a", "x", "which is odd", "a number", Setting("a", 2)),
     "a is 'x' (from --a), which is odd; expected a number. For example: --a=2"),
    (Problem("a", expected="one"), "a is missing (no --a); expected one."),
    (Problem("flag --a", UNKNOWN, source="FILE", advice=" Did you mean 'b'?"),
     "flag --a (from FILE) is unknown. Did you mean 'b'?"),
    (Problem("a", Words("2 characters"), source=Param("a"), example=(
        Setting("b", ("x", "y")), Setting("c", False), Param("a", [1]))),
     "a is 2 characters (from --param a). For example: --b=x,y --noc --param a='[1]'"),
    (Problem("a", 1, beside=Setting("b", 2, "DIR/record.json")),
     "a is 1 (from --a), and b is 2 (from DIR/record.json)."),
    (Problem("api_key", "abc"), "api_key is '****' (from --api_key)."),
])
def test_a_problem_is_one_sentence(problem, sentence):
    assert str(problem) == sentence


@pytest.mark.parametrize("got, allowed, expected", [
    ("cn", ("cnn", "linear"), " Did you mean 'cnn'?"),
    ("digit", ("csv", "digits"), " Did you mean 'digits'?"),
    ("mirror", ("mirrored", "one_device"), " Did you mean 'mirrored'?"),
    ("finale", iter(("best", "final")), " Did you mean 'final'?"),
    ("acuracy", {"accuracy": 1, "loss": 2}, " Did you mean 'accuracy'?"),
    ("x", ("cnn", "linear"), ""), ("", ("cnn",), ""), ("cn", (), "")])
def test_near_match(got, allowed, expected):
    assert errors.near_match(got, allowed) == expected
