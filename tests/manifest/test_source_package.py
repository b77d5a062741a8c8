"""The source package holds the program and the user's plug-ins, and pip installs it as it is."""

from __future__ import annotations

import ast
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
from typing import Any

import pytest

from estimator_trainer.checks import run_plan
from estimator_trainer.cluster import task_config
from estimator_trainer.manifest import source_package
from estimator_trainer.plugins import source_files, trackers
from estimator_trainer.settings import command_line
from tests.support import jobs


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


_FILES = {
    "files/my_model.py": "import near\nfrom model_fns.linear import model_fn\n"
                         "DEFAULT_PARAMS = {'learning_rate': 0.5}\n",
    "files/near.py": "import nearer\n", "files/nearer.py": "", "files/unused.py": "",
    "my_team/__init__.py": "", "my_team/read.py": "import common\n",
    "my_team/deep/data.py": "from input_fns.digits import input_fn\n"
                            "from my_team import read\n",
    "my_team/deep/words.txt": "one\n", "common.py": ""}
_FLAGS = ["--model_fn=files/my_model.py", "--input_fn=my_team.deep.data"]


def packed(tensorflow: str = "2.15", **settings: str) -> bytes:
    """Returns the package of a job with these settings."""
    config = command_line.parse([f"--{key}={value}" for key, value in settings.items()]).config
    made = run_plan.for_job(config, [task_config.parse(None)])
    assert made.model and made.data, made.problems
    return source_package.archive([made.model, made.data], tensorflow)


def contents(archive: bytes) -> dict[str, bytes]:
    """Returns the files of a package by their names below its folder."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name.removeprefix(f"{source_package.STEM}/"):
                tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def setup_arguments(archive: bytes) -> dict[str, Any]:
    """Returns what the package's setup.py passes to setuptools."""
    text = contents(archive)["setup.py"]
    call = ast.parse(text).body[-1].value  # type: ignore[attr-defined]
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def test_requirements_are_those_of_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    # The setup.py is read, not run: only what it passes to setuptools.setup counts.
    seen: dict[str, Any] = {}
    import setuptools
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: seen.update(arguments))
    path = jobs.REPO / "setup.py"
    exec(compile(path.read_text(), str(path), "exec"), {"__file__": str(path)})  # noqa: S102
    assert source_package.requirements("2.15") == [
        *seen["install_requires"], *seen["extras_require"]["tf215"]]
    assert source_package.requirements("2.21") == [
        *seen["install_requires"], "tensorflow==2.21.*", "tf_keras==2.21.*"]
    assert source_package.requirements("2.21", is_tf1=True) == [
        *source_package.requirements("2.21"), *seen["extras_require"]["tf1"]]
    assert trackers.REQUIREMENTS == {
        name: requirement for name in ("mlflow", "wandb")
        for requirement in seen["extras_require"][name]}
    made = setup_arguments(packed())
    for key in ("name", "version", "python_requires", "entry_points", "packages"):
        assert made[key] == seen[key] or sorted(made[key]) == sorted(seen[key]), key
    for package, files in seen["package_data"].items():
        assert set(files) <= set(made["package_data"][package])


def test_archive_is_the_same_for_the_same_sources() -> None:
    first = packed()
    assert packed() == first
    names = list(contents(first))
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]
    assert {name.partition("/")[0] for name in names} == {
        "setup.py", "estimator_trainer", "model_fns", "input_fns"}


@pytest.mark.cluster
def test_archive_leaves_out_neighbours_of_installed_modules() -> None:
    site = pathlib.Path("site-packages")
    site.mkdir()
    (site / "mine.py").write_text("import numpy_like\ndef model_fn(): ...\n")
    (site / "numpy_like.py").write_text("")
    files = contents(packed(model_fn=f"{site}/mine.py"))
    assert "estimator_trainer_job/site-packages/mine.py" in files
    assert not [name for name in files if "numpy_like" in name]


