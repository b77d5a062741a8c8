"""Fixtures see to it that no test sees another's environment, or the user's data."""

from __future__ import annotations

import os
import pathlib
import signal
from typing import Iterator
import warnings

import pytest

from estimator_trainer import tensorflow_import
from tests.support import jobs
from tests.support.commands import plain, run

# Fixtures of several folders.
__all__ = ["plain", "run"]
# About how long the tests take on two quiet cores, by what -m selects.
_DURATIONS = {"not soak": "11 minutes", "not cluster": "2 minutes", "soak": "several hours"}


def pytest_configure(config: pytest.Config) -> None:
    """Imports TensorFlow as the command line does, before any test imports it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell without job control starts a command with `&` deaf to Ctrl-C, and all below it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    is_worker = hasattr(config, "workerinput")
    if is_worker or not config.getoption("numprocesses", 0):
        with warnings.catch_warnings():
            # Packages that TensorFlow imports warn, such as google.api_core on Python 3.11.
            warnings.simplefilter("ignore")
            tensorflow_import.load(is_verbose=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts slow tests first in each worker's share; quick ones fill the end, when others are done.

    pytest-xdist gives each worker as many tests, in a row.
    """
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker("cluster")  # `-m "not cluster"` leaves them out, too.
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    slow = [item for item in items if item.get_closest_marker("cluster")]
    quick = [item for item in items if not item.get_closest_marker("cluster")]
    items[:] = [item for worker in range(workers) for every in (slow, quick)
                for item in every[len(every) * worker // workers:
                                  len(every) * (worker + 1) // workers]]


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Says before the first test about how long it takes."""
    is_whole = config.args_source is not config.ArgsSource.ARGS and not config.getoption("-k")
    duration = _DURATIONS.get(config.getoption("-m")) if is_whole else None
    return [f"these tests take about {duration} on 2 cores"] if duration else []


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
    """Returns a TFDS data_dir for the whole session; the first test that needs it prepares it."""
    return tmp_path_factory.mktemp("tfds")


@pytest.fixture
def own_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the test in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_tensorflow(tmp_path: pathlib.Path) -> str:
    """A PYTHONPATH on which an import of TensorFlow fails, as a module of that name comes first."""
    folder = tmp_path / "no_tensorflow"
    folder.mkdir()
    (folder / "tensorflow.py").write_text("raise ImportError('TensorFlow was imported')\n")
    return f"{folder}{os.pathsep}{jobs.REPO}"


@pytest.fixture(scope="session")
def data_dirs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """{number of files of the train split: a data_dir with such numbered rows}."""
    # Here, as this file is read before TensorFlow is imported.
    from tests.support import numbered_rows
    return {files: numbered_rows.prepared(tmp_path_factory.mktemp(f"files{files}"), files)
            for files in range(1, 6)}
