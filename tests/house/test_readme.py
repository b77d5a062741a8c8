"""The README keeps its promises: flags exist, commands parse, names are real."""

from __future__ import annotations

import dataclasses
import re

import pytest

from estimator_trainer.cluster import topology
from estimator_trainer.plan import plugins
from estimator_trainer.settings import command_line
from estimator_trainer.settings.command_table import PageConfig
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

TEXT = (jobs.REPO / "README.md").read_text()
SETTINGS = {f.name for f in dataclasses.fields(TrainerConfig)}
JOB_SETTINGS = {f.name for config in (JobConfig, HostLists, PageConfig)
                for f in dataclasses.fields(config)}
FLAGS = SETTINGS | JOB_SETTINGS | set("probe job_dir job-dir json help version flagfile".split())
# Options of the other programs in its commands.
OTHERS = {"ntasks", "check", "idx", "logdir", "mnist"}


def test_every_flag_in_the_readme_exists():
    named = set(re.findall(r"--([a-z][\w-]*)", TEXT))
    known = FLAGS | OTHERS | {f"no{name}" for name in FLAGS}
    assert named <= known, named - known


@pytest.mark.parametrize("line", re.findall(r"^(?:\s*|.*&& \S*)estimator-trainer(.*)$", TEXT, re.M))
def test_every_command_in_the_readme_parses(line):
    assert command_line.parse(line.split()).config.model_dir or "--model_dir" not in line


def test_the_first_screen_has_one_command_to_run_and_one_to_test():
    commands = re.findall(r"```\n([^`]*?(?:bin/pip install)[^`]*?)```", TEXT)
    assert len(commands) == 2
    assert "estimator-trainer --model_dir" in commands[0] and commands[1].rstrip().endswith(
        "-m pytest")
    assert TEXT.index(commands[1]) < TEXT.index("## ")


def test_every_command_plugin_strategy_and_file_is_in_the_readme():
    for name in [*command_line.COMMANDS, *topology.STRATEGIES, *plugins.available("model_fn"),
                 *plugins.available("input_fn")]:
        assert f"`{name}`" in TEXT or f"`{name}`," in TEXT, name
    for name in re.findall(r"\b(\w+\.py)\b", TEXT.partition("## Files")[2]):
        assert list((jobs.REPO / "estimator_trainer").rglob(name)), name


def test_the_shown_output_is_what_the_command_prints():
    shown = TEXT.partition("It ends with")[2].partition("```\n")[2].partition("```")[0]
    assert re.search(r"step 1000/1000  loss \S+  epoch 44\.4  ", shown)
    for phase in ("evaluated step 1000", "exported step 1000",
                  "role=local status=done step=1000 reason=train_steps"):
        assert phase in shown


def test_every_test_that_the_readme_names_exists():
    tests = {path.name: path.read_text() for path in (jobs.REPO / "tests").rglob("test_*.py")}
    named = set(re.findall(r"`(test_\w+(?:\.py)?)`", TEXT))
    assert len(named) > 5
    for name in named:
        assert name in tests or any(f"def {name}(" in text for text in tests.values()), name
