"""Finds where the source of a module lies, without importing anything."""

from __future__ import annotations

from importlib import machinery
import pathlib
import posixpath
import sys

# `manifest` packs the plug-ins that are files into this package.
PACKED = "estimator_trainer_job"


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


def packed_place(target: str) -> str:
    """Returns the path below PACKED of the file that a flag names.

    A task's flags say ./my_model.py, as they did where the file lay.
    """
    parts = pathlib.PurePosixPath(posixpath.normpath(target)).parts
    return "/".join("up" if part == ".." else part for part in parts if part.strip("/"))
