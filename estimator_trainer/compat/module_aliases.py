"""Makes a module importable by an old name.

Both names are the same object, so its classes are the same, and a replaced attribute is replaced in
both. The module is imported when its old name is.
"""

from __future__ import annotations

import importlib
from importlib import abc, machinery, util
import sys
from types import ModuleType
from typing import Any, Optional, Sequence

from absl import logging


class _Aliases(abc.MetaPathFinder, abc.Loader):
    """Finds modules whose old name, or whose package's old name, is in a table."""

    def __init__(self) -> None:
        self.homes: dict[str, str] = {}
        self.notes: dict[str, str] = {}

    def home(self, name: str) -> Optional[str]:
        """Returns the present name of a module; None if it has no old name."""
        if name in self.homes:
            return self.homes[name]
        package, _, child = name.rpartition(".")
        home = self.home(package) if package else None
        return f"{home}.{child}" if home else None

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None,
                  target: Optional[ModuleType] = None) -> Optional[machinery.ModuleSpec]:
        """Returns how to load the module; None if there is none or another finder has it."""
        home = self.home(name)
        if home is None or not _exists(home):
            return None
        return machinery.ModuleSpec(name, self, loader_state=home, is_package=True)

    def create_module(self, spec: machinery.ModuleSpec) -> None:
        """Leaves it to Python to make the module that `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Puts the present module where Python takes the imported one from."""
        spec: Any = module.__spec__
        if note := self.notes.pop(spec.name, ""):
            logging.warning("%s", note)
        present = sys.modules[spec.name] = importlib.import_module(spec.loader_state)
        # `from PACKAGE import MODULE` imports a module of the package's present name.
        for name, home in self.homes.items():
            package, _, child = name.rpartition(".")
            if package == spec.name and not hasattr(present, child):
                setattr(present, child, importlib.import_module(home))


_ALIASES, _LAST_ALIASES = _Aliases(), _Aliases()


def add(name: str, home: str, note: str = "") -> None:
    """Lets the module `home`, and each module in it, be imported as `name`; logs a note then."""
    _ALIASES.homes[name] = home
    if note:
        _ALIASES.notes[name] = note
    if _ALIASES not in sys.meta_path:
        # Otherwise other finders would search TensorFlow's packages first.
        sys.meta_path.insert(0, _ALIASES)


def add_last(name: str, home: str, note: str = "") -> None:
    """Does the same where no module of that name is installed."""
    _LAST_ALIASES.homes[name], _LAST_ALIASES.notes[name] = home, note
    if _LAST_ALIASES not in sys.meta_path:
        sys.meta_path.append(_LAST_ALIASES)


def is_there(name: str) -> bool:
    """Returns whether a module can be imported by a name."""
    return _exists(name)


def _exists(home: str) -> bool:
    if home in sys.modules:
        return True
    try:
        return util.find_spec(home) is not None
    except ModuleNotFoundError:
        return False  # Its parent is not a package.
