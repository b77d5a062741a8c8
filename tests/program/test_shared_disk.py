"""Hosts see model_dir through mounts that keep attributes, and what is not there, for long.

NFS keeps them for 3 to 60 s; two FUSE mounts of one folder stand for two hosts.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess

import pytest

from tests.support import jobs, slow_jobs

_TIMEOUT_SECS = 120
_OPTIONS = "attr_timeout=3,entry_timeout=0,negative_timeout=30"


def _why_not():
    if not shutil.which("bindfs"):
        return "bindfs is not installed (Debian's package bindfs)"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "this user, or this container, may not use /dev/fuse"
    return ""


pytestmark = [pytest.mark.cluster, pytest.mark.any_tensorflow,
              pytest.mark.skipif(bool(_why_not()), reason=_why_not())]


@pytest.fixture(name="hosts")
def fixture_hosts(tmp_path):
    """Makes two mounts of one folder."""
    (tmp_path / "disk").mkdir()
    with contextlib.ExitStack() as stack:
        mounts = []
        for name in ("host0", "host1"):
            folder = tmp_path / name
            folder.mkdir()
            subprocess.run(["bindfs", "-o", _OPTIONS, tmp_path / "disk", folder], check=True)
            stack.callback(subprocess.run, ["umount", "--lazy", folder], check=True)
            mounts.append(folder)
        yield mounts


def _running(folder, hosts, *flags):
    """Runs chief, worker, ps and evaluator; the chief alone is on the first host."""
    return jobs.running(
        folder, jobs.cluster(chief=1, worker=1, ps=1), slow_jobs.patient_flags(*flags),
        evaluator=True, variables=lambda name: {
            "AIP_MODEL_DIR": f"{hosts[not name.startswith('chief')]}/job"})


def test_a_job_ends_right_and_is_resumed_where_attributes_are_kept(tmp_path, hosts):
    with _running(tmp_path, hosts, "--train_steps=100000") as tasks:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["chief:0"]), _TIMEOUT_SECS)
        slow_jobs.send(tasks["ps:0"], signal.SIGTERM)
        slow_jobs.wait_for_all(tasks)
        slow_jobs.assert_codes(tasks, 143)
    saved = json.loads((tmp_path / "disk" / "job" / "result.json").read_text())["step"]
    assert saved >= 20
    (tmp_path / "again").mkdir()
    with _running(tmp_path / "again", hosts, f"--train_steps={saved + 100}") as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        # The worker may be a step ahead of the chief's first look.
        assert any(f"training from step {saved} " in task.log for task in tasks.values())
        assert f"evaluated step {saved + 100}" in tasks["evaluator:0"].log or (
            f"evaluated step {saved + 101}" in tasks["evaluator:0"].log)
    result = json.loads((tmp_path / "disk" / "job" / "result.json").read_text())
    assert result["status"] == "done" and len(result["exports"]) == 1
