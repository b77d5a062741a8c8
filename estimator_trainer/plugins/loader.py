"""Finds and loads plug-ins: a name on the command line becomes a model_fn or an input_fn.

`find` only reads the source, so `check` and `list` need no TensorFlow; `load` imports the module.
"""

import ast
import functools
import inspect
import pathlib
import sys
import types
from typing import Any, Callable, Mapping, NamedTuple

from estimator_trainer import errors, storage
from estimator_trainer.plugins import importing, param_defaults, plugin as plugin_lib, source_files
from estimator_trainer.settings import length
from estimator_trainer.settings.trainer_config import TrainerConfig

ARGUMENTS = {kind: plugin_lib.KINDS[kind].arguments for kind in ("model_fn", "input_fn")}
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
    found = [path for folder in source_files.folders(plugin_lib.KINDS[kind].folder)
             for path in folder.glob("*.py")]
    return sorted({path.stem for path in found if not path.stem.startswith("_")})


def find(kind: str, name: str) -> plugin_lib.Plugin:
    """Finds the plug-in called `name` without importing it; raises ConfigError if it is not there.

    Args:
      kind: The name of the flag, such as "model_fn".
      name: A bare name (`cnn`), a dotted module (`my_team.models.ctr`) or a file
        (`./my_model.py`), each with an optional `:function`.
    """
    if is_kept(name):
        return plugin_of(kind, name)
    target, _, function = name.rpartition(":") if ":" in name else (name, "", "")
    if not storage.can_be_path(target):
        raise errors.ConfigError(errors.Problem(
            kind, name[:_MOST_SHOWN],
            f"a text of {len(name)} characters that no file can be called by",
            "the name of a plug-in, a dotted module or a file",
            errors.Setting(kind, f"./my_{kind}.py")))
    path: pathlib.Path | None
    is_file = target.endswith(".py") or "/" in target
    if is_file:
        path, module = source_files.file_of(target), pathlib.Path(target).stem
    elif "." in target:
        path, module = source_files.of_module(target), target
    else:
        module = f"{plugin_lib.KINDS[kind].folder}.{target}"
        path = source_files.of_module(module) if target.isidentifier() else None
    if path is None or not path.is_file():
        raise _not_found(kind, name, target)
    return _read(kind, name, module, path, function, is_file)


def load(plugin: plugin_lib.Plugin, is_other: Callable[[Any], bool] = lambda thing: False
         ) -> tuple[Any, types.ModuleType]:
    """Imports the plug-in; returns its function and its module, or raises ConfigError.

    `is_other` returns whether a thing has another shape than a function, which is not checked.
    """
    if plugin.thing is None:
        module = importing.module_of(plugin)
        function = getattr(module, plugin.function, None)
    else:
        module, function = module_of(plugin.thing), plugin.thing
    if is_other(function):
        return function, module
    if not callable(function):
        raise errors.ConfigError(errors.Problem(
            plugin.kind, plugin.name, f"but {plugin.function!r} in {plugin.path} is"
            f" {'missing' if function is None else 'not a function'}", "a function",
            errors.Setting(plugin.kind, f"{plugin.name.partition(':')[0]}:NAME")))
    _check_arguments(plugin, function)
    return function, module


def arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments `function` takes; `**kwargs` counts as all of them."""
    parameters = _parameters(function)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return tuple(dict.fromkeys(ARGUMENTS["model_fn"] + ARGUMENTS["input_fn"]))
    return tuple(p.name for p in parameters)


def call(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Calls `function` with the known arguments that it takes, by name."""
    parameters = _parameters(function)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    names = known if takes_all else [p.name for p in parameters if p.name in known]
    return function(**{name: known[name] for name in names})


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    # An argument that `functools.partial` has set is not passed again.
    bound = function.keywords if isinstance(function, functools.partial) else {}
    return [p for p in inspect.signature(function).parameters.values() if p.name not in bound]


def _not_found(kind: str, name: str, target: str) -> errors.ConfigError:
    known = available(kind)
    own_file = pathlib.Path(f"{target}.py")
    near = errors.nearest(target, known)
    stock = errors.Setting(kind, near or ("canned" if kind == "model_fn" else "csv"))
    example = (str(errors.Setting(kind, f"./{own_file}")) if own_file.is_file() else
               str(stock) if near else f"{stock}, or a module or file of your own:"
               f" {errors.Setting(kind, f'./my_{kind}.py')}")
    return errors.ConfigError(errors.Problem(
        kind, name, "and there is no such plug-in",
        f"one of {', '.join(known)}, a dotted module or a file", example,
        advice=errors.did_you_mean(near)))


def _read(kind: str, name: str, module: str, path: pathlib.Path, function: str,
          is_file: bool) -> plugin_lib.Plugin:
    try:
        tree = source_files.parsed(path)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise errors.ConfigError(errors.Problem(
            kind, name, f"but {path}{line} is not valid Python: {error.msg}")) from error
    names = source_files.bound_names(tree)
    function = function or plugin_lib.function(kind, names)
    if function not in names and "*" not in names:
        kinds = (ast.FunctionDef, ast.ClassDef) if kind == "model_fn" else (ast.FunctionDef,)
        defined = sorted({n.name for n in source_files.module_level(tree) if isinstance(n, kinds)})
        raise errors.ConfigError(errors.Problem(
            kind, name, f"but {path} defines no {function!r}",
            f"one of {', '.join(defined) or '(it defines no function)'}",
            errors.Setting(kind, f"{name.partition(':')[0]}:{defined[0] if defined else 'NAME'}")))
    doc = (ast.get_docstring(tree) or "").partition("\n")[0]
    declared = functools.partial(param_defaults.declared, tree, path)
    return plugin_lib.Plugin(
        kind, name, module, str(path), function, is_file, param_defaults.read(tree, path), doc,
        declared("FREE_PARAMS", ()), declared("GLOBAL_BATCH_PARAM", ""),
        declared("OLDER_PARAMS", {}), declared("TRAINS_UNTIL", "", length.RULES),
        declared("INSPECTION", ""), declared("DATA", ""), declared("LABELS", ()),
        declared("FIRST_PARAMS", ()))


