"""The name of a model_dir: the directory of a tuning trial, and the signs that no name may hold.

`tf.train.latest_checkpoint`, the removal of old checkpoints and, in C++, the op RestoreV2 and the
reader of checkpoints look for files by patterns that begin with model_dir: `run[1]` means a
directory `run1` there, and `run*` means `run2` too.
"""

import contextlib
import fcntl
import importlib.util
import os
import pathlib
import posixpath
import re
import shlex
import shutil
import stat
import tempfile

from estimator_trainer.errors import Problem, Setting

_PATTERN = re.compile(r"[\[*?\\]")
_REPLACED = re.compile(r"[\[\]*?\\]+")


def problem(folder: str, source: str = "", setting: str = "model_dir") -> Problem | None:
    """Returns why no checkpoint can be read from a directory of this name, or None.

    The name comes from the setting, or else from `source`.
    """
    found = _PATTERN.search(folder)
    if not found:
        return None
    # A similar path without the signs of patterns.
    plain = "/".join(
        _REPLACED.sub("-", part).strip("-") or "job" if _PATTERN.search(part) else part
        for part in folder.split("/"))
    return Problem(
        setting, folder, f"and TensorFlow takes {found[0]} in a path for part of a pattern,"
        " so that it misses the checkpoints there, or finds those of another directory",
        "a path without [, *, ? and \\",
        f"{setting}={plain!r}" if source else Setting(setting, plain), source,
        advice="Rename it." * os.path.exists(folder))


def of_trial(model_dir: str, trial: str, aip_model_dir: str) -> str:
    """Returns the directory that one trial of a tuning job has for itself.

    Vertex AI puts the trial into AIP_MODEL_DIR (BASE/TRIAL/model/), so a directory in BASE/TRIAL
    is the trial's own already. Any other directory is shared: AI Platform's --job-dir.
    """
    if not model_dir or not trial:
        return model_dir
    vertex, mine = (posixpath.normpath(_mounted(path)) for path in (aip_model_dir, model_dir))
    parent = posixpath.dirname(vertex)
    is_own = posixpath.basename(parent) == trial and f"{mine}/".startswith(f"{parent}/")
    return model_dir if is_own else posixpath.join(model_dir, trial)


def is_within(inner: str, outer: str) -> bool:
    """Returns whether a directory is another one, or lies in it."""
    one, other = (posixpath.normpath(_mounted(path)) for path in (inner, outer))
    return f"{one}/".startswith(f"{other}/")


def _mounted(path: str) -> str:
    """Returns the path at which Vertex AI mounts what is in a bucket; any other path as it is."""
    return "/gcs/" + path[len("gs://"):] if path.startswith("gs://") else path


_PREFIX = "estimator_trainer-"
# The process that trains there holds a lock on this file, which ends with the process.
_LOCK = ".in_use"
_held: list[int] = []


def make_scratch() -> str:
    """Makes a new directory, and removes those of this user's earlier runs that have ended."""
    parent = pathlib.Path(tempfile.gettempdir())
    for folder in parent.glob(f"{_PREFIX}*"):
        _remove_unused(folder)
    made = tempfile.mkdtemp(prefix=_PREFIX)
    descriptor = os.open(os.path.join(made, _LOCK), os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    _held.append(descriptor)
    return made


def is_scratch(folder: str) -> bool:
    """Returns whether a directory is a scratch directory."""
    return os.path.exists(os.path.join(folder, _LOCK)) and (
        os.path.basename(folder).startswith(_PREFIX))


def scratch_notice(folder: str) -> str:
    """Returns a sentence on what becomes of a scratch directory."""
    return (f"model_dir is {folder}, which the next run without a model_dir removes; to keep a"
            " model, name its directory")


def _remove_unused(folder: pathlib.Path) -> None:
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return  # The directory has no lock, or is another user's.
    try:
        is_own = os.stat(folder, follow_symlinks=False)
        if not stat.S_ISDIR(is_own.st_mode) or is_own.st_uid != os.getuid():
            return
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


PAGE = "report.html"


def while_it_runs(model_dir: str) -> str:
    """Returns the line on where the page will be, and how to see it before."""
    return (f"report: {posixpath.join(model_dir, PAGE)} at the end; before: estimator-trainer"
            f" report --serve --model_dir={shlex.quote(model_dir)}")


def tensorboard(model_dir: str) -> str:
    """Returns the line on how to see a run in TensorBoard."""
    command = f"tensorboard --logdir={shlex.quote(model_dir)}"
    if importlib.util.find_spec("tensorboard") is not None:
        return f"TensorBoard: {command}"
    return f"TensorBoard is not installed: pip install tensorboard; then: {command}"


def no_tensorboard(why: str, model_dir: str) -> Problem:
    """Returns the problem of a job that cannot run TensorBoard; "" for an unknown model_dir."""
    return Problem("tensorboard", True, why, "TensorBoard by its own command",
                   f"tensorboard --logdir={shlex.quote(model_dir or 'gs://bucket/job')}")
