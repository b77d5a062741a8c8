"""A published program: its origin, and the commands that run it."""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    """A published program.

    Attributes:
      name: Name in the table.
      source: OWNER/NAME of its repository, or the name of a package on PyPI.
      commands: Arguments of `estimator-trainer`, command by command. DATA stands for the folder of
        tiny data, OUT for an empty folder, DRIVERS for benchmarks/published/drivers.
      folder: Working directory in the checkout.
      packages: Additional packages from PyPI.
      beside: OWNER/NAME of the checkouts that have to be on PYTHONPATH.
      places: Folders of the tiny data, and where in the checkout the program expects them.
      prepare: A shell command that its README requires first, run in `folder`.
      import_root: Folder of its own packages in the checkout, if not `folder`.
    """

    name: str
    source: str
    commands: tuple[str, ...]
    folder: str = "."
    packages: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    prepare: str = ""
    import_root: str = ""

    @property
    def is_package(self) -> bool:
        """Whether the program comes from PyPI, not from a repository."""
        return "/" not in self.source
