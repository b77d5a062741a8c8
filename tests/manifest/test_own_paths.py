"""`manifest` names each path that the tasks of a job cannot open, and what to type."""

from __future__ import annotations

import pathlib
import tarfile

import pytest

from estimator_trainer import cli
from estimator_trainer.manifest import own_paths, source_package
from estimator_trainer.plugins import source_files
from tests.support.manifests import write

pytestmark = pytest.mark.any_tensorflow


def _of(params=(), settings=(), arguments=(), mount="/shared"):
    script = source_files.Script("train.py", "train.py", tuple(arguments))
    return list(map(str, own_paths.warnings(dict(params), dict(settings), script, mount,
                                            "--volume=CLAIM:PATH above it, or ")))


@pytest.fixture(name="here")
def fixture_here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A working directory with data and code."""
    (tmp_path / "data").mkdir()
    for name in ("data/train.csv", "model.py", "settings.json"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("word, value", (
    ("--train_data=data/train.csv", "--train_data=gs://bucket/train.csv"),
    ("data/train.csv", "gs://bucket/train.csv"),
    ("--files=gs://b/a.csv,data/*.csv", "'--files=gs://b/a.csv,gs://bucket/*.csv'"),
    ("--settings=settings.json", "--settings=gs://bucket/settings.json"),
    ("./data", "gs://bucket/data")))
@pytest.mark.usefixtures("here")
def test_a_scripts_argument_that_is_a_file_here_is_named(word: str, value: str) -> None:
    (warning,) = _of(arguments=["--steps=5", word, "--lr", "0.1"])
    assert warning.startswith(f"an argument of the script is {word!r} (from the words after `--`)")
    assert " of this machine, which the job does not pack; expected --volume=CLAIM" in warning
    assert warning.endswith(f" For example: {value}")


@pytest.mark.usefixtures("here")
def test_a_path_that_nothing_mounts_is_named() -> None:
    (warning,) = _of(params={"train_files": "/data/x.csv"})
    assert warning == (
        "param train_files is '/data/x.csv' (from --param train_files), which nothing mounts: a "
        "task finds nothing there, and what it writes is lost with its container; expected "
        "--volume=CLAIM:PATH above it, or a bucket. For example: -- --param "
        "train_files=gs://bucket/x.csv")
    (warning,) = _of(settings={"warm_start_from": "/old/model"})
    assert warning.startswith("warm_start_from is '/old/model' (from --warm_start_from), which not")


@pytest.mark.usefixtures("here")
def test_what_tasks_can_open_is_not_named() -> None:
    params = {"train_files": "/shared/x.csv,gs://b/y.csv", "loss": "a/b", "code": "model.py:f",
              "ratio": "0.5", "text": "data", "pattern": "/dense", "key": "/run/secrets/key"}
    arguments = ["--data_dir=/shared", "-v", "--url=http://a/b", "a,b", "."]
    assert not _of(params, {"params_file": ""}, arguments)


@pytest.mark.usefixtures("own_folder")
def test_manifest_prints_a_warning_for_each() -> None:
    flags = ["--model_dir=gs://bucket/m", "--input_fn=csv", "--param", "train_files=/data/x.csv"]
    for platform, advice in (("kubernetes", "--volume=CLAIM:PATH above it, or a bucket"),
                             ("vertex", "a bucket")):
        text = write(f"--platform={platform}", flags=flags)
        assert text.count("WARNING: param train_files is '/data/x.csv'") == 1
        assert f"container; expected {advice}. For example" in text
    assert "WARNING" not in write("--volume=a:/data", flags=flags)


def test_the_arguments_of_a_script_are_read(here: pathlib.Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    (here / "train.py").write_text("")
    assert cli.main(["manifest", "--image=r/a:1", "--worker=1", "--ps=1", "--", "run", "train.py",
                     "--", "--data=data/train.csv", "--model_dir=gs://bucket/m"]) == 0
    printed = capsys.readouterr().out
    assert "WARNING: an argument of the script is '--data=data/train.csv'" in printed


def test_the_files_of_an_eval_set_are_read_and_its_code_is_packed(
        here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mobile.py").write_text("DEFAULT_PARAMS = {'files': ''}\ndef input_fn(): pass\n")
    assert cli.main([
        "manifest", "--platform=vertex", "--", "--model_dir=gs://bucket/m", "--input_fn=csv",
        "--param=train_files=gs://bucket/x.csv", "--eval_set=recent:eval_files=data/train.csv",
        "--eval_set=mobile:input_fn=./mobile.py"]) == 0
    [warning] = [line for line in capsys.readouterr().out.splitlines() if "WARNING" in line]
    assert warning.startswith("WARNING: eval_set is 'recent:eval_files=data/train.csv' (from")
    assert warning.endswith("For example: -- --eval_set=recent:eval_files=gs://bucket/train.csv")
    with tarfile.open(here / "manifest" / source_package.NAME) as packed:
        assert any(name.endswith("/mobile.py") for name in packed.getnames())
