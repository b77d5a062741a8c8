"""`init` writes a model that trains, and a test that passes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from estimator_trainer import cli
from estimator_trainer.plugins import loader
from tests.support import jobs


@pytest.mark.cluster
@pytest.mark.soak
def test_write_makes_a_model_that_trains_and_passes_its_test(tmp_path, capsys):
    folder = tmp_path / "my models" / "first"
    assert cli.main(["init", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert f"cd '{folder}'" in shown

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"],
        cwd=folder, capture_output=True, text=True, check=False, env=jobs.environment())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ran = jobs.trainer("--model_fn=./model.py", "--input_fn=./data.py", "--model_dir=run",
                       "--train_steps=5", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    ran = jobs.trainer("predict", "--model_dir=run", cwd=folder)
    assert ran.returncode == 0 and "probabilities" in json.loads(ran.stdout.splitlines()[0])


@pytest.mark.any_tensorflow
def test_write_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "model.py").write_text("mine")
    assert cli.main(["init", str(tmp_path)]) == 2
    assert "model.py would be written over" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.py"]
    for words in (["init"], ["init", "a", "b"], ["init", str(tmp_path / "model.py" / "x")]):
        assert cli.main(words) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.any_tensorflow
def test_write_documents_the_params(tmp_path, monkeypatch):
    cli.main(["init", str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    assert loader.find("model_fn", "./model.py").default_params["hidden_units"] == 16
    assert loader.find("input_fn", "./data.py").global_batch_param == "batch_size"
