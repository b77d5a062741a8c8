"""The module that a program of TensorFlow 1 gets by `import tensorflow`."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from estimator_trainer.compat.tensorflow1 import namespace

# Programs choose their way by it, and this is the way of what they get.
VERSION = "1.15.5"
# What TensorFlow 1 has at the top and `tf.compat.v1` has not.
_PACKAGES = ("core", "examples", "python")


class _Tensorflow1(ModuleType):
    """It has what `tf.compat.v1` has, `contrib`, and the packages that are imported by name."""

    def __init__(self, tensorflow: ModuleType) -> None:
        super().__init__("tensorflow", "TensorFlow 1's names, by estimator_trainer.compat.tf1.")
        self.__file__ = tensorflow.__file__
        self.__path__ = tensorflow.__path__
        self.__spec__ = tensorflow.__spec__
        self.__version__ = self.VERSION = VERSION
        self.compat: Any = tensorflow.compat
        self.contrib = namespace.contrib()

    def __getattr__(self, name: str) -> Any:
        if name in _PACKAGES:
            return importlib.import_module(f"tensorflow.{name}")
        return getattr(self.compat.v1, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.compat.v1), *_PACKAGES})


def module() -> ModuleType:
    """Returns the module, TensorFlow 1's behaviour chosen."""
    tensorflow = importlib.import_module("tensorflow")
    tensorflow.compat.v1.disable_v2_behavior()
    return _Tensorflow1(tensorflow)
