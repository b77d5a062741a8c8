"""The scratch directory is the model_dir of a run that names none; the last one alone is kept."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import stat
import tempfile

_PREFIX = "estimator_trainer-"
# The process that trains there has it locked; the lock goes with the process, however it ends.
_LOCK = ".in_use"
_held: list[int] = []


def make() -> str:
    """Makes a new directory, and removes those of this user's earlier runs that have ended."""
    parent = pathlib.Path(tempfile.gettempdir())
    for folder in parent.glob(f"{_PREFIX}*"):
        _remove_unused(folder)
    made = tempfile.mkdtemp(prefix=_PREFIX)
    descriptor = os.open(os.path.join(made, _LOCK), os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    _held.append(descriptor)
    return made


def is_one(folder: str) -> bool:
    """Returns whether a directory is a scratch directory."""
    return os.path.exists(os.path.join(folder, _LOCK)) and (
        os.path.basename(folder).startswith(_PREFIX))


def notice(folder: str) -> str:
    """Returns a sentence that tells what becomes of a scratch directory."""
    return (f"model_dir is {folder}, which the next run without --model_dir removes; to keep a"
            " model: --model_dir=DIR")


def _remove_unused(folder: pathlib.Path) -> None:
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return  # It is no such directory, or another user's.
    try:
        is_own = os.stat(folder, follow_symlinks=False)
        if not stat.S_ISDIR(is_own.st_mode) or is_own.st_uid != os.getuid():
            return
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
