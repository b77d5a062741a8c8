"""Modules of `tensorflow.python` that a program gets otherwise than they are installed.

TensorFlow kept copies of Keras and of `tf.layers` whose classes `tf.keras`, `tf.layers` and
`tf.nn.rnn_cell` do not accept; a program gets the modules of Keras 2 in their place. Names that
moved are found in the modules that had them.

Source: the modules of TensorFlow 1.15.5, listed by a walk through them
"""

from __future__ import annotations

import functools
import importlib
from importlib import util
import sys
from types import ModuleType
from typing import Any, Optional

from estimator_trainer.compat.tensorflow1 import homes
from estimator_trainer.compat.tensorflow1.private_names import KERAS, MODULES, NAMES

_PYTHON = "tensorflow.python"
_KERAS = f"{_PYTHON}.keras"


class _Module(ModuleType):
    """A module whose names are those of several modules, the first first."""

    def __init__(self, name: str, modules: tuple[Any, ...]) -> None:
        super().__init__(name)
        vars(self).update(_modules=modules, _replaced={}, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [each for each in dir(self) if not each.startswith("_")
                    and not isinstance(getattr(self, each, None), ModuleType)]
        if name.startswith("__"):
            raise AttributeError(name)
        full_name = f"{self.__name__}.{name}"
        if find(full_name) is not None or contains(full_name):
            return package(full_name)
        module = self._home(name)
        if module is not None:
            return getattr(module, name)
        home = NAMES.get(self.__name__.removeprefix(f"{_PYTHON}."), {}).get(name, full_name)
        try:
            return homes.resolve(_with_root(home))
        except (AttributeError, ImportError):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name,
                                 obj=self) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Replaces a name where TensorFlow itself looks it up."""
        if name.startswith("__") or isinstance(value, ModuleType):
            super().__setattr__(name, value)
            return
        module = self._home(name)
        if module is not None:
            vars(self)["_replaced"].setdefault(name, (module, getattr(module, name)))
        setattr(vars(self)["_modules"][0] if module is None else module, name, value)

    def __delattr__(self, name: str) -> None:
        """Puts back what was replaced, or deletes a name; `mock.patch` ends with this."""
        if name in vars(self)["_replaced"]:
            module, value = vars(self)["_replaced"].pop(name)
            setattr(module, name, value)
            return
        module = self._home(name)
        delattr(super() if module is None else module, name)

    def _home(self, name: str) -> Any:
        """Returns the first module that has a name, or None."""
        return next((each for each in vars(self)["_modules"] if hasattr(each, name)), None)

    def __dir__(self) -> list[str]:
        names = NAMES.get(self.__name__.removeprefix(f"{_PYTHON}."), ())
        return sorted({*names, *(name for each in vars(self)["_modules"] for name in dir(each))})


@functools.lru_cache(maxsize=None)
def find(name: str) -> Optional[ModuleType]:
    """Returns the module that a program gets by a name; None if it gets the installed one."""
    child = name.removeprefix(f"{_PYTHON}.")
    if child == name or not (child in MODULES or child in NAMES or name.startswith(_KERAS)):
        return None
    modules = [_module(_with_root(home)) for home in _homes(child)]
    found = tuple(module for module in modules if module is not None)
    if not found:
        return None
    if len(found) == 1 and child not in NAMES and not contains(name):
        return found[0] if isinstance(found[0], ModuleType) else None
    return _Module(name, found)


@functools.lru_cache(maxsize=None)
def package(name: str) -> ModuleType:
    """Returns `tensorflow.python` or a package in it, in which each module is the program's."""
    return find(name) or _Module(name, (importlib.import_module(name),))


def without_modules(module: ModuleType) -> ModuleType:
    """Returns a module for `import *`, which does not give what the module itself imports."""
    return module if isinstance(module, _Module) else _Module(module.__name__, (module,))


def contains(name: str) -> bool:
    """Returns whether a package has modules that a program gets otherwise."""
    return name == _PYTHON or any(f"{_PYTHON}.{each}".startswith(f"{name}.") for each in (
        *MODULES, *NAMES, "keras", *(f"keras.{old}" for old in KERAS)))


def _homes(child: str) -> tuple[str, ...]:
    """Returns what holds the names of a module, the first first."""
    if child in MODULES:
        return MODULES[child]
    if child != "keras" and not child.startswith("keras."):
        return (f"{_PYTHON}.{child}",)
    inner = child.removeprefix("keras").removeprefix(".")
    for old, new in KERAS.items():
        if inner == old or inner.startswith(f"{old}."):
            return (f"{new}{inner.removeprefix(old)}", f"KERAS.src.{inner}")
    return (f"KERAS.src.{inner}".rstrip("."),)


def _with_root(home: Any) -> Any:
    """Puts the package that is `tf.keras` in the place of KERAS in a dotted name."""
    if not isinstance(home, str) or not home.startswith("KERAS"):
        return home
    layer = sys.modules["tensorflow"].keras.layers.Layer
    return layer.__module__.partition(".")[0] + home.removeprefix("KERAS")


def _module(home: str) -> Any:
    """Returns a module; None if this TensorFlow does not have it."""
    if home.startswith("tf."):
        return homes.resolve(home)
    try:
        return importlib.import_module(home) if util.find_spec(home) is not None else None
    except ModuleNotFoundError:
        return None
