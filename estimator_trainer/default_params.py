"""DEFAULT_PARAMS of a module, read without importing it."""

from __future__ import annotations

import ast
import pathlib
from typing import Any

from estimator_trainer import errors
from estimator_trainer import sources

_NAME = "DEFAULT_PARAMS"


def read(tree: ast.Module, path: pathlib.Path) -> dict[str, Any] | None:
    """Returns the dict, or None if the module has none.

    Its entries are plain values, or `**other.DEFAULT_PARAMS` of a module that this one imports.

    Raises:
      ConfigError: if it is anything else.
    """
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == _NAME:
            try:
                return _evaluate(node.value, tree)  # type: ignore[attr-defined]
            except (ValueError, OSError, SyntaxError) as error:
                raise errors.ConfigError(
                    f"{_NAME} in {path}, line {node.lineno}, is not a literal dict; expected names"
                    " and plain values, or **other.DEFAULT_PARAMS of an imported module, which can"
                    " be read without importing any. For example: DEFAULT_PARAMS ="
                    ' {"learning_rate": 0.1}') from error
    return None


def _evaluate(value: ast.expr, tree: ast.Module) -> dict[str, Any]:
    if not isinstance(value, ast.Dict):
        raise ValueError("no dict")
    params: dict[str, Any] = {}
    for key, entry in zip(value.keys, value.values):
        if key is None:
            params |= _of_import(entry, tree)
        else:
            params[ast.literal_eval(key)] = ast.literal_eval(entry)
    return params


def _of_import(value: ast.expr, tree: ast.Module) -> dict[str, Any]:
    """Returns the DEFAULT_PARAMS that `module.DEFAULT_PARAMS` stands for."""
    if not (isinstance(value, ast.Attribute) and value.attr == _NAME and
            isinstance(value.value, ast.Name)):
        raise ValueError(f"not of the form module.{_NAME}")
    module = _imports(tree).get(value.value.id, "")
    path = sources.of_module(module) if module else None
    params = read(ast.parse(path.read_text(encoding="utf-8")), path) if path else None
    if params is None:
        raise ValueError(f"{value.value.id} is no imported module with {_NAME}")
    return params


def _imports(tree: ast.Module) -> dict[str, str]:
    """Returns the dotted name of each module that the top level imports, by the name it has."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}"
                      for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
    return found
