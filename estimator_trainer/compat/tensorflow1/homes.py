"""Finds what a table of `compat/contrib/` names: where a name of `tf.contrib` lives today."""

from __future__ import annotations

import functools
import importlib
from importlib import util
import sys
from types import ModuleType
from typing import Any, Optional

# Packages that hold a part of tf.contrib and are not part of every installation, as pip calls them.
OPTIONAL = {"tensorboard": "tensorboard", "tensorflow_gan": "tensorflow-gan", "tf_slim": "tf_slim"}


def resolve(home: Any) -> Any:
    """Returns the object of a dotted name, of which `tf.` means `tf.compat.v1.`.

    Anything but a string is what it stands for.

    Raises:
      ImportError, AttributeError: if there is no such object.
    """
    if not isinstance(home, str):
        return home
    if home.startswith("tf."):
        return functools.reduce(getattr, home.split(".")[1:], sys.modules["tensorflow"].compat.v1)
    module, _, attribute = home.rpartition(".")
    value = getattr(importlib.import_module(module), attribute, None)
    return importlib.import_module(home) if value is None else value


def search(modules: tuple[str, ...], name: str) -> Any:
    """Returns what one of the modules calls `name`, None if none does; modules do not count."""
    for module in modules:
        value = getattr(resolve(module), name, None)
        if value is not None and not isinstance(value, ModuleType):
            return value
    return None


def missing_package(home: Any) -> Optional[str]:
    """Returns the package of `home`, if it is one that is not installed, as pip calls it."""
    package = home.partition(".")[0] if isinstance(home, str) else ""
    if package not in OPTIONAL or util.find_spec(package) is not None:
        return None
    return OPTIONAL[package]
