"""Jobs by the mpirun of Open MPI, and of MPICH, on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.support import jobs

pytestmark = [pytest.mark.soak, pytest.mark.cluster, pytest.mark.timeout(150)]
_LAUNCHERS = {"mpirun.openmpi": ["--allow-run-as-root", "--oversubscribe"], "mpiexec.mpich": []}


@pytest.mark.parametrize("launcher", _LAUNCHERS)
def test_mpirun_trains_with_every_role_of_its_ranks(launcher, tmp_path):
    if not shutil.which(launcher):
        pytest.skip(f"no {launcher} here (Debian: openmpi-bin, mpich)")
    first = jobs.free_addresses(1)[0].rpartition(":")[2]
    done = subprocess.run(
        [launcher, *_LAUNCHERS[launcher], "-n", "4", sys.executable, "-m", "estimator_trainer",
         "--model_fn=linear", "--input_fn=digits", "--noreport", "--num_evaluations=0",
         "--num_ps=1", "--num_evaluators=1", f"--first_port={int(first) - 10000}",
         "--train_steps=200", f"--model_dir={tmp_path}/m"],
        cwd=jobs.REPO, capture_output=True, text=True, timeout=120)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert sorted(line.partition(" step=")[0] for line in text.splitlines()
                  if line.startswith("role=")) == [
        f"role={role}:0 status=done" for role in ("chief", "evaluator", "ps", "worker")]
