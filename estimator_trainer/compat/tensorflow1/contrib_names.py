"""Knows which names and modules `tf.contrib` of TensorFlow 1.15 had.

The list is read when a program uses a name that no table of `compat/contrib/` has.
"""

from __future__ import annotations

import functools
import pathlib
from typing import NamedTuple, Optional

_LIST = pathlib.Path(__file__).with_name("contrib_names.txt")


class Package(NamedTuple):
    """The names of a package of `tf.contrib`.

    Attributes:
      offered: Those of the package itself.
      inner: Those that only modules in it have.
      modules: These modules, such as "python.ops.lookup_ops".
      hidden: Modules whose name is that of a function or class in their package.
      aliases: Names of modules that lie elsewhere, as in "io=learn.python.learn.learn_io".
    """

    offered: frozenset[str]
    inner: frozenset[str]
    modules: frozenset[str]
    hidden: frozenset[str]
    aliases: frozenset[str]

    def has(self, path: str) -> bool:
        """Returns whether there was such a name, of the package or of a module in it."""
        module, _, name = path.rpartition(".")
        return (name in self.offered or path in self.modules
                or bool(module) and name in self.inner)

    def alias(self, path: str) -> Optional[str]:
        """Returns where a module lies that the package has by another name."""
        return next((each.partition("=")[2] for each in self.aliases
                     if each.partition("=")[0] == path), None)


@functools.lru_cache(maxsize=None)
def packages() -> dict[str, Package]:
    """Returns the packages by their names."""
    found = {}
    for text in _LIST.read_text(encoding="utf-8").split("\n[")[1:]:
        name, _, lines = text.partition("]\n")
        kinds = [kind.split()[1:] for kind in lines.replace("\n  ", " ").splitlines() if kind]
        found[name] = Package(*map(frozenset, kinds))
    return found


def package(name: str) -> Optional[Package]:
    """Returns a package; None if TensorFlow 1.15 had none of that name."""
    return packages().get(name)
