"""The folder of a run without --model_dir, and the commands that show a model_dir."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import pytest

from estimator_trainer.checks import machine_check, model_dir_name, run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.settings import command_line
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

_MAKE = ("from estimator_trainer.checks import model_dir_name\n"
         "print(model_dir_name.make_scratch(), flush=True)")


@pytest.fixture
def parent(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _made_elsewhere(parent, then=""):
    return subprocess.Popen([sys.executable, "-c", _MAKE + then], stdout=subprocess.PIPE,
                            stdin=subprocess.PIPE, text=True, cwd=jobs.REPO,
                            env={**os.environ, "TMPDIR": str(parent)})


@pytest.mark.any_tensorflow
def test_make_keeps_the_last_scratch_folder_alone(parent):
    (parent / "estimator_trainer-of-somebody").mkdir()
    (parent / "estimator_trainer-link").symlink_to(parent / "estimator_trainer-of-somebody")
    with _made_elsewhere(parent) as ended, _made_elsewhere(parent, "\ninput()") as running:
        first, second = (pathlib.Path(each.stdout.readline().strip())
                         for each in (ended, running))
        ended.wait()
        third = pathlib.Path(model_dir_name.make_scratch())
        assert not first.exists() and second.exists() and third.exists()
        assert (parent / "estimator_trainer-of-somebody").exists()
        running.communicate("\n")
    assert model_dir_name.is_scratch(str(third)) and not model_dir_name.is_scratch(str(parent))
    assert "to keep a model, name its directory" in model_dir_name.scratch_notice(str(third))


@pytest.mark.any_tensorflow
def test_problem_of_a_disk_without_room_for_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_check, "bytes_at", lambda folder: 50 << 20)
    config = TrainerConfig(model_dir=str(tmp_path / "job"))
    plan = run_plan.for_training(config, Environment())
    [problem] = map(str, plan.problems)
    assert "50 MiB of free disk" in problem and "at least 100 MiB" in problem
    assert not machine_check.examine(plan, Environment()).warnings
    monkeypatch.setattr(machine_check, "bytes_at", lambda folder: 500 << 20)
    plan = run_plan.for_training(config, Environment())
    assert not plan.problems and machine_check.examine(plan, Environment()).warnings


def test_while_it_runs_shows_a_command_that_can_be_typed():
    line = model_dir_name.while_it_runs("/tmp/my runs/a;b")
    assert "/tmp/my runs/a;b/report.html" in line
    words = shlex.split(line.partition("estimator-trainer ")[2])
    page = command_line.parse(words).page
    assert page.model_dir == ("/tmp/my runs/a;b",) and page.serve


@pytest.mark.parametrize("is_installed", [True, False])
def test_tensorboard_shows_the_command_or_how_to_install_it(is_installed, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: is_installed or None)
    line = model_dir_name.tensorboard("/tmp/digits")
    assert line.endswith("tensorboard --logdir=/tmp/digits")
    assert ("pip install tensorboard" in line) == (not is_installed)
