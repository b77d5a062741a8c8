"""The wheel trains in a fresh environment of every Python and TensorFlow that the README tells."""

from __future__ import annotations

import fcntl
import pathlib
import subprocess
import tempfile
from typing import Iterator

import pytest

from tests.support import distributions, interpreters, jobs

# Each waits for those before it: an environment takes 2 GB, and they are made one at a time.
pytestmark = [pytest.mark.soak, pytest.mark.cluster, pytest.mark.any_tensorflow,
              pytest.mark.timeout(7200)]
_PYTHONS = {"2.15": ("3.10", "3.11"),
            "2.16": ("3.10", "3.11", "3.12"),
            "2.18": ("3.10", "3.11", "3.12"),
            "2.20": ("3.10", "3.11", "3.12", "3.13"),
            "2.21": ("3.10", "3.11", "3.12", "3.13")}
_INSTALL_SECS, _RUN_SECS = 900, 180


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A folder for an environment, which is removed at the end; no other test has one then."""
    shared = tmp_path_factory.getbasetemp().parent
    with open(shared / "matrix.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with tempfile.TemporaryDirectory(prefix="matrix-") as name:
            yield pathlib.Path(name)


def _run(folder: pathlib.Path, *words: str, secs: float) -> str:
    """Runs a program in an empty folder, as a user who has no checkout; returns its output."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    variables = {name: value for name, value in jobs.environment(HOME=str(folder)).items()
                 if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=empty, env=variables, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, timeout=secs, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


@pytest.mark.parametrize("tensorflow, python", [
    (tensorflow, python) for tensorflow, pythons in _PYTHONS.items() for python in pythons])
def test_the_wheel_trains_on(tensorflow: str, python: str, folder: pathlib.Path) -> None:
    interpreter = interpreters.find(python)
    if interpreter is None:
        pytest.skip(f"no Python {python} on PATH or in ~/.pyenv")
    sources = distributions.copy_sources(folder / "sources")
    wheel = distributions.build(sources, folder / "dist", "--wheel")["whl"]
    packages = [f"{wheel}[tf215]"] if tensorflow == "2.15" else [
        str(wheel), f"tensorflow=={tensorflow}.*", f"tf_keras=={tensorflow}.*"]
    programs = folder / "venv" / "bin"
    _run(folder, interpreter, "-m", "venv", str(folder / "venv"), secs=_INSTALL_SECS)
    _run(folder, str(programs / "pip"), "install", "-q", "--no-cache-dir", *packages,
         secs=_INSTALL_SECS)
    _run(folder, str(programs / "pip"), "check", secs=_RUN_SECS)
    trainer = str(programs / "estimator-trainer")
    version = _run(folder, trainer, "--version", secs=_RUN_SECS)
    assert f"TensorFlow {tensorflow}." in version and f"Python {python}." in version
    out = _run(folder, trainer, f"--model_dir={folder}/digits", secs=_RUN_SECS)
    assert out.rstrip().endswith("role=local status=done step=1000 reason=train_steps"), out
