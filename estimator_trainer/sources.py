"""Where the source of a module is, found without importing anything."""

from __future__ import annotations

from importlib import machinery
import pathlib
import sys


def search_path() -> list[str]:
    """Returns the folders that modules are looked up in."""
    return [*sys.path, str(pathlib.Path.cwd())]


def folders(package: str) -> list[pathlib.Path]:
    """Returns the folders that a package's modules are looked up in."""
    spec = machinery.PathFinder.find_spec(package, search_path())
    return [pathlib.Path(p) for p in (spec and spec.submodule_search_locations) or ()]


def of_module(dotted: str) -> pathlib.Path | None:
    """Finds a module's file; unlike `importlib.util.find_spec`, imports no parent package."""
    top, *inner = dotted.split(".")
    spec = machinery.PathFinder.find_spec(top, search_path())
    if spec is None or not inner:
        return pathlib.Path(spec.origin) if spec and spec.origin else None
    for folder in spec.submodule_search_locations or ():
        stem = pathlib.Path(folder, *inner)
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return path
    return None
