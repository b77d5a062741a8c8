"""The script: a whole program of the user's, found before it runs."""

from __future__ import annotations

import dataclasses
import pathlib

from estimator_trainer import errors
from estimator_trainer.plugins import loader, source_files
from estimator_trainer.plugins.plugin import Plugin


@dataclasses.dataclass(frozen=True)
class Script:
    """A script, with what it is called with.

    Attributes:
      name: The name as the user typed it: a file, or a dotted module.
      path: The source file.
      arguments: The words that the script finds in `sys.argv[1:]`.
    """

    name: str
    path: str
    arguments: tuple[str, ...]

    @property
    def is_file(self) -> bool:
        """Whether the script was given as a file, not as a module."""
        return self.name.endswith(".py") or "/" in self.name

    @property
    def plugin(self) -> Plugin:
        """The script as a plug-in, for the package that a job takes to other machines."""
        module = pathlib.Path(self.name).stem if self.is_file else self.name
        return Plugin("script", self.name, module, self.path, "", self.is_file, None, "")


def find(name: str, arguments: tuple[str, ...]) -> Script:
    """Finds the script called `name` without running it.

    Raises:
      ConfigError: if there is none.
    """
    found = Script(name, "", arguments)
    path = loader.file_of(name) if found.is_file else source_files.of_module(name)
    if path and path.name == "__init__.py":
        path = path.with_name("__main__.py")
    if path is None or not path.is_file():
        raise errors.ConfigError(
            f"SCRIPT is {name!r} (from the command line), and there is no such file or module;"
            " expected a Python file, or a dotted module. For example: estimator-trainer run"
            " ./train.py -- --batch_size=64")
    return dataclasses.replace(found, path=str(path))
