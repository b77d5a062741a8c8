"""The program answers without TensorFlow where it can, and imports it with care."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from estimator_trainer import __version__, cli
from tests.support import jobs


@pytest.mark.parametrize("args", [
    ["--help"], ["manifest", "--help"], ["--version"], ["train", "--version"], ["check"],
    ["check", "--json"], ["list"], ["list", "--json"]])
def test_it_answers_without_tensorflow(args, no_tensorflow):
    ran = jobs.program(*args, PYTHONPATH=no_tensorflow)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout and not ran.stderr


def test_a_start_imports_nothing_that_one_command_alone_needs():
    code = ("import sys; from estimator_trainer import cli\n"
            "print({'yaml', 'tensorflow', 'numpy', 'estimator_trainer.jobs',"
            " 'estimator_trainer.checks.printout', 'estimator_trainer.roles'} & set(sys.modules))")
    ran = subprocess.run([sys.executable, "-c", code], env=jobs.environment(), text=True,
                         capture_output=True, timeout=60, check=True)
    assert ran.stdout == "set()\n"


def test_help_imports_the_table_of_flags_and_not_what_parses_and_runs_them():
    code = ("import sys; before = set(sys.modules); from estimator_trainer import cli\n"
            "cli.main(['--help'])\n"
            "print({'absl', 'absl.flags', 'logging', 'importlib.metadata', 'email',"
            " 'estimator_trainer.commands'} & (set(sys.modules) - before))")
    ran = subprocess.run([sys.executable, "-c", code], env=jobs.environment(), text=True,
                         capture_output=True, timeout=60, check=True)
    assert "usage: estimator-trainer" in ran.stdout and ran.stdout.endswith("\nset()\n")


def test_console_script_and_module_are_the_same_program():
    assert jobs.program("--version").stdout.startswith(f"estimator_trainer {__version__}, T")
    assert sys.modules["estimator_trainer.cli"].main is cli.main


@pytest.mark.cluster
def test_garbage_is_collected_again_once_tensorflow_is_imported_but_not_looked_for_in_it(tmp_path):
    code = (f"import gc; from estimator_trainer import cli; cli.main(['export',"
            f" '--model_dir={tmp_path}']); print(gc.isenabled(), gc.get_freeze_count() > 100000)")
    ran = subprocess.run([sys.executable, "-c", code], env=jobs.environment(), text=True,
                         capture_output=True, timeout=120, check=False)
    assert ran.stdout.splitlines()[-1:] == ["True True"], ran.stderr


@pytest.mark.any_tensorflow
def test_of_a_caller_that_has_tensorflow_nothing_is_kept_for_ever(tmp_path):
    import tensorflow as tf  # noqa: F401
    before = gc.get_freeze_count()
    assert cli.main(["export", f"--model_dir={tmp_path}"]) == 2
    assert gc.isenabled() and gc.get_freeze_count() <= before
