"""A job takes along the code that its params name, and what code imports; or pip installs it."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

from estimator_trainer import errors
from estimator_trainer.manifest import imported_code, source_package
from tests.manifest.test_source_package import contents, setup_arguments
from tests.support import jobs
from tests.support.manifests import write

pytestmark = pytest.mark.usefixtures("own_folder")

_MODEL = """
import layers_of_ours
import our_team.parts
def build():
    return layers_of_ours.model(our_team.parts.UNITS)
"""
_LAYERS = """
import tensorflow as tf
def model(units):
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(units)])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model
"""


@pytest.fixture
def model_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A Keras model with a neighbour, and a package that lies on PYTHONPATH alone."""
    pathlib.Path("my_net.py").write_text(_MODEL)
    pathlib.Path("layers_of_ours.py").write_text(_LAYERS)
    team = tmp_path / "lib" / "our_team"
    team.mkdir(parents=True)
    (team / "__init__.py").write_text("")
    (team / "parts.py").write_text("import more_of_ours\nUNITS = 10\n")
    (team.parent / "more_of_ours.py").write_text("")
    monkeypatch.syspath_prepend(team.parent)
    return pathlib.Path("my_net.py")


def _archive() -> bytes:
    return pathlib.Path("manifest", source_package.NAME).read_bytes()


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.parametrize("name", [
    pytest.param("./my_net.py:build", marks=pytest.mark.soak),
    pytest.param("my_net:build", marks=pytest.mark.soak)])
def test_names_pack_a_keras_model_of_ones_own(
        name: str, model_file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    flags = ["--model_fn=keras_model", f"--param=keras_model={name}", "--train_steps=5",
             "--exporters=none"]
    write(flags=flags)
    with tarfile.open(pathlib.Path("manifest", source_package.NAME)) as tar:
        tar.extractall(tmp_path / "away", filter="data")
    shutil.rmtree(tmp_path / "lib")
    model_file.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = subprocess.run(
        [sys.executable, "-m", "estimator_trainer", *flags, f"--model_dir={tmp_path}/model"],
        env=jobs.environment(PYTHONPATH=str(tmp_path / "away" / source_package.STEM)),
        cwd=elsewhere, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert jobs.result(tmp_path / "model")["step"] == 5


def test_a_job_takes_its_trackers_along() -> None:
    pathlib.Path("my_tracker.py").write_text("import near\ndef send(event): pass\n")
    pathlib.Path("near.py").write_text("")
    write(flags=["--track=mlflow,./my_tracker.py:send"])
    assert {"estimator_trainer_job/my_tracker.py",
            "estimator_trainer_job/near.py"} <= set(contents(_archive()))
    assert "mlflow>=3.17,<4" in setup_arguments(_archive())["install_requires"]
    with pytest.raises(errors.ConfigError, match="defines no 'sent'"):
        write(flags=["--track=./my_tracker.py:sent"])


@pytest.mark.cluster
def test_names_of_imported_code_are_packed_or_installed(
        model_file: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path / "site-packages", "Odd_Dist", "1.2+cpu", "odd_module.py")
    _install(tmp_path / "site-packages", "two-of-one", "3.0", "shared_space/two/__init__.py")
    _install(tmp_path / "site-packages", "one-of-two", "3.0", "shared_space/one/__init__.py")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    imported_code._distributions.cache_clear()
    model_file.write_text(_MODEL + "import absl, json, numpy\nfrom shared_space import two\n"
                                   "import importlib\n"
                                   "def late(): importlib.import_module('odd_module.deep')\n")
    write(flags=["--model_fn=keras_model", "--param=keras_model=./my_net.py:build"])
    imported_code._distributions.cache_clear()
    files = set(contents(_archive()))
    assert {"estimator_trainer_job/my_net.py", "estimator_trainer_job/layers_of_ours.py",
            "our_team/parts.py", "more_of_ours.py"} <= files
    here = source_package.requirements(source_package.tensorflow_here())
    required = setup_arguments(_archive())["install_requires"]
    assert required == [*here, "Odd_Dist==1.2", "two-of-one==3.0"]


@pytest.mark.parametrize("name, problem", [
    ("./mine.py:build", "there is no such file"), ("mine:build", "there is no such module"),
    ("./yours.py:build", "yours.py, line 1, imports 'not_there', which is not there"),
    ("./yours.py:make", "yours.py defines no 'make'"), ("yours:make", "defines no 'make'"),
    ("./half.py:build", "half.py is not valid Python")])
def test_names_of_code_that_no_task_could_import_are_refused(name: str, problem: str) -> None:
    pathlib.Path("yours.py").write_text("import not_there\ndef build(): pass\n")
    pathlib.Path("half.py").write_text("def build(\n")
    with pytest.raises(errors.ConfigError, match=problem):
        write(flags=["--model_fn=keras_model", "--param", f"keras_model={name}"])
    assert not pathlib.Path("manifest").exists()


def _install(site: pathlib.Path, name: str, version: str, file: str) -> None:
    """Writes a distribution of one module, as pip installs it."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{file},,\n")
    (info / "top_level.txt").write_text(file.partition("/")[0].removesuffix(".py") + "\n")
    path = site / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
