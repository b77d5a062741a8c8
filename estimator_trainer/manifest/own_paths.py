"""Finds paths in a job's flags, params and arguments that the job's tasks cannot open."""

import os
import re
import shlex
from typing import Iterable, Iterator, Mapping

from estimator_trainer.errors import Param, Problem, Setting
from estimator_trainer.plugins import param_defaults, source_files
from estimator_trainer.plugins.eval_sets import EvalSet

# A folder of the system is in every image; a lone `/name` may be a pattern or part of a URL.
_OF_IMAGE = ("/bin/", "/dev/", "/etc/", "/lib/", "/opt/", "/proc/", "/run/", "/sys/", "/usr/")
_ABSOLUTE = re.compile(r"~?/[^/\s]+(/[^/\s]+)*/?")
_GLOB = re.compile(r"[*?\[]")


def warnings(params: Mapping[str, str], settings: Mapping[str, str],
             script: source_files.Script | None, mount: str, advice: str,
             eval_sets: Iterable[EvalSet] = ()) -> Iterator[Problem]:
    """Yields a problem for each path that only this machine has, or that nothing mounts.

    Args:
      params: The texts of params that the user sets, by key.
      settings: The values of flags that name files, by flag.
      script: The script, whose arguments are read too.
      mount: The directory that all tasks share, or "".
      advice: The words of the platform before "a bucket".
      eval_sets: The further sets of evaluation data, whose params are read too.
    """
    for key, value in params.items():
        for path in () if param_defaults.code_of({key: value}) else _own(value, mount):
            yield Problem(f"param {key}", value, _why(path), f"{advice}a bucket",
                          f"-- {Param(key, _in_bucket(value, path))}", Param(key))
    for each in eval_sets:
        for value in filter(lambda value: isinstance(value, str), each.values.values()):
            for path in _own(value, mount):
                example = Setting("eval_set", _in_bucket(str(each), path))
                yield Problem("eval_set", str(each), _why(path), f"{advice}a bucket",
                              f"-- {example}")
    for name, value in settings.items():
        for path in _own(value, mount):
            yield Problem(name, value, _why(path), f"{advice}a bucket",
                          f"-- {Setting(name, _in_bucket(value, path))}")
    for word in script.arguments if script else ():
        flag, equals, value = word.partition("=")
        if not (equals and flag.startswith("-")):
            value = word
        for path in _own(value, mount):
            yield Problem("an argument of the script", word, _why(path), f"{advice}a bucket",
                          shlex.quote(_in_bucket(word, path)), "the words after `--`")


def _own(value: str, mount: str) -> list[str]:
    """Returns the first of the paths in a value that no task can open, or none."""
    return [part for part in map(str.strip, value.split(",")) if _is_own(part, mount)][:1]


def _why(path: str) -> str:
    if not _exists(path):
        return ("which nothing mounts: a task finds nothing there, and what it writes is lost with"
                " its container")
    is_folder = os.path.isdir(os.path.expanduser(path))
    return f"{'a folder' if is_folder else 'a file'} of this machine, which the job does not pack"


def _in_bucket(value: str, path: str) -> str:
    return value.replace(path, "gs://bucket/" + path.rstrip("/").rpartition("/")[2], 1)


def _is_own(path: str, mount: str) -> bool:
    """Returns whether no task can open what may be a path."""
    if "://" in path or mount and f"{path}/".startswith(f"{mount.rstrip('/')}/"):
        return False
    if path.startswith(("/", "~")):
        is_path = bool(_ABSOLUTE.fullmatch(path)) and not path.startswith(_OF_IMAGE)
        return is_path and (path.rstrip("/").count("/") > 1 or _exists(path))
    # Code is packed, and a word without a dot or slash is hardly meant as a file.
    return ("/" in path or "." in path) and not path.endswith(".py") and _exists(path)


def _exists(path: str) -> bool:
    """Returns whether this machine has a path, or the folder of a pattern."""
    local = os.path.expanduser(path)
    if _GLOB.search(os.path.basename(local)):
        folder = os.path.dirname(local)
        return bool(folder) and os.path.isdir(folder)
    return local not in (".", "..", "/") and os.path.exists(local)
