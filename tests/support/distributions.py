"""The wheel and the sdist are built from a copy, so that the checkout gets no build folder."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

from tests.support import jobs

_SOURCES = ("estimator_trainer", "model_fns", "input_fns", "setup.py", "setup.cfg", "README.md",
            "NOTICE")
_SECS = 120


def copy_sources(folder: pathlib.Path) -> pathlib.Path:
    """Copies what the distributions are made of into a new folder, and returns it."""
    folder.mkdir(parents=True)
    for name in _SOURCES:
        source = jobs.REPO / name
        if source.is_dir():
            shutil.copytree(source, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, folder / name)
    return folder


def build(sources: pathlib.Path, output: pathlib.Path, *kinds: str) -> dict[str, pathlib.Path]:
    """Runs `python -m build`, with the setuptools that is here.

    Args:
      sources: A folder with setup.py.
      output: A folder for the distributions.
      *kinds: `--sdist` or `--wheel`. With none, an sdist is built, and a wheel from that.

    Returns:
      The files, by their kind: `whl` or `gz`.
    """
    words = [sys.executable, "-m", "build", "--no-isolation", *kinds, f"--outdir={output}", "."]
    done = subprocess.run(words, cwd=sources, capture_output=True, text=True, check=False,
                          timeout=_SECS)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.suffix[1:]: path for path in output.iterdir()}
