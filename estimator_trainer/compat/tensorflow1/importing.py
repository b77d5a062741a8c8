"""Decides by the importing module which TensorFlow an import statement gets.

A library may import TensorFlow in a function, at any time. Python passes the importing module's
globals to `builtins.__import__`; those of a caller of `importlib.import_module` are its frame's.
"""

from __future__ import annotations

import builtins
import functools
import importlib
from importlib import util
import pathlib
import sys
from types import ModuleType
from typing import Any, Callable, Mapping, Optional, Sequence

from estimator_trainer.compat.tensorflow1 import private_modules

# Top-level packages to which `tensorflow` means TensorFlow 2, though programs import them.
_LIBRARIES = frozenset((
    "adanet", "array_record", "deepctr", "easy_rec", "estimator_trainer", "etils", "keras",
    "keras_cv", "keras_hub", "keras_nlp", "keras_tuner", "tensorboard",
    "tensorboard_plugin_profile", "tensorflow", "tensorflow_addons", "tensorflow_cloud",
    "tensorflow_datasets", "tensorflow_estimator", "tensorflow_gan", "tensorflow_hub",
    "tensorflow_io", "tensorflow_metadata", "tensorflow_model_optimization",
    "tensorflow_probability", "tensorflow_ranking", "tensorflow_recommenders",
    "tensorflow_text", "tensorflow_transform", "tensorflowonspark", "tf2onnx", "tf_keras",
    "tf_slim", "transformers"))
# Packages of `tensorflow` that are no part of its public names.
_PACKAGES = ("compat", "contrib", "core", "python")
_ROOT = pathlib.Path(__file__).parents[3]
# Packages beside this one; a user's own of that name are programs.
_PLUGINS = {name: str(_ROOT / name) for name in ("model_fns", "input_fns")}


def install(tensorflow1: ModuleType) -> None:
    """Makes `import tensorflow` mean `tensorflow1` in all modules except libraries."""
    python_import = builtins.__import__

    def import_(name: str, globals: Optional[Mapping[str, Any]] = None,
                locals: Optional[Mapping[str, Any]] = None,
                fromlist: Optional[Sequence[str]] = (), level: int = 0) -> ModuleType:
        if (not name.startswith("tensorflow") or level or name.partition(".")[0] != "tensorflow"
                or _is_library(globals)):
            return python_import(name, globals, locals, fromlist or (), level)
        if name == "tensorflow":
            return tensorflow1
        if name.startswith("tensorflow.python") and fromlist and (
                private_modules.find(name) or private_modules.contains(name)):
            return _with_children(private_modules.package(name), fromlist)
        public = _public(tensorflow1, name)
        if public is not None:
            return _with_names(public, fromlist) if fromlist else tensorflow1
        home = _home(name)
        if home == name and name.split(".")[1] not in _PACKAGES and not _is_found(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if not fromlist:
            if not private_modules.find(name):
                importlib.import_module(home)
            return tensorflow1
        return python_import(home, globals, locals, fromlist, 0)

    builtins.__import__ = import_
    importlib.import_module = _import_module(import_)


def _import_module(import_: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
    """Returns `importlib.import_module` that imports as an import statement of its caller does."""
    python_import_module = importlib.import_module

    @functools.wraps(python_import_module)
    def import_module(name: str, package: Optional[str] = None) -> ModuleType:
        importer = sys._getframe(1).f_globals  # pylint: disable=protected-access
        full_name = util.resolve_name(name, package)
        if full_name.partition(".")[0] != "tensorflow" or _is_library(importer):
            return python_import_module(name, package)
        return import_(full_name, importer, None, ("__name__",) if "." in full_name else ())

    return import_module


def _is_library(importer: Optional[Mapping[str, Any]]) -> bool:
    """Returns whether the module with these globals means TensorFlow 2."""
    if importer is None:
        return False
    package = str(importer.get("__name__", "")).partition(".")[0]
    if package in _PLUGINS:
        return str(importer.get("__file__", "")).startswith(_PLUGINS[package])
    return package in _LIBRARIES


def _public(tensorflow1: ModuleType, name: str) -> Optional[ModuleType]:
    """Returns the module that a program has by a path such as `tensorflow.nn`; None without one.

    By its path, an import would make a second module, in which TensorFlow 1's names are not put
    back, and which the program would have in the first one's place from then on.
    """
    parts = name.split(".")[1:]
    if parts[0] in _PACKAGES and parts[:2] != ["compat", "v1"]:
        return None
    value: Any = tensorflow1
    for part in parts:
        value = getattr(value, part, None)
    return value if isinstance(value, ModuleType) else None


def _with_names(module: ModuleType, names: Sequence[str]) -> ModuleType:
    """Returns a module of which `import *` finds the names, also where they are loaded late."""
    if "*" in names and type(module) is not ModuleType:
        return private_modules.without_modules(module)
    return module


@functools.lru_cache(maxsize=None)
def _home(name: str) -> str:
    """Returns the module that has TensorFlow 1's version of `name`, `name` itself by default."""
    child = name.partition(".")[2]
    if child.partition(".")[0] in _PACKAGES:
        return name
    home = f"tensorflow.compat.v1.{child}"
    return home if home in sys.modules or _is_found(home) else name


def _with_children(package: ModuleType, names: Sequence[str]) -> ModuleType:
    """Returns a package after those of its modules are imported that an import names."""
    if "*" in names:
        return private_modules.without_modules(package)
    for name in names:
        if not hasattr(package, name):
            raise ImportError(f"cannot import name {name!r} from {package.__name__!r}", name=name)
    return package


def _is_found(name: str) -> bool:
    try:
        return bool(name) and util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
