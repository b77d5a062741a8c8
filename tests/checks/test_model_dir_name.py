"""A run without --model_dir says where its model is, and the last such directory alone stays."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

from estimator_trainer.checks import machine_check, model_dir_name, run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow
_MAKE = ("from estimator_trainer.checks import model_dir_name\n"
         "print(model_dir_name.make(), flush=True)")


@pytest.fixture
def parent(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _made_elsewhere(parent, then=""):
    return subprocess.Popen([sys.executable, "-c", _MAKE + then], stdout=subprocess.PIPE,
                            stdin=subprocess.PIPE, text=True, cwd=jobs.REPO,
                            env={**os.environ, "TMPDIR": str(parent)})


def test_the_last_scratch_directory_alone_is_kept(parent):
    (parent / "estimator_trainer-of-somebody").mkdir()
    (parent / "estimator_trainer-link").symlink_to(parent / "estimator_trainer-of-somebody")
    with _made_elsewhere(parent) as ended, _made_elsewhere(parent, "\ninput()") as running:
        first, second = (pathlib.Path(each.stdout.readline().strip())
                         for each in (ended, running))
        ended.wait()
        third = pathlib.Path(model_dir_name.make())
        assert not first.exists() and second.exists() and third.exists()
        assert (parent / "estimator_trainer-of-somebody").exists()
        running.communicate("\n")
    assert model_dir_name.is_one(str(third)) and not model_dir_name.is_one(str(parent))
    assert "--model_dir=DIR" in model_dir_name.notice(str(third))


def test_a_disk_without_room_for_a_checkpoint_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_check, "bytes_at", lambda folder: 50 << 20)
    config = TrainerConfig(model_dir=str(tmp_path / "job"))
    plan = run_plan.for_training(config, Environment())
    [problem] = plan.problems
    assert "50 MiB of free disk" in problem and "at least 100 MiB" in problem
    assert not machine_check.examine(plan, Environment()).warnings
    monkeypatch.setattr(machine_check, "bytes_at", lambda folder: 500 << 20)
    plan = run_plan.for_training(config, Environment())
    assert not plan.problems and machine_check.examine(plan, Environment()).warnings
