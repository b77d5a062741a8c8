"""Tests that the commands of the benchmarks exist, and that peers import what their kind has."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys

import pytest

from benchmarks.sparse import rows
from benchmarks.suite import peer_runs
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow
FOLDER = jobs.REPO / "benchmarks"
MODULES = sorted([*FOLDER.rglob("*.py"), *(jobs.REPO / "tests" / "benchmarks").glob("*.py")])
TEXTS = sorted([jobs.REPO / "README.md", *(jobs.REPO / "docs").glob("*.md"),
                *FOLDER.rglob("*.py"), FOLDER / "README.md"])
PEERS = FOLDER / "suite" / "peers"
SPARSE_PEERS = FOLDER / "sparse" / "peers"
KINDS_SCRIPTS = FOLDER / "kinds" / "scripts"
# The packages that an environment has, beside the standard library.
INSTALLED = {"keras3": {"tensorflow", "numpy"}, "torch": {"torch", "lightning", "numpy"},
             "plot": {"matplotlib"}}


def _ids(path):
    return f"{path.parent.name}.{path.stem}"


def _imports(path):
    """Returns the dotted names that a module imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names - {"__future__.annotations"}


def _file(name):
    """Returns the file of a dotted name in benchmarks/, or of the module that defines it."""
    path = jobs.REPO.joinpath(*name.split("."))
    return next(file for file in (path.with_suffix(".py"), path / "__init__.py",
                                  path.parent.with_suffix(".py")) if file.exists())


def _reached(path, seen):
    """Returns what a module imports from outside benchmarks/, itself or by way of others."""
    seen.add(path)
    outside = set()
    for name in _imports(path):
        if not name.startswith("benchmarks"):
            outside.add(name.partition(".")[0])
        elif _file(name) not in seen:
            outside |= _reached(_file(name), seen)
    return outside


@pytest.mark.parametrize("path", TEXTS, ids=_ids)
def test_every_command_that_is_named_is_a_program(path):
    text = path.read_text()
    assert "python benchmarks/" not in text and "sys.path" not in text
    for name in re.findall(r"(?:python |\")-m\W+(benchmarks(?:\.\w+)+)", text):
        if importlib.util.find_spec(name).submodule_search_locations:
            name = f"{name}.__main__"
        assert "def main(" in _file(name).read_text(), name


def test_every_program_is_in_the_table_of_the_benchmarks():
    listed = re.findall(r"^\| `python -m (benchmarks[\w.]+)", (FOLDER / "README.md").read_text(),
                        re.M)
    programs = {".".join(path.relative_to(jobs.REPO).with_suffix("").parts)
                for path in FOLDER.rglob("*.py")
                if not {PEERS, SPARSE_PEERS, KINDS_SCRIPTS} & {*path.parents}
                and "argparse" in _imports(path)}
    parts = {"benchmarks.scaling.disk_costs"}  # benchmarks.scaling runs it.
    assert sorted(listed) == sorted(name.removesuffix(".__main__") for name in programs - parts)


@pytest.mark.parametrize("kind,path", [
    ("plot", FOLDER / "suite" / "drawing.py"),
    *sorted({(peer.environment, PEERS / f"{peer.module}.py") for peer in peer_runs.PEERS.values()
             if peer.environment in INSTALLED}),
    *sorted({("torch", SPARSE_PEERS / f"{row.module}.py") for row in rows.ROWS.values()
             if row.is_torch})], ids=str)
def test_peers_import_nothing_of_this_project(kind, path):
    assert _reached(path, set()) - sys.stdlib_module_names <= INSTALLED[kind]
