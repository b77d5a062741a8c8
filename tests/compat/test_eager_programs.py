"""Programs of TensorFlow 1 that turn eager execution on find what TensorFlow 1.15.5 found.

`tests/oracle/eager/` has the programs, each a process of its own, and what each printed natively.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.oracle.compare import differences
from tests.support import jobs

PROGRAMS = jobs.REPO / "tests" / "oracle" / "eager"


@pytest.mark.soak
@pytest.mark.parametrize("name", ["checkpoints", "networks"])
def test_an_eager_program_finds_what_1_15_found(name, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "estimator_trainer", "run", "--tf1",
         str(PROGRAMS / f"{name}.py")], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**jobs.environment(), "PYTHONPATH": str(jobs.REPO)})
    assert run.returncode == 0, run.stderr
    found = next(line for line in run.stdout.splitlines() if line.startswith('{"'))
    right = json.loads((PROGRAMS / f"{name}.json").read_text())
    assert differences({"value": right, "variables": {}},
                       {"value": json.loads(found), "variables": {}}) == []
