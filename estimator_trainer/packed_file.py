"""Where a plug-in that is a file lies in a job that `manifest` packed.

A task's flags say ./my_model.py, as they did where the file lay.
"""

from __future__ import annotations

import pathlib
import posixpath

PACKAGE = "estimator_trainer_job"


def place(target: str) -> str:
    """Returns the path below PACKAGE of the file that a flag names."""
    parts = pathlib.PurePosixPath(posixpath.normpath(target)).parts
    return "/".join("up" if part == ".." else part for part in parts if part.strip("/"))
