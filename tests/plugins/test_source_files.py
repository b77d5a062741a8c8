"""A plug-in's sources are its own and what it imports beside it, whatever links lead there."""

import ast
import sys

import pytest

from estimator_trainer import errors
from estimator_trainer.plugins import fingerprints, loader, source_files

_MODEL = "import layers_of_linked\ndef model_fn(features, labels, mode):\n    ...\n"


@pytest.fixture(name="mounted")
def fixture_mounted(tmp_path, monkeypatch):
    """Returns a folder as Kubernetes mounts a ConfigMap: each file is a link into a linked one."""
    (tmp_path / "..2026").mkdir()
    (tmp_path / "..2026" / "linked.py").write_text(_MODEL)
    (tmp_path / "..2026" / "layers_of_linked.py").write_text("WIDTH = 3\n")
    (tmp_path / "..data").symlink_to("..2026")
    for name in ("linked.py", "layers_of_linked.py"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("linked", "layers_of_linked"):
        sys.modules.pop(name, None)


def test_of_module_identifies_files_of_a_mounted_folder(mounted):
    plugin = loader.find("model_fn", f"{mounted}/linked.py")
    _, module = loader.load(plugin)
    before = fingerprints.of_plugin(plugin, module)
    assert sorted(before) == ["layers_of_linked.py", "linked.py"]
    (mounted / "..2026" / "layers_of_linked.py").write_text("WIDTH = 4\n")
    after = fingerprints.of_plugin(plugin, module)
    assert [name for name in before if before[name] != after[name]] == ["layers_of_linked.py"]


def test_of_module_names_sources_from_the_package():
    plugin = loader.find("model_fn", "cnn")
    names = fingerprints.of_plugin(plugin, loader.load(plugin)[1])
    assert {"model_fns/cnn.py", "model_fns/training/averages.py"} <= set(names)


@pytest.mark.parametrize("source, names", [
    ("def main():\n    input_fn = 3\n    def inner(): ...\n", {"main"}),
    ("class A:\n    def input_fn(self): ...\n", {"A"}),
    ("async def a():\n    b = 1\n", {"a"}),
    ("if 1:\n    def a(): ...\nelse:\n    b = 2\n", {"a", "b"}),
    ("try:\n    import a.b as c, d.e\nexcept ImportError as error:\n    f = None\n",
     {"c", "d", "f"}),
    ("with open('x') as a:\n    b = 1\n", {"a", "b"}),
    ("for a, *b in []:\n    c = 1\nwhile 0:\n    d = 1\n", {"a", "b", "c", "d"}),
    ("a = [b for b in range(3)]\nc = lambda: (d := 1)\n", {"a", "c"}),
    ("a = [(b := c) for c in range(3)]\n", {"a", "b"}),
    ("a: int\nb: int = 1\nc[0] = 2\nd.e = 3\n", {"b"}),
    ("from a import *\n", {"*"}),
])
def test_bound_names_returns_the_names_of_the_module_scope(source, names):
    assert source_files.bound_names(ast.parse(source)) == names


_FACTORY = "def make_input_fn():\n    def input_fn(mode):\n        ...\n    return input_fn\n"


def test_bound_names_leaves_out_a_local_input_fn(tmp_path):
    (tmp_path / "factory.py").write_text(_FACTORY)
    with pytest.raises(errors.ConfigError, match="defines no 'input_fn'.*make_input_fn"):
        loader.find("input_fn", f"{tmp_path}/factory.py")


def test_bound_names_prefers_a_modules_input_fn_to_a_local_eval_input_fn(tmp_path):
    (tmp_path / "both.py").write_text(
        "def input_fn(mode):\n    ...\ndef main():\n    eval_input_fn = None\n")
    assert loader.find("eval_input_fn", f"{tmp_path}/both.py").function == "input_fn"


def test_module_level_finds_the_params_of_a_guarded_import(tmp_path):
    (tmp_path / "guarded.py").write_text(
        "try:\n    from model_fns.training import classifier\nexcept ImportError:\n    raise\n"
        "DEFAULT_PARAMS = {**classifier.DEFAULT_PARAMS}\ndef model_fn(features):\n    ...\n")
    assert loader.find("model_fn", f"{tmp_path}/guarded.py").default_params
