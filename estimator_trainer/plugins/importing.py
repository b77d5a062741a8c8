"""Imports the module of a plug-in, and parses the flags that it defines.

The flags are absl's; those of this program lie elsewhere (`settings/command_line.py`).
"""

import contextlib
import importlib
import importlib.util
import pathlib
import re
import sys
import traceback
import types
from typing import Any, Iterator, Sequence

from absl import logging

from estimator_trainer import errors, redaction
from estimator_trainer.plugins import source_files
from estimator_trainer.plugins.plugin import Plugin

# The module of each plug-in by name, and the sha256 of its source when it was imported.
_imported: dict[str, tuple[types.ModuleType, str]] = {}
_LIBRARIES = ("absl", "tensorflow", "tensorflow_datasets", "tensorboard", "tf_keras", "keras",
              "etils")


def forget_edited() -> None:
    """Drops imported plug-ins whose sources were edited: the next use imports them again."""
    for name, (module, sha256) in list(_imported.items()):
        if source_files.sha256(str(module.__file__)) != sha256:
            del _imported[name]
            if sys.modules.get(name) is module:
                del sys.modules[name]


def module_of(plugin: Plugin) -> types.ModuleType:
    """Imports the module of a plug-in; raises ConfigError if that fails."""
    is_new = plugin.module not in sys.modules
    module = _imported_now(plugin)
    if is_new and sys.modules.get(plugin.module) is module:
        _imported[plugin.module] = module, source_files.sha256(plugin.path)
    return module


def imported(name: str) -> types.ModuleType:
    """Imports a module that belongs to plug-ins, by its dotted name."""
    _join_packages()
    return importlib.import_module(name)


def _imported_now(plugin: Plugin) -> types.ModuleType:
    folder = str(pathlib.Path(plugin.path).parent if plugin.is_file else pathlib.Path.cwd())
    if folder not in sys.path:
        # The module can import its neighbours, as with `python my_model.py`.
        sys.path.append(folder)
    try:
        _join_packages()
        if not plugin.is_file:
            return importlib.import_module(plugin.module)
        loaded = sys.modules.get(plugin.module)
        if loaded is not None and getattr(loaded, "__file__", None) == plugin.path:
            return loaded
        spec = importlib.util.spec_from_file_location(plugin.module, plugin.path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(plugin.module, module)
        spec.loader.exec_module(module)
        return module
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        frame = next((f for f in reversed(frames) if f.filename == plugin.path), frames[-1])
        raise errors.ConfigError(
            f"{plugin.kind} is {plugin.name!r} (from --{plugin.kind}), but its import fails:"
            f" {type(error).__name__}: {error} ({frame.filename}, line {frame.lineno}:"
            f" `{frame.line}`){_tensorflow1_hint(error)}") from error


def _join_packages() -> None:
    """Imports the packages of plug-ins to hold the user's modules, which win, and ours."""
    for package in source_files.SHARED:
        module, spec = sys.modules.get(package), source_files.first_spec(package)
        if spec is None:
            continue
        if module is None:
            module = importlib.util.module_from_spec(spec)
            sys.modules[package] = module
            if spec.loader is not None:
                spec.loader.exec_module(module)
        module.__path__ = [str(folder) for folder in source_files.folders(package)]


_MISSING = re.compile(r"module '(tensorflow|tf_keras|keras)\S*' has no attribute '(\w+)'"
                      r"|No module named '(tensorflow\.contrib\S*)'")


def _tensorflow1_hint(error: BaseException) -> str:
    """Returns a sentence if `error` is what a program of TensorFlow 1 raises, else ""."""
    missing = _MISSING.search(str(error))
    version = str(getattr(sys.modules.get("tensorflow"), "__version__", ""))
    if not missing or version.startswith("1."):
        return ""
    return (f" If {missing[2] or missing[3]} is a name of TensorFlow 1, add"
            f" {errors.Setting('tf1', True)}, which gives programs the names and the behaviour of"
            " TensorFlow 1.")


@contextlib.contextmanager
def parsed_flags(words: Sequence[str]) -> Iterator[None]:
    """Parses the flags that modules define within, from `name=value`, or `name` of a boolean.

    Within, `sys.argv` has them, because a module may read it at its import. ConfigError is raised
    for an unknown flag, a wrong value, and a required flag that is missing.
    """
    import tensorflow as tf
    flags = tf.compat.v1.flags
    argv, sys.argv = sys.argv, [sys.argv[0], *(f"--{word}" for word in words)]
    # absl's own flag --verbosity sets it back to its default when values are forgotten.
    verbosity = logging.get_verbosity()
    try:
        _forget_values(flags.FLAGS)
        yield
        _forget_values(flags.FLAGS)
        flags.FLAGS(sys.argv)
    except flags.Error as error:
        raise errors.ConfigError(_flag_problem(error, flags.FLAGS)) from error
    finally:
        sys.argv = argv
        if not any(word.startswith("verbosity=") for word in words):
            logging.set_verbosity(verbosity)


def _forget_values(values: Any) -> None:
    """Undoes a parse by a module, which may not have had all flags."""
    if values.is_parsed():
        values.unparse_flags()


def _flag_problem(error: Exception, values: Any) -> str:
    source = errors.worded("after `--`, or from --plugin_flag", "from plugin_flag=")
    own = {flag.name: flag.help for module, defined in values.flags_by_module_dict().items()
           for flag in defined if module.partition(".")[0] not in _LIBRARIES}
    if unknown := getattr(error, "flagname", None):  # Only an UnrecognizedFlagError has it.
        near = errors.near_match(unknown, own).replace("'", "'--", 1)
        listed = ", ".join(f"--{name}" for name in sorted(own)) or "none, for they define no flags"
        return (f"flag --{unknown} ({source}) is unknown; expected flags of the plug-in's modules:"
                f" {listed}.{near} For example: {_example('NAME')}")
    if missing := re.match(r"flag --(\w+)=None: ", str(error)):
        name = missing[1]
        return (f"flag --{name} of the plug-in's modules is missing, and they need it"
                f" ({own.get(name, '')}). For example: {_example(name)}")
    return (f"a flag of the plug-in's modules ({source}) cannot be taken:"
            f" {redaction.masked_flags(str(error))}")


def _example(name: str) -> str:
    return errors.worded(f"-- --{name}=VALUE", f"plugin_flag=[{name + '=VALUE'!r}]")


def print_traceback(error: BaseException) -> None:
    """Prints the traceback of an error of the user's code, and the hint if it is of use."""
    errors.print_traceback(error)
    if hint := _tensorflow1_hint(error):
        print(f"estimator-trainer:{hint}", file=sys.stderr)
