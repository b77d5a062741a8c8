"""The files of a plug-in: how a record names them, and by what it knows them again."""

from __future__ import annotations

import hashlib
import os.path
import pathlib
import subprocess
from typing import Any, Mapping, TypedDict

from estimator_trainer import deadlines


class Commit(TypedDict):
    """A git commit, and whether the folder of the plug-in differs from it."""

    commit: str
    is_changed: bool


def name_of(entry: Mapping[str, Any]) -> str:
    """Returns the name by which a recorded plug-in is found again.

    A file is found by its whole path, from whichever folder; where it is no longer there, by the
    name that the user typed.
    """
    name, path = str(entry.get("name", "")), str(entry.get("path", ""))
    if entry.get("is_file") and os.path.isfile(path):
        return f"{path}:{entry['function']}"
    return name


def sha256(path: str) -> str:
    """Returns the sha256 of a file, in hexadecimal digits; "" if it cannot be read."""
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def sha256_of_text(text: str) -> str:
    """Returns the sha256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def git_commit(path: str) -> Commit | None:
    """Returns the commit of the repository that a file is in; None if it is in none.

    Returns:
      A dict of `commit`, and of `is_changed`: whether the file's folder differs from it.
    """
    folder = os.path.dirname(path)
    commit = _git(folder, "rev-parse", "HEAD")
    # A virtual environment within a repository is not part of it.
    if not commit or _git(folder, "check-ignore", "-q", path) is not None:
        return None
    return {"commit": commit, "is_changed": bool(_git(folder, "status", "--porcelain", "--", "."))}


def _git(folder: str, *words: str) -> str | None:
    """Returns what git prints; None if it fails, or is not there."""
    try:
        ran = subprocess.run(["git", "-C", folder or ".", *words], capture_output=True, text=True,
                             check=False, timeout=deadlines.CHECK_SECS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None
