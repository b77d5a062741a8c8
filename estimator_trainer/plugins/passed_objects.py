"""The functions and models that a Python program gives in place of a plug-in's name.

They are kept as long as the process, since a record names them, and a later call takes the record.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from estimator_trainer.plugins.plugin import Plugin

_objects: dict[str, Any] = {}


def keep(thing: Any) -> str:
    """Keeps an object, in place of an earlier one of its name, and returns that name."""
    named = _named(thing)
    name = f"{named.__module__}:{named.__qualname__}"
    _objects[name] = thing
    return name


def is_kept(name: str) -> bool:
    """Returns whether an object of this name was given."""
    return name in _objects


def plugin_of(kind: str, name: str) -> Plugin:
    """Returns the plug-in that an object is; its module may add what a plug-in's module may."""
    thing = _objects[name]
    named, module = _named(thing), module_of(thing)
    try:
        path = inspect.getsourcefile(named) or ""
    except (TypeError, OSError):
        path = ""
    doc = (inspect.getdoc(named) or "").partition("\n")[0]
    return Plugin(kind, name, module.__name__, path, named.__qualname__, False,
                  getattr(module, "DEFAULT_PARAMS", None), doc,
                  tuple(getattr(module, "FREE_PARAMS", ())),
                  getattr(module, "GLOBAL_BATCH_PARAM", ""), thing)


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
