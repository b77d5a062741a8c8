"""Python's module `imp`, which Python 3.12 removed, by importlib.

Source: https://docs.python.org/3.11/library/imp.html
"""

from __future__ import annotations

import importlib
from importlib import machinery, util
import os
import sys
from types import ModuleType
from typing import Any, Optional, Sequence

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY, C_BUILTIN, PY_FROZEN = 1, 2, 3, 5, 6, 7
_KINDS = {suffix: (mode, kind) for suffixes, mode, kind in (
    (machinery.SOURCE_SUFFIXES, "r", PY_SOURCE),
    (machinery.BYTECODE_SUFFIXES, "rb", PY_COMPILED),
    (machinery.EXTENSION_SUFFIXES, "rb", C_EXTENSION)) for suffix in suffixes}

new_module = ModuleType
reload = importlib.reload


def get_suffixes() -> list[tuple[str, str, int]]:
    """Returns [(suffix, mode, kind)] of the files that can be modules."""
    return [(suffix, *found) for suffix, found in _KINDS.items()]


def find_module(name: str, path: Optional[Sequence[str]] = None) -> tuple[Any, Any, Any]:
    """Returns (file, path, (suffix, mode, kind)) of a module, in `path` or in `sys.path`.

    Raises:
      ImportError: There is no such module.
    """
    if path is None and name in sys.builtin_module_names:
        return None, None, ("", "", C_BUILTIN)
    for folder in sys.path if path is None else path:
        stem = os.path.join(folder, name)
        if os.path.isfile(os.path.join(stem, "__init__.py")):
            return None, stem, ("", "", PKG_DIRECTORY)
        for suffix, (mode, kind) in _KINDS.items():
            if os.path.isfile(stem + suffix):
                encoding = "utf-8" if mode == "r" else None
                return open(stem + suffix, mode, encoding=encoding), stem + suffix, (
                    suffix, mode, kind)
    raise ImportError(f"No module named {name!r}", name=name)


def load_module(name: str, file: Any, filename: Any, details: tuple[str, str, int]) -> ModuleType:
    """Loads what `find_module` found."""
    if details[2] == C_BUILTIN:
        return importlib.import_module(name)
    if details[2] == PKG_DIRECTORY:
        return load_package(name, filename)
    return load_source(name, filename, file)


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Loads a module from a file, anew if it was loaded before."""
    return _load(name, pathname)


def load_package(name: str, path: str) -> ModuleType:
    """Loads a package from its folder."""
    return _load(name, os.path.join(path, "__init__.py"), submodule_search_locations=[path])


def load_dynamic(name: str, path: str, file: Any = None) -> ModuleType:
    """Loads a module of C from its library."""
    return _load(name, path)


def acquire_lock() -> None:
    """Does nothing: each module has a lock of its own."""


def release_lock() -> None:
    """Does nothing: each module has a lock of its own."""


def lock_held() -> bool:
    """Returns False: each module has a lock of its own."""
    return False


def _load(name: str, path: str, **options: Any) -> ModuleType:
    spec: Any = util.spec_from_file_location(name, path, **options)
    if spec is None:
        raise ImportError(f"{path!r} is no module", name=name, path=path)
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return sys.modules[name]
