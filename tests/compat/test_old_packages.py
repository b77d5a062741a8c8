"""Packages of a program have the names that they had in the time of TensorFlow 1."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import numpy as np
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


@pytest.fixture
def pictures():
    """Gives scipy.misc its functions of pictures."""
    pytest.importorskip("PIL.Image")
    misc: Any = ModuleType("scipy.misc")
    old_packages.CHANGES["scipy.misc"](misc)
    return misc


def test_scipy_reads_writes_and_resizes_pictures(pictures, tmp_path):
    gray = np.linspace(0, 1, 12).reshape(3, 4)
    pictures.imsave(tmp_path / "gray.png", gray)
    read = pictures.imread(tmp_path / "gray.png")
    assert read.tolist() == pictures.bytescale(gray).tolist()
    assert (read.min(), read.max()) == (0, 255)
    colours = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    pictures.imsave(tmp_path / "colours.png", colours)
    assert pictures.imread(tmp_path / "colours.png").tolist() == colours.tolist()
    assert pictures.imread(tmp_path / "colours.png", flatten=True).dtype == np.float32
    assert pictures.imresize(colours, (6, 8)).shape == (6, 8, 3)
    assert pictures.imresize(colours, 50).shape == (1, 2, 3)
    assert pictures.imresize(gray, 2.0, "nearest", "F").dtype == np.float32
    assert pictures.imrotate(colours, 180).tolist() == colours[::-1, ::-1].tolist()
    assert pictures.toimage(np.zeros((3, 2, 5))).size == (5, 2)
    assert pictures.comb(5, 2) == 10


@pytest.mark.parametrize("arguments", [{"high": 300}, {"cmin": 2, "cmax": 1}])
def test_limits_of_bytes_are_in_order(pictures, arguments):
    with pytest.raises(ValueError):
        pictures.bytescale([.5], **arguments)


def test_an_array_of_another_shape_is_no_picture(pictures):
    with pytest.raises(ValueError, match="suitable array shape"):
        pictures.toimage(np.zeros((2, 5, 6)))


def test_pillow_has_its_old_names(pictures):
    image = importlib.import_module("PIL.Image")
    drawing, fonts = (importlib.import_module(f"PIL.{name}") for name in ("ImageDraw", "ImageFont"))
    for name, change in (("PIL.Image", image), ("PIL.ImageDraw", drawing),
                         ("PIL.ImageFont", fonts)):
        old_packages.CHANGES[name](change)
    assert image.ANTIALIAS == image.Resampling.LANCZOS
    font = fonts.ImageFont()
    font.getmask = font.getbbox = lambda text, *args: (1, 2, 8, 11)
    assert font.getsize("text") == (7, 11)
    draw = drawing.Draw(image.new("L", (9, 9)))
    draw.textbbox = lambda place, text, *args: (1, 2, 8, 11)
    assert draw.textsize("text") == (7, 11)


def test_h5py_has_values(tmp_path):
    h5py = pytest.importorskip("h5py")
    old_packages.CHANGES["h5py"](h5py)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = [1, 2]
        assert file["a"].value.tolist() == [1, 2]


def test_an_encoder_takes_its_old_argument():
    class Encoder:

        def __init__(self, *, sparse_output=True):
            self.sparse_output = sparse_output

    module: Any = ModuleType("sklearn.preprocessing")
    module.OneHotEncoder = Encoder
    old_packages.CHANGES["sklearn.preprocessing"](module)
    assert module.OneHotEncoder(sparse=False).sparse_output is False
    assert module.OneHotEncoder().sparse_output is True
