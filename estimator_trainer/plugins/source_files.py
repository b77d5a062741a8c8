"""Finds where the source of a module lies, without importing anything."""

from __future__ import annotations

from importlib import machinery
import pathlib
import posixpath
import sys

# `manifest` packs the plug-ins that are files into this package.
PACKED = "estimator_trainer_job"
# The packages of plug-ins: a package of the user's of such a name adds to the one installed here.
SHARED = ("model_fns", "input_fns")
_HERE = pathlib.Path(__file__).resolve().parents[2]


def search_path() -> list[str]:
    """Returns the folders that modules are looked up in."""
    return [*sys.path, str(pathlib.Path.cwd())]


def first_spec(package: str) -> machinery.ModuleSpec | None:
    """Finds a package in SHARED, the user's own before the installed one; None if there is none."""
    specs = (machinery.PathFinder.find_spec(package, [path])
             for path in (str(pathlib.Path.cwd()), *sys.path))
    return next((spec for spec in specs if spec and spec.submodule_search_locations), None)


def folders(package: str) -> list[pathlib.Path]:
    """Returns the folders that a package's modules are looked up in.

    The user's own package of a name in SHARED comes first; what it lacks is found in ours.
    """
    is_shared = package in SHARED
    spec = (first_spec(package) if is_shared else
            machinery.PathFinder.find_spec(package, search_path()))
    found = [pathlib.Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    return list(dict.fromkeys([*found, _HERE / package] if is_shared else found))


def of_module(dotted: str) -> pathlib.Path | None:
    """Finds a module's file; unlike `importlib.util.find_spec`, imports no parent package."""
    top, *inner = dotted.split(".")
    if not inner:
        spec = machinery.PathFinder.find_spec(top, search_path())
        return pathlib.Path(spec.origin) if spec and spec.origin else None
    for folder in folders(top):
        stem = folder.joinpath(*inner)
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
