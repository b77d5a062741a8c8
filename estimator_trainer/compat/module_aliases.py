"""Lets a module be imported by a name that it once had.

The module is the same object by both names, so a class is the same class, and what is replaced in
one is replaced in both. It is imported when the old name is first asked for.
"""

from __future__ import annotations

import importlib
from importlib import abc, machinery, util
import sys
from types import ModuleType
from typing import Any, Optional, Sequence


class _Aliases(abc.MetaPathFinder, abc.Loader):
    """Finds modules whose old name, or that of a package around them, is in a table."""

    def __init__(self) -> None:
        self.homes: dict[str, str] = {}

    def home(self, name: str) -> Optional[str]:
        """Returns the name under which a module lives, None for one without an old name."""
        if name in self.homes:
            return self.homes[name]
        package, _, child = name.rpartition(".")
        home = self.home(package) if package else None
        return f"{home}.{child}" if home else None

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None,
                  target: Optional[ModuleType] = None) -> Optional[machinery.ModuleSpec]:
        """Returns how to load the module, None where there is none or another finder has it."""
        home = self.home(name)
        if home is None or not _exists(home):
            return None
        return machinery.ModuleSpec(name, self, loader_state=home, is_package=True)

    def create_module(self, spec: machinery.ModuleSpec) -> None:
        """Leaves it to Python to make the module that `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Puts the living module where Python takes the imported one from."""
        spec: Any = module.__spec__
        living = sys.modules[spec.name] = importlib.import_module(spec.loader_state)
        # A statement `from PACKAGE import MODULE` looks for a module of the package's living name.
        for name, home in self.homes.items():
            package, _, child = name.rpartition(".")
            if package == spec.name and not hasattr(living, child):
                setattr(living, child, importlib.import_module(home))


_ALIASES = _Aliases()


def add(name: str, home: str) -> None:
    """Lets the module `home`, and each module in it, be imported as `name`."""
    _ALIASES.homes[name] = home
    if _ALIASES not in sys.meta_path:
        # The names are in packages of TensorFlow, in which other finders would look.
        sys.meta_path.insert(0, _ALIASES)


def _exists(home: str) -> bool:
    if home in sys.modules:
        return True
    try:
        return util.find_spec(home) is not None
    except ModuleNotFoundError:
        return False  # The package around it is no package.
