"""Tests the GPU benchmark: it runs on a CPU in tiny sizes, but only if --device=cpu asks for it."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest

from tests.support import jobs

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.cluster]


def _run(*args):
    return subprocess.run([sys.executable, "-m", "benchmarks.gpu", *args], text=True,
                          env=jobs.environment(), capture_output=True, timeout=250, check=False)


@pytest.mark.soak
def test_every_kind_of_row_runs_on_a_cpu_in_tiny_sizes(tmp_path):
    path = tmp_path / "gpu.json"
    ran = _run("--device=cpu", "--repeats=1", "--rows=, 32 bit$|trainer, 10 .*run$",
               f"--json={path}")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(path.read_text())
    rows = {model: [row["row"] for row in table] for model, table in found["tables"].items()}
    assert rows == {"resnet50": ["trainer, 32 bit", "keras, 32 bit"],
                    "cnn": ["trainer, 10 steps a run"]}
    for row in [*found["tables"]["resnet50"], *found["tables"]["cnn"]]:
        assert row["images_per_sec"][0] > 0 and math.isfinite(row["loss"])
        assert f"| {row['row']} | {row['images_per_sec'][0]:,.1f} |" in ran.stdout
    assert found["tables"]["cnn"][0]["ratios"] == [1.0]


@pytest.mark.soak
def test_without_a_gpu_it_ends_with_one_sentence(tmp_path):
    ran = _run(f"--json={tmp_path}/gpu.json")
    assert ran.returncode == 2
    assert "finds no GPU here" in ran.stderr and "--device=cpu" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1 and not ran.stdout
    assert not (tmp_path / "gpu.json").exists()