def test_archive_holds_a_plugin_above_the_working_folder() -> None:
    pathlib.Path("mine.py").write_text("def model_fn(): ...\n")
    here = pathlib.Path("here")
    here.mkdir()
    os.chdir(here)
    files = contents(packed(model_fn="../mine.py:model_fn"))
    assert files["estimator_trainer_job/up/mine.py"] == b"def model_fn(): ...\n"


@pytest.mark.parametrize("target, place", [
    ("./my_model.py", "my_model.py"), ("/home/me/my_model.py", "home/me/my_model.py"),
    ("../../my_model.py", "up/up/my_model.py"), ("a/../b/my_model.py", "b/my_model.py"),
    ("//x/my_model.py", "x/my_model.py")])
def test_archive_has_one_place_for_a_plugin_file(target: str, place: str) -> None:
    assert source_files.packed_place(target) == place


@pytest.fixture
def away(tmp_path: pathlib.Path) -> pathlib.Path:
    """An environment in which the package is installed; the plug-ins' folder is gone since."""
    for name, text in _FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / source_package.NAME).write_bytes(packed(
        model_fn=_FLAGS[0].partition("=")[2], input_fn=_FLAGS[1].partition("=")[2]))
    folder = tmp_path / "away"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    # The environment has setuptools and absl, which the missing packages would bring.
    import absl
    (_site(folder) / "parent.pth").write_text(str(pathlib.Path(absl.__file__).parent.parent))
    _run_in(folder, "python", "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation",
            "--ignore-installed", "--no-index", str(tmp_path / source_package.NAME))
    shutil.rmtree(tmp_path / "files")
    shutil.rmtree(tmp_path / "my_team")
    return folder


def _site(away: pathlib.Path) -> pathlib.Path:
    (site,) = away.glob("lib/python*/site-packages")
    return site


def _run_in(away: pathlib.Path, program: str, *words: str) -> str:
    """Runs a program of an environment in an empty folder; returns what it prints."""
    clean = {k: v for k, v in jobs.environment().items() if k != "PYTHONPATH"}
    empty = away.parent / "empty"
    empty.mkdir(exist_ok=True)
    done = subprocess.run([str(away / "bin" / program), *words], cwd=empty, capture_output=True,
                          env=clean | {"TF_CPP_MIN_LOG_LEVEL": "3"}, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert os.listdir(empty) == []
    return done.stdout


@pytest.mark.soak
@pytest.mark.cluster
def test_archive_is_installed_by_pip_with_the_users_plugins(away: pathlib.Path) -> None:
    site = _site(away)
    assert _run_in(away, "estimator-trainer", "--version").startswith("estimator_trainer ")
    plan_text = _run_in(away, "estimator-trainer", "check", *_FLAGS)
    assert f"{site}/estimator_trainer_job/files/my_model.py:model_fn" in plan_text
    assert f"{site}/my_team/deep/data.py:input_fn" in plan_text
    assert "ready" in plan_text
    installed = {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
    for name in ("estimator_trainer/compat/binding.py", "input_fns/digits.csv.gz", "common.py",
                 "estimator_trainer/requirements.txt", "estimator_trainer_job/files/near.py",
                 "estimator_trainer_job/files/nearer.py", "my_team/deep/words.txt",
                 "estimator_trainer/py.typed"):
        assert name in installed
    assert "estimator_trainer_job/files/unused.py" not in installed
    # The plug-ins are imported from there, neighbours and all.
    code = ("from estimator_trainer import compat\n"
            "from estimator_trainer.plugins import loader\n"
            f"for flag in {_FLAGS!r}:\n"
            "    kind, _, name = flag[2:].partition('=')\n"
            "    print(loader.load(loader.find(kind, name))[1].__file__)\n")
    loaded = _run_in(away, "python", "-c", code).split()[-2:]
    assert all(line.startswith(str(site)) for line in loaded), loaded
