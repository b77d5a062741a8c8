"""A run without --model_dir says where its model is, and how to keep one."""

from __future__ import annotations

import pathlib
import re
import tempfile

import pytest

from estimator_trainer import cli, logs
from tests.support import line_model

pytestmark = pytest.mark.cluster


def test_a_run_without_a_model_dir_names_its_folder(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = line_model.write(tmp_path)
    folders = []
    for _ in range(2):
        with logs.as_before():
            assert cli.main([f"--model_fn={path}", f"--input_fn={path}", "--train_steps=5"]) == 0
        shown = capfd.readouterr().err
        [folder] = re.findall(r"model_dir is (\S+), which the next run without a model_dir removes",
                              shown)
        assert shown.rstrip().rpartition("\n")[2].startswith("role=local status=done")
        folders.append(pathlib.Path(folder))
    # This process has both; another one's that has ended would be gone.
    assert all((folder / "result.json").exists() for folder in folders)
