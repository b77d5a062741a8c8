"""Makes `tf.contrib` of the tables in `estimator_trainer/compat/contrib/`.

A package of `tf.contrib` is one table, whatever modules it was made of: what a program imports from
`tensorflow.contrib.tpu.python.tpu.tpu_config` is looked up in the table of `tpu`. A table has

    NAMES    a name, and where it lives today: a dotted name, or the object itself
    MODULES  modules in which all other names are looked for
    INNER    a name in a module of the package, where another one is called the same
    INSTEAD  a name that is gone, and what to use instead
    DEFAULT  what to use instead of all other names that are gone

A name that TensorFlow 1.15 did not have either is an AttributeError.
"""

from __future__ import annotations

import importlib
from importlib import abc, machinery
import sys
from types import ModuleType
from typing import Any, Optional, Sequence

from estimator_trainer.compat import contrib as tables
from estimator_trainer.compat.contrib import moved
from estimator_trainer.compat.tensorflow1 import contrib_names, homes, old_modules
from estimator_trainer.compat.tensorflow1.stand_in import StandIn
from estimator_trainer.patches import private_api

_ROOT = "tensorflow.contrib"


class Namespace(StandIn, ModuleType):
    """`tf.contrib`, one of its packages, or what may be a module in one of them."""

    def __init__(self, name: str) -> None:
        ModuleType.__init__(self, name)
        StandIn.__init__(self, name, _gone(name))
        vars(self).update(__path__=[])

    def __getattr__(self, name: str) -> Any:
        full_name = f"{self.__name__}.{name}"
        if name == "__all__":
            return self._starred()
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ != _ROOT:
            return _look_up(self, full_name)
        if name in moved.WHOLE:
            return homes.resolve(moved.WHOLE[name])
        if not _is_module(full_name):
            raise _no_attribute(self, name)
        return importlib.import_module(full_name)

    def __dir__(self) -> list[str]:
        parts = self.__name__.split(".")[2:]
        if not parts:
            return sorted({*tables.PACKAGES, *moved.TABLES, *moved.WHOLE,
                           *contrib_names.packages()})
        package = contrib_names.package(parts[0])
        known = _table(f"{self.__name__}.").NAMES
        if package is None:
            return sorted(known)
        if len(parts) == 1 and package.offered:
            # A name that only modules in the package have is no name of the package.
            return sorted(package.offered.union(known) - (package.inner - package.offered))
        return sorted((package.offered | package.inner).union(known))

    def __bool__(self) -> bool:
        """A module is true, as functions ask that look a name up by its path."""
        return True

    def __eq__(self, other: Any) -> bool:
        return self is other

    __hash__ = object.__hash__

    def _starred(self) -> list[str]:
        """Returns what `import *` gives."""
        names = [each for each in dir(self) if not each.startswith("_")]
        package, _, path = self.__name__.removeprefix(f"{_ROOT}.").partition(".")
        known = contrib_names.package(package) if path else None
        if known is None:
            return names
        # A name that is gone may be another module's, and would replace one of the program.
        living = (each for each in names if type(getattr(self, each, None)) is not StandIn)
        return sorted({*living, *(each.rpartition(".")[2] for each in known.modules - known.hidden
                                  if each.rpartition(".")[0] == path)})

    def __setattr__(self, name: str, value: Any) -> None:
        """Keeps Python from binding a module to the name of a function in it."""
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)


