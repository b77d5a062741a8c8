"""A published program: where it is from, and what a user types to run it."""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    """A published program.

    Attributes:
      name: How the table names it.
      source: OWNER/NAME of its repository, or the name of a package on PyPI.
      commands: What the user types after `estimator-trainer`, one after the other. DATA stands
        for the folder of tiny data, OUT for an empty folder, DRIVERS for benchmarks/published/
        drivers.
      folder: Where in the checkout the user types it.
      packages: What the program needs from PyPI beside this project.
      beside: OWNER/NAME of the checkouts that have to be on PYTHONPATH.
      places: Folders of the tiny data, and where in the checkout the program looks for them.
      prepare: A shell command that its README wants first, typed in `folder`.
      import_root: Where in the checkout its own packages are, if not in `folder`.
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
        """Whether it comes from PyPI, not from a repository."""
        return "/" not in self.source
