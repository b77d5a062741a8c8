"""The trainings that a command names: directories, patterns of paths, and folders of many runs."""

from __future__ import annotations

import os.path
import posixpath
from typing import Iterator, NamedTuple, Sequence

import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.errors import ConfigError, first_line, Problem, worded
from estimator_trainer.record import run_record
from estimator_trainer.reports import history, run_files

# A folder of runs holds them this many levels below, and the search ends with so many.
_LEVELS = 3
MOST_RUNS = 1000
_OF_TRAINING = (run_record.NAME, history.NAME, "result.json")
_EVENTS = "events.out.tfevents."


class Found(NamedTuple):
    """The trainings of a command.

    `folder` is the folder of many runs, or "" if each training was named by itself.
    """

    model_dirs: list[str]
    folder: str


def find(paths: Sequence[str], may_begin: bool = False) -> Found:
    """Returns the trainings that paths name; raises ConfigError for a path without one.

    Args:
      paths: Directories of trainings, patterns of them (`runs/*`), and folders of runs.
      may_begin: Whether a single directory may be missing or empty, because a training may begin
        there.
    """
    expanded = [each for path in paths for each in _matches(path)]
    if len(expanded) == 1 and may_begin and not _listed(expanded[0]) and not (
            tf.io.gfile.exists(expanded[0]) and not tf.io.gfile.isdir(expanded[0])):
        return Found(expanded, "")
    if len(expanded) == 1 and not is_training(expanded[0]):
        return Found(_within(expanded[0]), expanded[0])
    found = [each for path in expanded
             for each in ([path] if is_training(path) else _within(path))]
    _refuse_repeats(found)
    return Found(found, "")


def is_training(folder: str) -> bool:
    """Returns whether a directory has the files of a training."""
    return _has_training(_listed(folder))


def below(folder: str) -> Iterator[str]:
    """Yields the trainings below a folder, by name; at most MOST_RUNS."""
    found = 0
    pending = [(folder, _LEVELS)]
    while pending:
        path, levels = pending.pop(0)
        for name in sorted(_listed(path)):
            inner = posixpath.join(path, name.rstrip("/"))
            if name.startswith(".") or not levels or not _is_folder(name, inner):
                continue
            if is_training(inner):
                found += 1
                yield inner
                if found >= MOST_RUNS:
                    return
            else:
                pending.append((inner, levels - 1))


def _is_folder(name: str, path: str) -> bool:
    # A listing of a bucket marks folders; a disk has to be asked.
    return name.endswith("/") or not storage.scheme(path) and os.path.isdir(path) or bool(
        storage.scheme(path) and not storage.is_object_store(path) and tf.io.gfile.isdir(path))


def _matches(path: str) -> list[str]:
    """Returns the directories that a pattern matches; the path itself if it is not a pattern."""
    if not any(sign in path for sign in "*?[") or tf.io.gfile.exists(path):
        return [path.rstrip("/") or path]
    found = sorted(each.rstrip("/") for each in tf.io.gfile.glob(path)
                   if tf.io.gfile.isdir(each))
    kept = [each for each in found if is_training(each) or any(True for _ in below(each))]
    if not kept:
        raise _problem(path, "which matches " + (
            "no directory" if not found else "no directory of a training"))
    return kept


def _within(folder: str) -> list[str]:
    """Returns the trainings below a folder; raises ConfigError if there is none."""
    found = list(below(folder))
    if found:
        return found
    if not tf.io.gfile.exists(folder):
        raise _problem(folder, "which does not exist")
    if not tf.io.gfile.isdir(folder):
        raise _problem(folder, "which is a file")
    raise _problem(folder, f"which holds neither {run_record.NAME} nor {history.NAME} nor events,"
                   " and no folder with them")


def _refuse_repeats(paths: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for path in paths:
        place = path if storage.scheme(path) else os.path.realpath(path)
        if place in seen:
            also = f" as {seen[place]!r}" if seen[place] != path else ""
            raise _problem(path, f"which is named twice{also}", "different directories")
        seen[place] = path


def _problem(path: str, why: str, expected: str = "the directory of a training, or a folder of"
             " them") -> ConfigError:
    return ConfigError(Problem(
        "model_dir", path, why, expected,
        worded("estimator-trainer report /tmp/digits", "model_dir='/tmp/digits'"),
        worded("the command line", "model_dir=")))


def _listed(folder: str) -> Sequence[str]:
    try:
        names: Sequence[str] = tf.io.gfile.listdir(folder)
        return names
    except (tf.errors.NotFoundError, tf.errors.FailedPreconditionError):
        return []
    except tf.errors.OpError as error:
        raise ConfigError(run_files.not_a_training(
            folder, f"which cannot be read: {first_line(error)}")) from error


def _has_training(names: Sequence[str]) -> bool:
    return any(name in _OF_TRAINING or name.startswith(_EVENTS) for name in names)
