"""The sources of a plug-in that was imported: its module, and what that imports beside it."""

from __future__ import annotations

import functools
import os.path
import pathlib
import sys
import types
from typing import Any, Callable

from estimator_trainer.plugins import fingerprints
from estimator_trainer.plugins import object_fingerprints
from estimator_trainer.plugins.plugin import Plugin


def of(plugin: Plugin, module: types.ModuleType) -> dict[str, str]:
    """Returns the sha256 of each source, by its path from the plug-in's folder or package.

    Args:
      plugin: The plug-in.
      module: Its module; the others are those of its folder or package that are loaded by now.
    """
    if plugin.thing is not None:
        return object_fingerprints.of(plugin.thing, plugin.name)
    folder = pathlib.Path(plugin.path).resolve().parent
    top = plugin.module.partition(".")[0]
    if not plugin.is_file:
        # The folder that holds the package.
        folder = folder.parents[plugin.module.count(".") - 1] if "." in plugin.module else folder
    loaded = [module, *(each for name, each in list(sys.modules.items())
                        if plugin.is_file or name.partition(".")[0] == top)]
    start = os.path.join(folder, "")
    # Thousands of modules are in a few hundred folders.
    real = functools.cache(os.path.realpath)
    paths = {path for each in loaded if (path := _path(each, real)).startswith(start)}
    places = {pathlib.Path(path).relative_to(folder).as_posix(): path for path in paths}
    return {place: fingerprints.sha256(path) for place, path in sorted(places.items())
            if "site-packages" not in place}


def _path(module: Any, real: Callable[[str], str]) -> str:
    """Returns the path of a module's source, without links; "" if it has none.

    Args:
      module: The module.
      real: Returns a folder without links.
    """
    path = getattr(module, "__file__", None)
    if not isinstance(path, str) or not path.endswith(".py"):
        return ""
    if os.path.islink(path):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    return os.path.join(real(folder), name)
