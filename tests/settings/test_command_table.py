"""Help, of the program or of a command, is asked for by a flag or a word, and by no value."""

from __future__ import annotations

import dataclasses
import re

import pytest

from estimator_trainer import cli, commands, errors
from estimator_trainer.settings import command_line, help_page
from estimator_trainer.settings.command_table import (AverageConfig, COMMANDS, CompletionConfig,
                                                      OutputConfig, PageConfig, ProjectConfig,
                                                      ServeConfig)
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import RankConfig, TrainerConfig

_LAUNCH_ONLY, _MANIFEST_ONLY = {"log_dir", "share_import", "host"}, {"platform", "image", "region"}


def _names(*configs):
    return {field.name for config in configs for field in dataclasses.fields(config)}


def _listed(text):
    """Returns the flags that a page explains, each on a line of its own."""
    return {line.strip()[2:] for line in text.splitlines() if line.startswith("  --")
            and " " not in line.strip()}


def test_help_of_the_program_fits_on_a_screen():
    lines = help_page.of_program().splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")][:-1]
    assert sorted(listed) == sorted(COMMANDS) and len(lines) <= 32
    assert max(map(len, lines)) <= 80


def test_help_of_the_commands_names_every_flag():
    found = set().union(*(_listed(help_page.of_command(name, True)) for name in COMMANDS))
    assert found == _names(TrainerConfig, OutputConfig, JobConfig, HostLists, PageConfig,
                           CompletionConfig, ProjectConfig, AverageConfig, ServeConfig)


@pytest.mark.parametrize("command, first", [
    ("train", ["model_fn", "input_fn", "param", "model_dir"]),
    ("predict", ["model_dir", "data", "output"]), ("launch", ["chief", "worker", "ps"])])
def test_help_of_a_command_begins_with_the_flags_that_are_used_most(command, first):
    flags = re.findall(r"^  --(\w+)$", help_page.of_command(command), re.MULTILINE)
    assert flags[:len(first)] == first and len(flags) == len(set(flags))


@pytest.mark.parametrize("command", ["train", "check", "run"])
def test_help_of_a_command_with_many_flags_is_short_and_names_them_all(command, capsys):
    assert cli.main([command, "--help"]) == 0
    short = capsys.readouterr().out
    assert cli.main([command, "--helpfull"]) == 0
    full = capsys.readouterr().out
    assert set(re.findall(r"--(\w+)", short)) >= _listed(full)
    assert len(short.splitlines()) < 90 and "--helpfull" in short and "--helpfull" not in full


@pytest.mark.parametrize("command", ["evaluate", "predict", "export"])
def test_a_command_takes_flags_of_training_that_its_help_leaves_out(command):
    listed = _listed(help_page.of_command(command, True))
    assert "train_steps" not in listed and len(listed) < 35
    assert command_line.parse([command, "--train_steps=5", "--worker_events"]).config.worker_events


@pytest.mark.parametrize("command, takes, takes_not", [
    ("train", _names(TrainerConfig, HostLists), _names(JobConfig, OutputConfig)),
    ("predict", {"data", "output", "export_dir", "with_inputs", "checkpoint", "params_file"},
     {"train_steps", "save_checkpoints_steps", *_names(JobConfig, HostLists, RankConfig)}),
    ("export", {"checkpoint", "serving_input", "device"}, {"data", "eval_steps", "train_steps"}),
    ("evaluate", {"watch", "checkpoint", "eval_throttle_secs", "max_secs"}, {"json", "probe"}),
    ("check", _names(TrainerConfig, OutputConfig, HostLists) - {"watch"}, _names(JobConfig)),
    ("launch", {"worker", *_LAUNCH_ONLY}, {"model_fn", *_MANIFEST_ONLY}),
    ("manifest", {"worker", *_MANIFEST_ONLY}, {"model_fn", *_LAUNCH_ONLY}),
    ("tf-config", _names(HostLists), {"model_fn", "worker"}),
    ("list", {"json"}, {"probe", "platform"})])
def test_text_of_a_command_lists_its_flags(command, takes, takes_not):
    text = help_page.of_command(command, is_full=True)
    assert f"usage: estimator-trainer {command} [--flag=value ...]" in text
    assert takes <= _listed(text) and not takes_not & _listed(text)
    assert ("-- FLAGS" in text) == (command in ("launch", "manifest"))


@pytest.mark.parametrize("argv, topic", [
    (["--help"], ""), (["-h"], ""), (["--helpfull"], ""), (["help"], ""),
    (["manifest", "--help"], "manifest"), (["help", "manifest"], "manifest"),
    (["manifest", "help"], "manifest"), (["tf-config", "--ps_hosts", "a:1", "-h"], "tf-config"),
    (["--train_steps", "5", "--help"], ""), (["--verbose", "evaluate", "-h"], "evaluate"),
    (["launch", "--workers=2", "--help"], "launch"),
    (["predict", "--output", "help"], None), (["--model_dir", "-h"], None),
    (["--flagfile", "help"], None), (["manifest", "--name", "--help"], None),
    (["launch", "--", "--help"], None), (["train"], None), ([], None)])
def test_help_topic_is_a_flag_or_a_word_but_no_value(argv, topic):
    assert cli.help_topic(argv) == topic


@pytest.mark.parametrize("argv, expected", [
    (["--version"], True), (["train", "--version"], True), (["launch", "--version", "--"], True),
    (["--model_dir", "--version"], False), (["launch", "--", "--version"], False), ([], False)])
def test_version_is_a_flag(argv, expected):
    assert cli.wants_version(argv) is expected


def test_help_topic_of_an_unknown_command_names_the_near_one():
    with pytest.raises(errors.ConfigError, match="Did you mean 'train'"):
        cli.help_topic(["help", "trian"])


def test_commands_have_a_function_each():
    for command in COMMANDS.values():
        assert callable(getattr(commands, command.run))