class _Finder(abc.MetaPathFinder, abc.Loader):
    """Finds `tensorflow.contrib` and each module in it."""

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None,
                  target: Optional[ModuleType] = None) -> Optional[machinery.ModuleSpec]:
        if name != _ROOT and not (name.startswith(f"{_ROOT}.") and _is_module(name)):
            return None
        return machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: machinery.ModuleSpec) -> None:
        """Leaves it to Python to make the module that `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        del sys.modules[name]  # The import system looks the name up there.
        parent, _, child = name.rpartition(".")
        is_package = name == _ROOT or parent == _ROOT and child not in moved.WHOLE
        value = None if is_package else getattr(sys.modules[parent], child, None)
        if not is_package and not isinstance(value, ModuleType) and not _was_module(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        sys.modules[name] = value if isinstance(value, ModuleType) else Namespace(name)


def install() -> None:
    """Makes `tensorflow.contrib` importable, and keeps its code from autograph, as TensorFlow 1."""
    private_api.keep_from_autograph(tables.__name__)
    sys.meta_path.insert(0, _Finder())


def contrib() -> Any:
    """Returns `tf.contrib`."""
    module = importlib.import_module(_ROOT)
    # Python has set it there, and libraries that find it would take TensorFlow 2 for 1.
    vars(sys.modules["tensorflow"]).pop("contrib", None)
    return module


def is_living(name: str) -> bool:
    """Returns whether a program gets something that works by a name such as "layers.conv2d"."""
    value = contrib()
    for part in name.split("."):
        value = getattr(value, part)
    return not isinstance(value, StandIn)


def _is_module(full_name: str) -> bool:
    """Returns whether a program may import a package of `tf.contrib`, or a module in it."""
    package, _, inner = full_name.removeprefix(f"{_ROOT}.").partition(".")
    names = None if not inner and _has_table(package) else contrib_names.package(package)
    if names is None:
        return _has_table(package)
    return (not inner or inner in names.modules or inner.split(".")[0] in _table(full_name).NAMES)


def _was_module(full_name: str) -> bool:
    """Returns whether a name in a package was a module, which may share it with a function."""
    package, _, inner = full_name.removeprefix(f"{_ROOT}.").partition(".")
    names = contrib_names.package(package)
    return names is None or inner in names.modules or names.alias(inner) is not None


def _has_table(package: str) -> bool:
    return package in tables.PACKAGES or package in moved.TABLES or package in moved.WHOLE


def _namespace(full_name: str) -> Any:
    module = sys.modules.get(full_name)
    return Namespace(full_name) if module is None else module


def _look_up(module: Namespace, full_name: str) -> Any:
    """Returns what `full_name` stands for, or a stand-in for it."""
    path, name = full_name.split(".", 3)[3], full_name.rpartition(".")[2]
    table, package = _table(full_name), contrib_names.package(full_name.split(".")[2])
    if "." in path and package and path in package.modules - package.hidden:
        return _namespace(full_name)
    home = getattr(table, "INNER", {}).get(path, table.NAMES.get(name))
    if home is not None:
        if homes.missing_package(home) is None:
            return homes.resolve(home)
        return StandIn(full_name, _gone(full_name))
    if "." in path and (found := old_modules.look_up(full_name)) is not None:
        return found
    if package is None or package.has(path) or _is_module(full_name):
        found = homes.search(getattr(table, "MODULES", ()), name)
        if found is not None:
            return found
        if _is_module(full_name) and (package is not None or not name[0].isupper()):
            return _namespace(full_name)
    elif (alias := package.alias(path)) is not None:
        return (homes.resolve(alias) if alias.startswith("tensorflow.")
                else _namespace(f"{_ROOT}.{alias}"))
    elif name not in getattr(table, "INSTEAD", {}):
        raise _no_attribute(module, name)
    return StandIn(full_name, _gone(full_name))


def _no_attribute(module: Namespace, name: str) -> AttributeError:
    """Returns an error to which Python adds the name that the program may mean."""
    return AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name,
                          obj=module)


def _table(full_name: str) -> Any:
    package = full_name.split(".")[2]
    if package in tables.PACKAGES:
        return importlib.import_module(f"{tables.__name__}.{package}")
    return moved.TABLES.get(package, moved.GONE)


def _gone(full_name: str) -> str:
    """Returns the sentence for a name that has no living home here."""
    parts = full_name.split(".")
    shown = f"tf.{'.'.join(parts[1:])}"
    if len(parts) < 3:
        return f"{shown} is a package; use a name in it."
    table, name = _table(full_name), parts[-1]
    package = homes.missing_package(table.NAMES.get(name))
    if package:
        return (f"{shown} is in {package}, which is not installed. "
                f"Type: python -m pip install {package}")
    instead = getattr(table, "INSTEAD", {}).get(name) or getattr(table, "DEFAULT", None) or (
        "copy it from TensorFlow 1.15's source, "
        f"tensorflow/contrib/{parts[2]}, into the program")
    return f"{shown} went with TensorFlow 1, and nothing here replaces it; instead, {instead}."
