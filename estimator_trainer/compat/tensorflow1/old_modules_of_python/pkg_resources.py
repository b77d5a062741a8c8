"""The part of pkg_resources that programs use, by importlib; setuptools 82 removed it.

Source: https://setuptools.pypa.io/en/stable/pkg_resources.html
"""

from __future__ import annotations

import importlib
from importlib import metadata
import io
import os
import sys
from typing import Any, Iterator

# TensorFlow needs the package.
_VERSION: Any = importlib.import_module("packaging.version")
parse_version = _VERSION.parse
Requirement: Any = importlib.import_module("packaging.requirements").Requirement


class DistributionNotFound(Exception):
    """A package is not installed."""


class VersionConflict(Exception):
    """A package is installed in another version."""


class Distribution:
    """An installed package.

    Attributes:
      project_name, version: What its METADATA says.
      location: The folder that it was installed in.
    """

    def __init__(self, found: metadata.Distribution) -> None:
        self.project_name, self.version = found.metadata["Name"], found.version
        self.location = str(found.locate_file(""))

    @property
    def key(self) -> str:
        """The name in small letters."""
        return self.project_name.lower()

    @property
    def parsed_version(self) -> Any:
        """The version, which compares as a version."""
        return parse_version(self.version)


def get_distribution(name: Any) -> Distribution:
    """Returns an installed package.

    Raises:
      DistributionNotFound: The package is not installed.
    """
    wanted = Requirement(str(name))
    try:
        found = Distribution(metadata.distribution(wanted.name))
    except metadata.PackageNotFoundError as error:
        raise DistributionNotFound(f"The {wanted.name!r} distribution was not found and is required"
                                   " by the application") from error
    if not wanted.specifier.contains(found.version, prereleases=True):
        raise VersionConflict(found, wanted)
    return found


def require(*names: Any) -> list[Distribution]:
    """Returns installed packages.

    Raises:
      DistributionNotFound, VersionConflict: One is not there in a version that is wanted.
    """
    flat = [each for name in names for each in ([name] if isinstance(name, str) else name)]
    return [get_distribution(each) for each in flat]


def iter_entry_points(group: str, name: Any = None) -> Iterator[metadata.EntryPoint]:
    """Yields the entry points of a group; only those called `name`, if one is given."""
    for each in metadata.entry_points(group=group):
        if name in (None, each.name):
            yield each


def resource_filename(package_or_requirement: Any, resource_name: str) -> str:
    """Returns the path of a file that lies in a package or beside a module."""
    module = sys.modules.get(package_or_requirement) or importlib.import_module(
        package_or_requirement)
    return os.path.join(os.path.dirname(str(module.__file__)), *resource_name.split("/"))


def resource_exists(package_or_requirement: Any, resource_name: str) -> bool:
    """Returns whether there is such a file or folder."""
    return os.path.exists(resource_filename(package_or_requirement, resource_name))


def resource_isdir(package_or_requirement: Any, resource_name: str) -> bool:
    """Returns whether there is such a folder."""
    return os.path.isdir(resource_filename(package_or_requirement, resource_name))


def resource_listdir(package_or_requirement: Any, resource_name: str) -> list[str]:
    """Returns the names in a folder."""
    return os.listdir(resource_filename(package_or_requirement, resource_name))


def resource_string(package_or_requirement: Any, resource_name: str) -> bytes:
    """Returns the content of a file."""
    with open(resource_filename(package_or_requirement, resource_name), "rb") as file:
        return file.read()


def resource_stream(package_or_requirement: Any, resource_name: str) -> io.BytesIO:
    """Returns the content of a file, as one that is open."""
    return io.BytesIO(resource_string(package_or_requirement, resource_name))


def declare_namespace(name: str) -> None:
    """Does nothing: a folder without `__init__.py` is a namespace."""
