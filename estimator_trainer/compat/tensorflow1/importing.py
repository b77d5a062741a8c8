"""Decides by the importing module which TensorFlow an import statement gets.

A library may import TensorFlow in a function, at any time. Python passes the importing module's
globals to `builtins.__import__`.
"""

from __future__ import annotations

import builtins
import functools
import importlib
from importlib import util
import pathlib
import sys
from types import ModuleType
from typing import Any, Mapping, Optional, Sequence

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
        home = _home(name)
        if not fromlist:
            if not private_modules.find(name):
                importlib.import_module(home)
            return tensorflow1
        return python_import(home, globals, locals, fromlist, 0)

    builtins.__import__ = import_


def _is_library(importer: Optional[Mapping[str, Any]]) -> bool:
    """Returns whether the module with these globals means TensorFlow 2."""
    if importer is None:
        return False
    package = str(importer.get("__name__", "")).partition(".")[0]
    if package in _PLUGINS:
        return str(importer.get("__file__", "")).startswith(_PLUGINS[package])
    return package in _LIBRARIES


@functools.lru_cache(maxsize=None)
def _home(name: str) -> str:
    """Returns the module that has TensorFlow 1's version of `name`, `name` itself by default."""
    child = name.partition(".")[2]
    if child.partition(".")[0] in ("compat", "contrib", "core", "python"):
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
