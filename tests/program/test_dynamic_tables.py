"""Dynamic tables of TensorFlow Recommenders Addons, in an environment of their own."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from tests.support import interpreters, jobs, pages

pytestmark = [pytest.mark.soak, pytest.mark.cluster, pytest.mark.any_tensorflow,
              pytest.mark.timeout(1800)]
_PACKAGES = ("tensorflow==2.16.*", "tf_keras==2.16.*", "tensorflow-recommenders-addons==0.8.1")
_INSTALL_SECS, _RUN_SECS = 900, 300
_WAYS = {"one process": [],
         "a cluster": ["launch", "--worker=1", "--ps=2", "--evaluator=1", "--"]}


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> pathlib.Path:
    """An interpreter that has TensorFlow 2.16, the addons and what this program needs."""
    interpreter = interpreters.find("3.11")
    if interpreter is None:
        pytest.skip("tensorflow-recommenders-addons 0.8.1 needs Python 3.11; this machine has none")
    folder = tmp_path_factory.mktemp("addons")
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True, timeout=_RUN_SECS)
    installed = subprocess.run(
        [str(folder / "bin/pip"), "install", "-q", "--no-cache-dir", *_PACKAGES, "-r",
         str(jobs.REPO / "estimator_trainer/requirements.txt")],
        capture_output=True, text=True, check=False, timeout=_INSTALL_SECS)
    if installed.returncode:
        pytest.skip(f"the addons cannot be installed here: {installed.stderr[-300:]}")
    return folder / "bin/python"


@pytest.mark.parametrize("way", _WAYS)
def test_a_table_without_a_fixed_size_trains_and_is_evaluated(way, python, tmp_path):
    [script] = [block for block in pages.blocks(jobs.REPO / "docs/clusters.md")
                if block.title == "dynamic_table.py"]
    (tmp_path / script.title).write_text(script.text)
    ran = subprocess.run(
        [str(python), "-m", "estimator_trainer", *_WAYS[way], "run", script.title, "--",
         f"--model_dir={tmp_path}/model"],
        cwd=tmp_path, env={**jobs.environment(), "PYTHONPATH": str(jobs.REPO)},
        capture_output=True, text=True, check=False, timeout=_RUN_SECS)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-6000:]
    result = json.loads((tmp_path / "model/result.json").read_text())
    assert result["step"] >= 1000
    assert result["metrics"]["auc"] > 0.65  # A table that lost its rows has 0.5.
