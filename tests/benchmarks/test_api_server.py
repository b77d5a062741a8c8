"""A real Kubernetes API server takes the jobs that `manifest` writes, and refuses wrong ones."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.support import jobs

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.soak]
_PROGRAMS = ("kube-apiserver", "etcd")


@pytest.mark.skipif(not all(map(shutil.which, _PROGRAMS)),
                    reason="kube-apiserver and etcd are not on PATH")
def test_an_api_server_takes_every_kubernetes_job_and_stores_it_as_written() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.api_server"], cwd=jobs.REPO,
                          env=jobs.environment(), capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "every answer is right"
    assert sum(line.endswith("taken, and stored as sent") for line in lines) > 20
    assert sum(": refused with 4" in line for line in lines) > 10


@pytest.mark.skipif(not all(map(shutil.which, (*_PROGRAMS, "kube-controller-manager"))),
                    reason="kube-apiserver, etcd and kube-controller-manager are not on PATH")
def test_the_job_controller_finds_hosts_and_restarts_tasks_by_the_job() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.job_controller"], cwd=jobs.REPO,
                          env=jobs.environment(), capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("every check is right\n")


def test_a_program_that_is_missing_is_named_by_its_flag() -> None:
    for module in ("api_server", "job_controller"):
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{module}", "--apiserver=bin/none"], cwd=jobs.REPO,
            env=jobs.environment(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 2
        assert "apiserver is 'bin/none' (from --apiserver); expected a program." in done.stderr
        assert "Traceback" not in done.stderr
