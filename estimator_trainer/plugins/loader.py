"""Finds and loads plug-ins: a name on the command line becomes a model_fn or an input_fn.

`find` reads a module's source without importing it, so `check` and `list` need no TensorFlow and
a mistake shows at once; `load` imports it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import pathlib
import types
from typing import Any, Callable, Mapping

from estimator_trainer import errors
from estimator_trainer import storage
from estimator_trainer.plugins import bound_names
from estimator_trainer.plugins import importing
from estimator_trainer.plugins import param_defaults
from estimator_trainer.plugins import passed_objects
from estimator_trainer.plugins import plugin_kinds
from estimator_trainer.plugins import source_files
from estimator_trainer.plugins.plugin import Plugin

ARGUMENTS = {kind: plugin_kinds.ARGUMENTS[kind] for kind in ("model_fn", "input_fn")}
# These go to the methods of a class in a model_fn's place; see estimator/model_class.py.
METHODS = {
    "__init__": ("mode", "params", "config"),
    "build_model": (*ARGUMENTS["model_fn"], "global_step", "is_chief", "sync", "num_replicas"),
    "get_init_fn": ("checkpoint_path",),
    "train": ("session", "num_global_step", "global_step", "is_chief"),
    "after_train": ("session", "is_chief"),
}
_REQUIRED_METHODS = ("build_model", "train")
_MOST_SHOWN = 80


def available(kind: str) -> list[str]:
    """Returns the bare names of the project's own plug-ins of this kind, sorted."""
    found = [path for folder in source_files.folders(plugin_kinds.folder(kind))
             for path in folder.glob("*.py")]
    return sorted({path.stem for path in found if not path.stem.startswith("_")})


def find(kind: str, name: str) -> Plugin:
    """Finds the plug-in called `name` without importing it.

    Args:
      kind: The name of the flag, such as "model_fn".
      name: A bare name (`cnn`), a dotted module (`my_team.models.ctr`) or a file
        (`./my_model.py`), each with an optional `:function`.

    Raises:
      ConfigError: if there is no such module or function, or its source does not parse.
    """
    if passed_objects.is_kept(name):
        return passed_objects.plugin_of(kind, name)
    target, _, function = name.rpartition(":") if ":" in name else (name, "", "")
    if not storage.can_be_path(target):
        raise errors.ConfigError(
            f"{kind} is {name[:_MOST_SHOWN]!r} (from --{kind}), a text of {len(name)} characters"
            " that no file can be called by; expected the name of a plug-in, a dotted module or a"
            f" file. For example: --{kind}=./my_{kind}.py")
    path: pathlib.Path | None
    is_file = target.endswith(".py") or "/" in target
    if is_file:
        path, module = file_of(target), pathlib.Path(target).stem
    elif "." in target:
        path, module = source_files.of_module(target), target
    else:
        module = f"{plugin_kinds.folder(kind)}.{target}"
        path = source_files.of_module(module) if target.isidentifier() else None
    if path is None or not path.is_file():
        raise errors.ConfigError(_not_found(kind, name, target))
    return _read(kind, name, module, path, function, is_file)


def load(plugin: Plugin, is_other: Callable[[Any], bool] = lambda thing: False
         ) -> tuple[Any, types.ModuleType]:
    """Imports the plug-in.

    Args:
      plugin: The plug-in.
      is_other: Returns whether what its name stands for has another shape, which is not checked.

    Returns:
      The function and its module.

    Raises:
      ConfigError: if the import fails, or the function is missing or takes what the Estimator
        does not pass.
    """
    if plugin.thing is None:
        module = importing.module_of(plugin)
        function = getattr(module, plugin.function, None)
    else:
        module, function = passed_objects.module_of(plugin.thing), plugin.thing
    if is_other(function):
        return function, module
    if not callable(function):
        raise errors.ConfigError(
            f"{plugin.kind} is {plugin.name!r} (from --{plugin.kind}), but {plugin.function!r} in"
            f" {plugin.path} is {'missing' if function is None else 'not a function'}; expected"
            f" a function. For example: --{plugin.kind}={plugin.name.rpartition(':')[0]}:NAME")
    _check_arguments(plugin, function)
    return function, module


def arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments `function` takes; `**kwargs` counts as all of them."""
    parameters = _parameters(function)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return tuple(dict.fromkeys(ARGUMENTS["model_fn"] + ARGUMENTS["input_fn"]))
    return tuple(p.name for p in parameters)


def call(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Calls `function` with those of the known arguments that it takes, by name."""
    parameters = _parameters(function)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    names = known if takes_all else [p.name for p in parameters if p.name in known]
    return function(**{name: known[name] for name in names})


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Returns the parameters of a function but those that `functools.partial` has given."""
    given = function.keywords if isinstance(function, functools.partial) else {}
    return [p for p in inspect.signature(function).parameters.values() if p.name not in given]


def file_of(target: str) -> pathlib.Path:
    """Returns the file that a flag names, or the copy that a job has brought along."""
    path = pathlib.Path(target).absolute()
    copies = [folder / source_files.packed_place(target)
              for folder in source_files.folders(source_files.PACKED)]
    return next((copy for copy in [path, *copies] if copy.is_file()), path)


def _not_found(kind: str, name: str, target: str) -> str:
    known = available(kind)
    own_file = pathlib.Path(f"{target}.py")
    advice = (f"--{kind}=./{own_file}" if own_file.is_file() else
              f"--{kind}={known[0]}, or a module or file of your own: --{kind}=./my_{kind}.py")
    return (f"{kind} is {name!r} (from --{kind}), and there is no such plug-in; expected one of"
            f" {', '.join(known)}, a dotted module or a file."
            f"{errors.near_match(target, known)} For example: {advice}")


def _read(kind: str, name: str, module: str, path: pathlib.Path, function: str,
          is_file: bool) -> Plugin:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except (SyntaxError, UnicodeDecodeError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise errors.ConfigError(
            f"{kind} is {name!r} (from --{kind}), but {path}{line} is not valid Python:"
            f" {error.msg if isinstance(error, SyntaxError) else error}") from error
    names = bound_names.of(tree)
    function = function or plugin_kinds.function(kind, names)
    if function not in names and "*" not in names:
        kinds = (ast.FunctionDef, ast.ClassDef) if kind == "model_fn" else (ast.FunctionDef,)
        defined = sorted(n.name for n in tree.body if isinstance(n, kinds))
        raise errors.ConfigError(
            f"{kind} is {name!r} (from --{kind}), but {path} defines no {function!r}; expected"
            f" one of {', '.join(defined) or '(it defines no function)'}. For example:"
            f" --{kind}={name.partition(':')[0]}:{defined[0] if defined else 'NAME'}")
    doc = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Plugin(kind, name, module, str(path), function, is_file,
                  param_defaults.read(tree, path), doc,
                  param_defaults.declared(tree, path, "FREE_PARAMS", ()),
                  param_defaults.declared(tree, path, "GLOBAL_BATCH_PARAM", ""))


def _check_arguments(plugin: Plugin, function: Callable[..., Any]) -> None:
    if not inspect.isclass(function):
        check_function(plugin, function)
        return
    missing = [name for name in _REQUIRED_METHODS if not hasattr(function, name)]
    if plugin.kind != "model_fn" or missing:
        raise errors.ConfigError(
            f"{plugin.kind} is {plugin.name!r} (from --{plugin.kind}), and {plugin.function!r} in"
            f" {plugin.path} is a class" +
            (f" without {' and '.join(missing)}; expected a function, or a class with"
             f" {' and '.join(_REQUIRED_METHODS)}." if plugin.kind == "model_fn" else
             "; expected a function."))
    for name, allowed in METHODS.items():
        if hasattr(function, name) and getattr(function, name) is not object.__init__:
            check_function(plugin, getattr(function, name), ("self", *allowed))


def check_function(plugin: Plugin, function: Callable[..., Any],
                   allowed: tuple[str, ...] = ()) -> None:
    """Raises ConfigError if a function needs more than the Estimator passes, or `allowed` says."""
    allowed = allowed or plugin_kinds.ARGUMENTS[plugin.kind]
    unknown = [
        p.name for p in inspect.signature(function).parameters.values()
        if p.name not in allowed and p.default is p.empty and
        p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    if unknown:
        raise errors.ConfigError(
            f"{plugin.kind} {plugin.name!r} ({plugin.path}) takes {', '.join(unknown)}, which the"
            f" Estimator does not pass; expected some of {', '.join(allowed)}. For example:"
            f" def {getattr(function, '__name__', plugin.function)}({', '.join(allowed[:3])}): ...")
