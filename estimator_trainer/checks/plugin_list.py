"""Writes what `list` prints: the plug-ins, and the params that a user sets first, or all of one."""

import json
import pathlib
import textwrap
from typing import Any, Mapping, Sequence

from estimator_trainer import redaction
from estimator_trainer.errors import ConfigError, near_match, Problem
from estimator_trainer.plugins import loader, param_defaults
from estimator_trainer.plugins.plugin import Plugin

_TEXT_COLUMN = 36
_WIDTH = 100
# Params of a module that does not say which ones come first.
_MOST_FIRST = 4


def described(names: Sequence[str], as_json: bool) -> str:
    """Returns the plug-ins of these names with all params, or else all plug-ins with the first.

    Raises:
      ConfigError: if a name is not that of a plug-in.
    """
    found = [plugin for name in names for plugin in _named(name)] or [
        loader.find(kind, name) for kind in loader.ARGUMENTS for name in loader.available(kind)]
    declared = {each.path: param_defaults.read_docs(pathlib.Path(each.path)) for each in found}
    if as_json:
        return json.dumps([{
            "kind": p.kind, "name": p.name, "doc": p.doc, "path": p.path, "data": p.data,
            "labels": p.labels, "first_params": _first(p, declared[p.path]),
            "params": redaction.masked("", p.default_params),
            "texts": declared[p.path].texts} for p in found], indent=2)
    lines: list[str] = []
    for plugin in found:
        of_plugin = declared[plugin.path]
        first, params = _first(plugin, of_plugin), plugin.default_params or {}
        others = [] if not names else [key for key in params if key not in first]
        lines += [f"--{plugin.kind}={plugin.name}  {plugin.doc}", *_purpose(plugin),
                  *_params({key: params[key] for key in (*first, *others)}, of_plugin.texts)]
        left = len(params) - len(first) - len(others)
        if left:
            lines.append(f"    and {left} more: estimator-trainer list {plugin.name}")
    return "\n".join(lines)


def _named(name: str) -> list[Plugin]:
    """Returns the plug-ins of a name: there may be a model_fn and an input_fn."""
    known = [(kind, each) for kind in loader.ARGUMENTS for each in loader.available(kind)]
    kinds = [kind for kind, each in known if each == name]
    if kinds:
        return [loader.find(kind, name) for kind in kinds]
    problems: list[Problem | str] = []
    for kind in loader.ARGUMENTS:
        try:
            return [loader.find(kind, name)]
        except ConfigError as error:
            problems += error.problems
    if "/" in name or "." in name:
        raise ConfigError(problems[0])
    names = [each for _, each in known]
    raise ConfigError(Problem(
        "plug-in", name, "and there is none of this name",
        f"one of {', '.join(dict.fromkeys(names))}, a dotted module or a file",
        "estimator-trainer list", "the command line", advice=near_match(name, names)))


def _first(plugin: Plugin, declared: param_defaults.Declared) -> list[str]:
    """Returns the names of the params that a user sets first."""
    params = plugin.default_params or {}
    own = list(declared.own or params)[:_MOST_FIRST]
    return [key for key in plugin.first_params or own if key in params]


def _purpose(plugin: Plugin) -> list[str]:
    """Returns a line on the data, and on the labels that a model learns, if the module says so."""
    learned = f"learns {' or '.join(plugin.labels)}" if plugin.labels else ""
    data = f"{'for' if plugin.kind == 'model_fn' else 'reads'} {plugin.data}" if plugin.data else ""
    line = "; ".join(filter(None, [data, learned]))
    return [f"    {line}"] if line else []


def _params(values: Mapping[str, Any], texts: Mapping[str, str]) -> list[str]:
    lines = []
    for key, value in redaction.masked("", dict(values)).items():
        first, *more = textwrap.wrap(texts.get(key, ""), _WIDTH - _TEXT_COLUMN) or [""]
        lines.append(f"    {f'{key}={json.dumps(value)}':{_TEXT_COLUMN - 5}} {first}".rstrip())
        lines += [" " * _TEXT_COLUMN + line for line in more]
    return lines
