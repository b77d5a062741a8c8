"""Native TensorFlow 1.15 reads what programs write under --tf1; the reverse is a case each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.oracle import make
from tests.oracle.compare import differences
from tests.support import jobs

PROGRAM = make.PROGRAMS / "checkpoints.py"
VARIABLE = "TENSORFLOW_1_15_PYTHON"


@pytest.mark.soak
@pytest.mark.skipif(VARIABLE not in os.environ,
                    reason=f"{VARIABLE} names the Python of an environment with TensorFlow 1.15")
def test_native_1_15_reads_what_is_written_here(tmp_path):
    written = tmp_path / "written"
    written.mkdir()
    run = [sys.executable, "-W", "ignore", "-m", "estimator_trainer", "run", "--tf1"]
    subprocess.run([*run, str(PROGRAM), "--", str(written)], check=True, cwd=tmp_path,
                   env=dict(os.environ, PYTHONPATH=str(jobs.REPO), CUDA_VISIBLE_DEVICES="-1"))
    # TensorFlow 2, imported by other tests, sets the last variable.
    options = {"ORACLE_CHECKPOINTS": str(written), "PYTHONPATH": "", "TF2_BEHAVIOR": "0"}
    right = make.run([os.environ[VARIABLE], "-W", "ignore", str(make.RUNNER)], ["checkpoints"],
                     "--all", **options)["answers"]["checkpoints"]
    found = make.run([*run, str(make.RUNNER), "--"], ["checkpoints"], "--all",
                     **{**options, "PYTHONPATH": str(jobs.REPO)})["answers"]["checkpoints"]
    # Later versions read a graph whose ops native TensorFlow 1.15 does not know.
    newer = {"a_graph_of_1_15", "an_export_of_1_15", "a_predictor_of_1_15"}
    wrong = {case: differences(answer, found[case]) for case, answer in right.items()}
    assert {case: each for case, each in wrong.items() if each and case not in newer} == {}
    assert not [case for case, answer in right.items() if "raises" in answer and case not in newer]
