"""The record and the page show a command as it was typed, without its secrets."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import cli, environment
from estimator_trainer.python import call_words
from estimator_trainer.python.training_data import Data
from estimator_trainer.record import run_record
from estimator_trainer.settings import command_line


@pytest.mark.parametrize("argv", [
    ["launch", "--worker=2", "--ps=1", "--", "--model_dir=/tmp/m", "--train_steps=5"],
    ["launch", "--worker=1", "--", "run", "train.py", "--", "--lr", "0.1"],
    ["run", "train.py"], ["run", "train.py", "--", "--lr=0.1"], ["--model_dir=/tmp/m"]])
def test_words_are_those_that_were_typed(argv):
    assert command_line.parse(argv).words == tuple(argv)


@pytest.mark.parametrize("words, line", [
    (["estimator-trainer", "launch", "--worker=2", "--", "--param=data_dir=/a b"],
     "estimator-trainer launch --worker=2 -- '--param=data_dir=/a b'"),
    (["estimator-trainer", "train", "--train_steps=5", "--model_dir=/m", "--model_dir=/m"],
     "estimator-trainer train --train_steps=5 --model_dir=/m"),
    (["estimator-trainer", "run", "a.py", "--", "--a=1", "--a=1"],
     "estimator-trainer run a.py -- --a=1 --a=1"),
    (["estimator_trainer.train", "model_fn='cnn'", "train_steps=5"],
     "estimator_trainer.train(model_fn='cnn', train_steps=5)"), ([], "")])
def test_command_line_is_what_can_be_typed_again(words, line):
    assert run_record.command_line(words) == line


def test_of_a_call_has_its_arguments_without_secrets():
    words = call_words.of("train", {"model_fn": "cnn", "train_steps": 5},
                          {"learning_rate": 0.1, "api_key": "SECRET"},
                          Data([{"a": 1}], "a", "https://user:SECRET@host/b.csv"))
    assert run_record.command_line(words) == (
        "estimator_trainer.train(model_fn='cnn', train_steps=5, data=<list>,"
        " eval_data='https://****@host/b.csv', label='a',"
        " params={'learning_rate': 0.1, 'api_key': '****'})")


def test_take_command_leaves_none_for_a_process_of_the_task(monkeypatch):
    for name, value in environment.with_command({}, ["estimator-trainer", "launch"]).items():
        monkeypatch.setenv(name, value)
    assert environment.take_command() == ("estimator-trainer", "launch")
    assert environment.take_command() == ()
    for text in ("{", "3"):
        monkeypatch.setenv("ESTIMATOR_TRAINER_COMMAND", text)
        assert environment.take_command() == ()


@pytest.mark.cluster
def test_launch_is_recorded_as_it_was_typed(tmp_path):
    argv = ["launch", "--worker=0", "--", f"--model_dir={tmp_path}/m", "--train_steps=2",
            "--model_fn=linear", "--param=access_token=SECRET", "--noreport", "--exporters=none"]
    assert cli.main(argv) == 2  # The plug-in has no such param.
    argv.remove("--param=access_token=SECRET")
    assert cli.main(argv) == 0
    [run] = json.loads((tmp_path / "m/record.json").read_text())["runs"]
    assert run["command"] == ["estimator-trainer", *argv]
