"""A process whose standard output or error cannot be written does its work, and says so if it may.
"""

from __future__ import annotations

import subprocess

import pytest

from tests.support import jobs, slow_jobs
from tests.support.slow_jobs import flags


def _run(redirections, args):
    """Runs the program in a shell, with some of its streams redirected."""
    return subprocess.run(["bash", "-c", f'"$@" {redirections}', "bash", *jobs.PROGRAM, *args],
                          text=True, capture_output=True, timeout=120, env=jobs.environment(),
                          check=False)


@pytest.mark.cluster
@pytest.mark.parametrize("redirections", [
    slow_jobs.soak(">&- 2>/dev/full"), slow_jobs.soak(">&- 2>&-"),
    slow_jobs.soak("<&- >/dev/full 2>&-"),
    slow_jobs.soak("2>/dev/full")])
def test_keep_lets_a_training_without_streams_end_right(redirections, tmp_path):
    ran = _run(redirections, flags(tmp_path, "--train_steps=20"))
    assert ran.returncode == 0, ran.stderr
    assert jobs.result(tmp_path / "model")["status"] == "done"


def test_keep_reports_an_answer_that_is_lost():
    ran = _run(">/dev/full", ["--version"])
    assert ran.returncode == 1
    assert ran.stderr == ("estimator-trainer: standard output cannot be written: No space left on"
                          " device. Make room, or send it to another place.\n")


def test_keep_takes_an_unwanted_answer_for_no_failure():
    assert _run(">&-", ["--version"]).returncode == 0
    assert _run("| head -n 1", ["--help"]).stderr == ""
