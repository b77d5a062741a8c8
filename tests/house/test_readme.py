"""The README keeps its promises: flags exist, commands parse, names are real."""

from __future__ import annotations

import dataclasses
import re

from estimator_trainer.settings.command_table import PageConfig, ServeConfig
from estimator_trainer.settings.host_lists import HostLists
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

TEXT = (jobs.REPO / "README.md").read_text()
SETTINGS = {f.name for f in dataclasses.fields(TrainerConfig)}
JOB_SETTINGS = {f.name for config in (JobConfig, HostLists, PageConfig, ServeConfig)
                for f in dataclasses.fields(config)}
FLAGS = SETTINGS | JOB_SETTINGS | set("probe job_dir job-dir json help version flagfile".split())
# Options of the other programs in its commands.
OTHERS = {"helpfull", "logdir", "your_flag"}


def test_every_flag_in_the_readme_exists():
    named = set(re.findall(r"--([a-z][\w-]*)", TEXT))
    known = FLAGS | OTHERS | {f"no{name}" for name in FLAGS}
    assert named <= known, named - known


def test_the_first_screen_has_one_command_to_run_and_one_to_test():
    commands = re.findall(r"```sh title=\"Needs a network\"\n(.*?)```", TEXT, re.S)
    assert len(commands) == 2
    assert "estimator-trainer --model_dir" in commands[0] and commands[1].rstrip().endswith(
        "-m pytest")
    assert TEXT.index(commands[1]) < TEXT.index("## ")


def test_the_readme_is_read_in_two_minutes():
    assert len(TEXT.splitlines()) <= 150
    prose = re.sub(r"```.*?```", "", TEXT, flags=re.S)
    assert len(prose.split()) <= 1000


def test_every_page_of_the_manual_is_linked():
    for page in (jobs.REPO / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in TEXT, page.name


def test_the_shown_output_is_what_the_command_prints():
    shown = TEXT.partition("It ends with")[2].partition("```text\n")[2].partition("```")[0]
    assert re.search(r"step 1000/1000  loss \S+  epoch 44\.4  ", shown)
    for phase in ("evaluated step 1000", "exported step 1000",
                  "role=local status=done step=1000 reason=train_steps"):
        assert phase in shown
