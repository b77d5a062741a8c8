"""A plug-in's sources are its own and what it imports beside it, whatever links lead there."""

import sys

import pytest

from estimator_trainer.plugins import loader, object_fingerprints

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
    before = object_fingerprints.of_plugin(plugin, module)
    assert sorted(before) == ["layers_of_linked.py", "linked.py"]
    (mounted / "..2026" / "layers_of_linked.py").write_text("WIDTH = 4\n")
    after = object_fingerprints.of_plugin(plugin, module)
    assert [name for name in before if before[name] != after[name]] == ["layers_of_linked.py"]


def test_of_module_names_sources_from_the_package():
    plugin = loader.find("model_fn", "cnn")
    names = object_fingerprints.of_plugin(plugin, loader.load(plugin)[1])
    assert {"model_fns/cnn.py", "model_fns/training/averages.py"} <= set(names)
