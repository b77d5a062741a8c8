"""Code that a param names, as keras_model=./my_model.py:build or keras_model=my_team.models:build.

A job brings it to other machines beside its plug-ins. Whether a value names code is told by its
form, and by whether there is such a file or module.
"""

from __future__ import annotations

import ast
import pathlib
import re
import sys
from typing import Any, Mapping

from estimator_trainer import redaction
from estimator_trainer.plugins import source_files
from estimator_trainer.plugins.plugin import Plugin

_FILE = re.compile(r"(.+\.py):([A-Za-z_]\w*)")
_MODULE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")


def of(params: Mapping[str, Any]) -> list[Plugin]:
    """Returns the code that params name, as plug-ins to be packed; what Python brings is none."""
    found = (_plugin(key, value) for key, value in params.items() if isinstance(value, str))
    return [plugin for plugin in found if plugin]


def problems(params: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each param that names code which is not there.

    Args:
      params: The params.
      defaults: Their defaults; a param names code if its default does.
    """
    found = {key: _problem(value) for key, value in params.items()
             if isinstance(value, str) and _names_code(value, defaults.get(key))}
    return [f"param {key} is {redaction.masked(key, params[key])!r} (from --param), {problem};"
            f" expected MODULE:NAME or FILE.py:NAME. For example: --param {key}=./my_model.py:build"
            for key, problem in found.items() if problem]


def resolved(value: Any) -> Any:
    """Returns a param's value; of a file that a job has brought along it names the copy."""
    match = _FILE.fullmatch(value) if isinstance(value, str) else None
    if not match or pathlib.Path(match[1]).is_file():
        return value
    path = source_files.file_of(match[1])
    return f"{path}:{match[2]}" if path.is_file() else value


def _problem(value: str) -> str:
    """Returns what is wrong with the code that a value names, "" for nothing."""
    path = _path(value)
    if path is None:
        return f"and there is no such {'file' if _FILE.fullmatch(value) else 'module'}"
    try:
        names = source_files.of(ast.parse(path.read_text(encoding="utf-8"), str(path)))
    except (SyntaxError, UnicodeDecodeError):
        return ""  # `missing_imports` says so.
    name = value.rpartition(":")[2]
    # A module may import all of another, or make a name when it is asked for.
    return "" if names & {name, "*", "__getattr__"} else f"but {path} defines no {name!r}"


def _names_code(value: str, default: Any) -> bool:
    is_by_default = isinstance(default, str) and bool(_path(default))
    return bool(_FILE.fullmatch(value) or is_by_default and _MODULE.fullmatch(value))


def _path(value: str) -> pathlib.Path | None:
    """Returns the source that a value names, or None."""
    match = _FILE.fullmatch(value)
    if match:
        path = source_files.file_of(match[1])
        return path if path.is_file() else None
    match = _MODULE.fullmatch(value)
    return source_files.of_module(match[1]) if match else None


def _plugin(key: str, value: str) -> Plugin | None:
    path = _path(value)
    if path is None:
        return None
    target, _, name = value.rpartition(":")
    is_file = target.endswith(".py")
    if not is_file and target.partition(".")[0] in sys.stdlib_module_names:
        return None
    module = pathlib.Path(target).stem if is_file else target
    return Plugin(f"param {key}", value, module, str(path), name, is_file, None, "")
