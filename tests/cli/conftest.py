"""Fixtures of the tests of the program as a whole."""

from __future__ import annotations

import os
import pathlib

import pytest

from tests.support import jobs


@pytest.fixture
def no_tensorflow(tmp_path: pathlib.Path) -> str:
    """A PYTHONPATH on which an import of TensorFlow fails, as a module of that name comes first."""
    folder = tmp_path / "no_tensorflow"
    folder.mkdir()
    (folder / "tensorflow.py").write_text("raise ImportError('TensorFlow was imported')\n")
    return f"{folder}{os.pathsep}{jobs.REPO}"
