"""Help, of the program or of a command, is asked for by a flag or a word, and by no value."""

from __future__ import annotations

import dataclasses

import pytest

from estimator_trainer import cli, commands, errors
from estimator_trainer.settings import command_table
from estimator_trainer.settings.command_table import COMMANDS, OutputConfig
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


def test_text_names_every_command_and_flag():
    text = command_table.help_page()
    assert all(f"  {command} " in text for command in COMMANDS)
    assert _listed(text) == _names(TrainerConfig, OutputConfig, JobConfig, HostLists)


@pytest.mark.parametrize("command, takes, takes_not", [
    ("train", _names(TrainerConfig, HostLists), _names(JobConfig, OutputConfig)),
    ("predict", _names(TrainerConfig) - _names(RankConfig),
     _names(JobConfig, HostLists, RankConfig)),
    ("check", _names(TrainerConfig, OutputConfig, HostLists), _names(JobConfig)),
    ("launch", {"worker", *_LAUNCH_ONLY}, {"model_fn", *_MANIFEST_ONLY}),
    ("manifest", {"worker", *_MANIFEST_ONLY}, {"model_fn", *_LAUNCH_ONLY}),
    ("tf-config", _names(HostLists), {"model_fn", "worker"}),
    ("list", {"json"}, {"probe", "platform"})])
def test_text_of_a_command_lists_its_flags(command, takes, takes_not):
    text = command_table.help_page(command)
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
