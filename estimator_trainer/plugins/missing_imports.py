"""Finds the modules that a plug-in imports and that are missing, without importing any."""

from __future__ import annotations

import ast
from importlib import machinery
import importlib.util
import pathlib
import sys

from estimator_trainer.plugins.plugin import Plugin


def problems(plugin: Plugin) -> list[str]:
    """Returns a sentence for each module that `plugin` needs at once and that is not installed.

    An import in a function, a `try` or an `if` may be meant to fail, so it does not count. Source
    that is no Python is told in a sentence too.
    """
    if plugin.thing is not None:
        return []  # It was imported before it was given.
    path = pathlib.Path(plugin.path)
    # The kind of code that a param names is "param NAME".
    source = "the command line" if plugin.kind == "script" else f"--{plugin.kind.split()[0]}"
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except (SyntaxError, UnicodeDecodeError) as error:
        return [f"{plugin.kind} is {plugin.name!r} (from {source}), but {path} is not valid Python:"
                f" {error}"]
    folder = str(path.parent if plugin.is_file else pathlib.Path.cwd())
    missing: dict[str, int] = {}
    for node in tree.body:
        for name in _top_names(node):
            if name not in missing and not _exists(name, folder):
                missing[name] = node.lineno
    return [
        f"{plugin.kind} is {plugin.name!r} (from {source}), and {path}, line {line},"
        f" imports {name!r}, which is not there; expected an installed module. Install the package"
        f" that has it for {sys.executable}, or put its folder on PYTHONPATH."
        for name, line in missing.items()
    ]


def _top_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.partition(".")[0]]
    return []


def _exists(name: str, folder: str) -> bool:
    if name in sys.modules or machinery.PathFinder.find_spec(name, [folder]):
        return True
    return importlib.util.find_spec(name) is not None
