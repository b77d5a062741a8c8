"""Checkpoints and exports cross between TensorFlow 2.15 and the newest, both ways."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.support import jobs

# The interpreter of the other environment; `.ci/run` makes both environments and names this.
OTHER = os.environ.get("CROSSOVER_PYTHON", "")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not OTHER, reason="CROSSOVER_PYTHON names no second environment's Python"),
]


def _run(python, *args):
    ran = subprocess.run([python, "-m", "estimator_trainer", *args], text=True,
                         capture_output=True, timeout=120, env=jobs.environment(), check=False)
    assert ran.returncode == 0, ran.stderr
    return ran


def _predictions(python, *args):
    lines = _run(python, "predict", *args).stdout.splitlines()
    return np.array([json.loads(line)["probabilities"] for line in lines])


@pytest.mark.any_tensorflow
def test_a_model_dir_begun_on_one_tensorflow_continues_on_the_other(tmp_path, data_dir):
    flags = ["--seed=1", f"--model_dir={tmp_path}/m", f"--param=data_dir={data_dir}"]
    _run(sys.executable, *flags, "--train_steps=100")
    ran = _run(OTHER, *flags, "--train_steps=200")
    assert "training from step 100 to 200" in ran.stderr
    ran = _run(sys.executable, *flags, "--train_steps=300")
    assert "training from step 200 to 300" in ran.stderr
    metrics = [json.loads(_run(python, "evaluate", *flags).stdout)
               for python in (sys.executable, OTHER)]
    assert metrics[0] == pytest.approx(metrics[1], rel=1e-5)


def test_an_export_of_one_tensorflow_predicts_the_same_on_the_other(tmp_path, data_dir):
    data = f"--param=data_dir={data_dir}"
    _run(OTHER, f"--model_dir={tmp_path}/m", data, "--train_steps=100")
    [export] = (tmp_path / "m" / "export" / "final").iterdir()
    here, there = (_predictions(python, f"--export_dir={export}", data)
                   for python in (sys.executable, OTHER))
    np.testing.assert_allclose(here, there, atol=1e-5)
