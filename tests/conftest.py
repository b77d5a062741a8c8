"""Fixtures: no test sees another's environment, or the user's data."""

from __future__ import annotations

import os
import pathlib
from typing import Iterator

import jobs
import pytest

# Before any test imports TensorFlow, as the command line does.
from estimator_trainer import compat  # noqa: F401


@pytest.fixture(autouse=True)
def _same_environment_after() -> Iterator[None]:
    saved = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(saved)
    jobs.release_ports()


@pytest.fixture(scope="session", autouse=True)
def _no_process_after() -> Iterator[None]:
    yield
    jobs.end_fork_server()


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A TFDS data_dir for the whole session, prepared by whoever comes first."""
    return tmp_path_factory.mktemp("tfds")


@pytest.fixture
def own_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
