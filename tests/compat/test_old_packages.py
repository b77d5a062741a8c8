"""Packages of a program have the names that they had in the time of TensorFlow 1."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from estimator_trainer.compat import module_aliases
from estimator_trainer.compat.tensorflow1 import old_packages

YAML = """
FullLoader = "full"

def load(stream, Loader):
    return stream, Loader

def load_all(stream, Loader):
    return [stream], Loader
"""
PANDAS = """
__version__ = "3.1.1"
options = {}

def set_option(name, value):
    options[name] = value

class _Rows:
    def __init__(self, rows):
        self.rows = list(rows)

    def items(self):
        return enumerate(self.rows)

class DataFrame(_Rows):
    pass

class Series(_Rows):
    pass

def concat(parts, ignore_index, verify_integrity, sort=None):
    return type(parts[0])([row for each in parts for row in each.rows])
"""


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Lets packages of these names be imported, as a program imports them."""
    (tmp_path / "yaml.py").write_text(YAML)
    (tmp_path / "pandas.py").write_text(PANDAS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in ("yaml", "pandas"):
        monkeypatch.delitem(sys.modules, name, raising=False)
        # Modules that are imported here are forgotten at the end.
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.delitem(sys.modules, name)
    old_packages.supply()


def test_yaml_loads_without_a_loader(packages):
    yaml = importlib.import_module("yaml")
    assert yaml.load("a: 1") == ("a: 1", "full")
    assert yaml.load_all("a: 1") == (["a: 1"], "full")
    assert yaml.load("a: 1", Loader="own") == ("a: 1", "own")


def test_a_table_is_appended_to_a_table(packages):
    pandas = importlib.import_module("pandas")
    table = pandas.DataFrame([1])
    assert table.append(pandas.DataFrame([2])).rows == [1, 2]
    assert table.append([pandas.DataFrame([2]), {"a": 3}]).rows == [1, 2, {"a": 3}]
    assert pandas.Series([1]).append(pandas.Series([2])).rows == [1, 2]
    assert list(table.iteritems()) == [(0, 1)]
    assert pandas.options == {"future.infer_string": False}


def test_a_package_that_is_imported_already_changes_too(packages, monkeypatch):
    yaml = ModuleType("yaml")
    exec(YAML, vars(yaml))
    monkeypatch.setitem(sys.modules, "yaml", yaml)
    old_packages.supply()
    assert yaml.load("a: 1") == ("a: 1", "full")


def test_a_module_that_moved_is_found_where_it_is(monkeypatch, caplog):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    module_aliases.add_last("old_place_of_json", "json", "The module old_place_of_json is gone.")
    assert importlib.import_module("old_place_of_json") is importlib.import_module("json")
    monkeypatch.delitem(sys.modules, "old_place_of_json")


def test_a_module_of_scipy_is_a_package_again():
    eigen = ModuleType("scipy.sparse.linalg.eigen")
    old_packages.CHANGES[eigen.__name__](eigen)
    assert eigen.__path__ == []
