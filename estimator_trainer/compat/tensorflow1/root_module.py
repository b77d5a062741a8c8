"""The module that a program of TensorFlow 1 gets by `import tensorflow`."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from estimator_trainer.compat.tensorflow1 import namespace, private_modules

# Programs choose names and calls by the version, and get those of this one.
VERSION = "1.15.5"
# Packages of TensorFlow 1 that `tf.compat.v1` lacks.
_PACKAGES = ("core", "examples", "python")


class _Tensorflow1(ModuleType):
    """The names of `tf.compat.v1`, `contrib`, and the packages that are imported by name."""

    def __init__(self, tensorflow: ModuleType) -> None:
        super().__init__("tensorflow", "TensorFlow 1's names, by estimator_trainer.compat.tf1.")
        self.__file__ = tensorflow.__file__
        self.__path__ = tensorflow.__path__
        self.__spec__ = tensorflow.__spec__
        self.__version__ = self.VERSION = VERSION
        self.compat: Any = tensorflow.compat
        self.contrib = namespace.contrib()

    def __getattr__(self, name: str) -> Any:
        if name == "python":
            return private_modules.package("tensorflow.python")
        if name in _PACKAGES:
            return importlib.import_module(f"tensorflow.{name}")
        return getattr(self.compat.v1, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.compat.v1), *_PACKAGES})


def module() -> ModuleType:
    """Returns the module, and turns on TensorFlow 1's behaviour."""
    tensorflow = importlib.import_module("tensorflow")
    tensorflow.compat.v1.disable_v2_behavior()
    return _Tensorflow1(tensorflow)
