"""Explains the error of a model_fn that asks for a feature that the input_fn does not yield."""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import re
import traceback
from typing import Any, Iterator, Mapping

from estimator_trainer import errors

_COLUMN = re.compile(r"Feature (\S+) is not in features dictionary")
_UNKNOWN = object()


@contextlib.contextmanager
def explained(features: Any, model_fn: str) -> Iterator[None]:
    """Raises ConfigError in place of the error about a feature that is not there.

    Args:
      features: The features that the model_fn gets within.
      model_fn: The name of the model_fn, for the message.
    """
    try:
        yield
    except (KeyError, ValueError) as error:
        name = _missing(error, features) if isinstance(features, dict) else ""
        if not name:
            raise
        there = sorted(map(str, features))
        raise errors.ConfigError(
            f"model_fn {model_fn!r} asks for the feature {name!r}{_place(error)}, and the input_fn"
            f" yields {', '.join(there)}.{errors.near_match(name, there)}"
            " Take a model_fn and an input_fn that go together, or name the feature by a param of"
            " theirs. To see both: estimator-trainer check --probe") from error


def _place(error: BaseException) -> str:
    """Returns the line of code that asks."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f" ({frame.filename}, line {frame.lineno}: `{frame.line}`)"


def _missing(error: BaseException, features: dict[str, Any]) -> str:
    """Returns the name of the feature that is missing; "" if the error is about something else."""
    column = _COLUMN.search(str(error))
    if column:
        name = column[1].strip("'\".")
        return name if name not in features and _has_columns_of(error, features) else ""
    key = error.args[0] if type(error) is KeyError and error.args else None
    if not isinstance(key, str) or key in features:
        return ""
    return key if _is_looked_up(error, key, features) else ""


def _has_columns_of(error: BaseException, features: dict[str, Any]) -> bool:
    """Returns whether feature columns were applied to `features`, and not to another dict."""
    given = [frame.f_locals["features"] for frame, _ in traceback.walk_tb(error.__traceback__)
             if "features" in frame.f_locals]
    return bool(given) and _is_same(given[-1], features)


def _is_looked_up(error: BaseException, key: str, features: dict[str, Any]) -> bool:
    """Returns whether the line that raised KeyError looks up `key` in `features` alone.

    The error tells the key, and no dict; one line may look it up in two of them.
    """
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return False
    names = {**frame.f_globals, **frame.f_locals}
    asked = [_value(owner, names) for node in ast.walk(tree) for owner, index in _lookups(node)
             if owner.lineno <= line <= (index.end_lineno or line) and _value(index, names) == key]
    lacking = [each for each in asked if not isinstance(each, dict) or key not in each]
    return bool(lacking) and all(_is_same(each, features) for each in lacking)


def _lookups(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields what is looked into, and the key, of an expression such as `d["k"]`."""
    if isinstance(node, ast.Subscript):
        yield node.value, node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args and (
            node.func.attr in ("pop", "__getitem__")):
        yield node.func.value, node.args[0]


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Returns the value of a literal, a name or an attribute; _UNKNOWN for any other."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id, _UNKNOWN)
    if isinstance(node, ast.Attribute):
        return inspect.getattr_static(_value(node.value, names), node.attr, _UNKNOWN)
    return _UNKNOWN


def _is_same(found: Any, features: dict[str, Any]) -> bool:
    """Returns whether an object is `features`, or a copy of it."""
    return found is features or (
        isinstance(found, dict) and found.keys() == features.keys() and
        all(found[name] is value for name, value in features.items()))