def _check_arguments(plugin: plugin_lib.Plugin, function: Callable[..., Any]) -> None:
    if not inspect.isclass(function):
        check_function(plugin, function)
        return
    missing = [name for name in _REQUIRED_METHODS if not hasattr(function, name)]
    if plugin.kind != "model_fn" or missing:
        is_model = plugin.kind == "model_fn"
        raise errors.ConfigError(errors.Problem(
            plugin.kind, plugin.name, f"and {plugin.function!r} in {plugin.path} is a class"
            + f" without {' and '.join(missing)}" * is_model,
            "a function" + f", or a class with {' and '.join(_REQUIRED_METHODS)}" * is_model))
    for name, allowed in METHODS.items():
        if hasattr(function, name) and getattr(function, name) is not object.__init__:
            check_function(plugin, getattr(function, name), ("self", *allowed))


def check_function(plugin: plugin_lib.Plugin, function: Callable[..., Any],
                   allowed: tuple[str, ...] = ()) -> None:
    """Raises ConfigError if a function needs more than the Estimator passes, or `allowed` says."""
    allowed = allowed or plugin_lib.KINDS[plugin.kind].arguments
    unknown = [p.name for p in inspect.signature(function).parameters.values()
               if p.name not in allowed and p.default is p.empty and
               p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    if unknown:
        raise errors.ConfigError(
            f"{plugin.kind} {plugin.name!r} ({plugin.path}) takes {', '.join(unknown)}, which the"
            f" Estimator does not pass; expected some of {', '.join(allowed)}. For example:"
            f" def {getattr(function, '__name__', plugin.function)}({', '.join(allowed[:3])}): ...")


class InputPlugins(NamedTuple):
    """The plug-ins that read the data.

    Attributes:
      evaluation: The plug-in whose input_fn is called to evaluate and to predict.
      training: The plug-in whose input_fn is called to train, or None if it is the same.
      serving: The plug-in of the serving_input_receiver_fn that a flag names, or None.
    """

    evaluation: plugin_lib.Plugin
    training: plugin_lib.Plugin | None
    serving: plugin_lib.Plugin | None


def find_inputs(config: TrainerConfig, is_training: bool) -> InputPlugins:
    """Finds the plug-ins of --input_fn, --train_input_fn, --eval_input_fn and --serving_input_fn.

    Raises:
      ConfigError: if a plug-in is not there, or a mode would use the example's data.
    """
    train, evaluate = config.train_input_fn, config.eval_input_fn
    there, lacking = (("train", "eval") if train else ("eval", "train"))
    has_one = bool(train) != bool(evaluate) and (is_training or bool(train))
    if has_one and config.input_fn == type(config).input_fn:
        raise errors.ConfigError(errors.Problem(
            f"{there}_input_fn", train or evaluate, "and nothing names the data of the other mode"
            f" (no {errors.Setting(f'{lacking}_input_fn')})",
            example=errors.Setting(f"{lacking}_input_fn", train or evaluate)))
    both = functools.partial(find, "input_fn", config.input_fn)
    return InputPlugins(
        find("eval_input_fn", evaluate) if evaluate else both(),
        find("train_input_fn", train) if train else both() if has_one else None,
        find("serving_input_fn", config.serving_input_fn) if config.serving_input_fn else None)


_objects: dict[str, Any] = {}


def keep(thing: Any) -> str:
    """Keeps an object, in place of an earlier one of its name, and returns that name."""
    named = _named(thing)
    name = f"{named.__module__}:{named.__qualname__}"
    _objects[name] = thing
    return name


def is_kept(name: str) -> bool:
    """Returns whether an object of this name was passed."""
    return name in _objects


def plugin_of(kind: str, name: str) -> plugin_lib.Plugin:
    """Returns the plug-in that an object is; its module may add what a plug-in's module may."""
    thing = _objects[name]
    named, module = _named(thing), module_of(thing)
    try:
        path = inspect.getsourcefile(named) or ""
    except (TypeError, OSError):
        path = ""
    doc = (inspect.getdoc(named) or "").partition("\n")[0]
    return plugin_lib.Plugin(kind, name, module.__name__, path, named.__qualname__, False,
                             getattr(module, "DEFAULT_PARAMS", None), doc,
                             tuple(getattr(module, "FREE_PARAMS", ())),
                             getattr(module, "GLOBAL_BATCH_PARAM", ""),
                             dict(getattr(module, "OLDER_PARAMS", {})),
                             getattr(module, "TRAINS_UNTIL", ""),
                             getattr(module, "INSPECTION", ""), thing=thing)


def module_of(thing: Any) -> types.ModuleType:
    """Returns the module that an object was defined in, or one of what its code sees."""
    named = _named(thing)
    if named.__module__ in sys.modules:
        return sys.modules[named.__module__]
    module = types.ModuleType(named.__module__)
    vars(module).update(getattr(named, "__globals__", {}))
    return module


def _named(thing: Any) -> Any:
    """Returns the function or class that an object has its name from."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    return thing if hasattr(thing, "__qualname__") else type(thing)
