"""The Pythons of this machine are on PATH, or installed by pyenv."""

from __future__ import annotations

import os
import pathlib
import subprocess


def find(version: str) -> str | None:
    """Returns an interpreter of a version such as "3.12", or None if this machine has none."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    installed = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    for candidate in [f"python{version}", *map(str, installed)]:
        # A shim of pyenv is there for each version, and may refuse to run.
        code = f"import sys, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
        try:
            if subprocess.run([candidate, "-c", code], capture_output=True, check=False,
                              timeout=60).returncode == 0:
                return candidate
        except FileNotFoundError:
            pass
    return None
