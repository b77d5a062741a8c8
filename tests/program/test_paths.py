"""Paths as people name their files: `~/`, brackets, commas, other encodings, byte order marks."""

from __future__ import annotations

import dataclasses
import os

import pytest

import estimator_trainer
from estimator_trainer import cli, errors, storage
from estimator_trainer.plugins import loader, param_defaults
from estimator_trainer.record import run_record
from estimator_trainer.settings import command_line
from estimator_trainer.settings.job_config import JobConfig
from tests.support import line_model

_FOLDER = "Marie's run [1], final"
_LATIN = '''# -*- coding: latin-1 -*-
"""Modèle."""
DEFAULT_PARAMS = {
    "größe": "é",  # décrit
}
def model_fn(features, labels, mode, params): pass
'''


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / _FOLDER
    folder.mkdir()
    monkeypatch.chdir(folder)
    return tmp_path


@pytest.mark.any_tensorflow
def test_home_is_meant_in_every_setting_that_is_a_path(home, monkeypatch):
    names = ["model_dir", "params_file", "warm_start_from", "export_dir", "output"]
    config = command_line.parse([*(f"--{name}=~/{name}" for name in names)]).config
    for name in names:
        assert getattr(config, name) == f"{home}/{name}"
    assert command_line.parse(["--job-dir=~/job"]).config.model_dir == f"{home}/job"
    words = ["predict", "--data=~/a.csv,~/b.csv,~c.csv"]
    assert command_line.parse(words).config.data == f"{home}/a.csv,{home}/b.csv,~c.csv"
    page = command_line.parse(["report", "--model_dir=~/a", "--model_dir", "~/b"]).page
    assert page.model_dir == (f"{home}/a", f"{home}/b")
    assert JobConfig(log_dir="~/l", output_dir="~/o").log_dir == f"{home}/l"
    assert command_line.parse(["init", "~/mine"]).folder == f"{home}/mine"
    config = dataclasses.replace(config, model_dir="gs://bucket/~/job")
    assert config.model_dir == "gs://bucket/~/job"


@pytest.mark.any_tensorflow
def test_home_is_meant_in_params_and_plugins(home, capsys):
    path = home / _FOLDER / "model [2], x.py"
    path.write_text(line_model.SOURCE)
    named = f"~/{_FOLDER}/{path.name}"
    plugin = loader.find("model_fn", named)
    assert plugin.path == str(path) and plugin.name == named
    found = estimator_trainer.check(named, "csv", params={"train_files": f"~/{_FOLDER}/*.csv"})
    assert found["params"]["train_files"] == f"{home}/{_FOLDER}/*.csv"
    assert param_defaults.with_home(["~/a", 1, "b~/c"]) == [f"{home}/a", 1, "b~/c"]
    assert param_defaults.with_home("~/m.py:build") == "~/m.py:build"
    cli.main(["check", "--input_fn=csv", "--param", "delimiter=~", "--json"])
    assert '"delimiter": "~"' in capsys.readouterr().out


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("content", [
    _LATIN.encode("latin-1"), b"\xef\xbb\xbf" + _LATIN.partition("\n")[2].encode()])
def test_a_plugin_may_be_in_any_encoding_that_python_reads(content, home):
    path = home / "mine.py"
    path.write_bytes(content)
    plugin = loader.find("model_fn", "~/mine.py")
    assert plugin.default_params == {"größe": "é"} and plugin.doc == "Modèle."
    assert param_defaults.read_docs(path).texts == {"größe": "décrit"}
    assert param_defaults.code_problems({"build": f"{path}:model_fn"}, {}) == []
    path.write_bytes(_LATIN.replace("latin-1", "klingon").encode("latin-1"))
    with pytest.raises(errors.ConfigError, match="mine.py.*is not valid Python: .*klingon"):
        loader.find("model_fn", "~/mine.py")


@pytest.mark.any_tensorflow
def test_byte_order_marks_of_windows_are_left_out(home, capsys):
    folder = home / _FOLDER
    (folder / "flags.txt").write_bytes(b"\xef\xbb\xbf--train_steps=20\r\n\r\n# no\r\n--verbose\r\n")
    (folder / "more.txt").write_text(f"--flagfile=~/{_FOLDER}/flags.txt\n--job-dir=~/out\n")
    (folder / "params.json").write_bytes(b"\xef\xbb\xbf" + b'{"batch_size": 3}')
    for words in (["--flagfile", "more.txt"], [f"--flagfile=~/{_FOLDER}/more.txt"]):
        config = command_line.parse(words).config
        assert config.train_steps == 20 and config.verbose and config.model_dir == f"{home}/out"
    found = estimator_trainer.check(params_file=f"~/{_FOLDER}/params.json")
    assert found["params"]["batch_size"] == 3 and not found["problems"]


@pytest.mark.any_tensorflow
def test_a_flag_file_in_utf_16_or_that_reads_itself_is_one_sentence(home, capsys):
    (home / "flags.txt").write_bytes("--train_steps=20\n".encode("utf-16"))
    assert cli.main(["check", "--flagfile=~/flags.txt"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "is in UTF-16; expected a text file in UTF-8" in line
    assert line.endswith(f"iconv -f UTF-16 -t UTF-8 {home}/flags.txt > {home}/flags.txt.utf8, and"
                         f" --flagfile={home}/flags.txt.utf8")
    (home / "flags.txt").write_text("--flagfile=~/flags.txt\n")
    assert cli.main(["check", "--flagfile=~/flags.txt"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "which reads itself again" in line


@pytest.mark.any_tensorflow
def test_a_record_keeps_files_whose_names_have_brackets_and_commas(home):
    files = ["a [1], b.csv", "c.csv"]
    for name in files:
        (home / _FOLDER / name).write_text("x\n")
    whole = ",".join(os.path.join(home, _FOLDER, name) for name in files)
    assert run_record.whole_paths({"train_files": ",".join(files)}) == {"train_files": whole}
    record = run_record.RunRecord(files={"train_files": whole})
    assert record.found_files == {"train_files": whole}
    assert storage.parts_of(whole) == [os.path.join(home, _FOLDER, name) for name in files]
    assert storage.is_found(f"{home}/{_FOLDER}/*.csv") and not storage.is_found("*.json")


@pytest.mark.any_tensorflow
def test_examples_and_hints_do_not_repeat_what_was_typed():
    problem = errors.Problem("data", "new.jsonl", "no", example=errors.Setting("data", "new.jsonl"))
    assert str(problem) == "data is 'new.jsonl' (from --data), no."
    other = dataclasses.replace(problem, example=errors.Setting("data", "other.jsonl"))
    assert str(other).endswith("For example: --data=other.jsonl")
    assert not errors.near_match("rat", ["rat"])
    assert errors.near_match("rat", ["rat", "rate"]) == " Did you mean 'rate'?"


@pytest.mark.soak
def test_a_job_reads_and_writes_paths_with_brackets_commas_and_home(home, capsys):
    folder = home / _FOLDER
    for name in ("train [a], 1.csv", "new [b], 2.csv"):
        rows = (f"{i % 50 / 2},{i % 50}\n" for i in range(300))
        (folder / name).write_text("".join(["x,y\n", *rows]))
    flags = ["--model_dir=~/model, of Marie"]
    assert cli.main([*flags, "--model_fn=canned", "--input_fn=csv", "--train_steps=20",
                     "--train_until=train_steps", "--param", "label=y",
                     "--param", f"train_files=~/{_FOLDER}/train [a], 1.csv",
                     "--param", "eval_files=train [a], 1.csv"]) == 0
    os.chdir(home)
    assert cli.main(["evaluate", *flags]) == 0
    assert cli.main(["predict", *flags, f"--data=~/{_FOLDER}/new [b], 2.csv",
                     f"--output=~/{_FOLDER}/out [c], 3.csv"]) == 0
    assert len((folder / "out [c], 3.csv").read_text().splitlines()) == 301
    assert cli.main(["report", *flags]) == 0
    assert (home / "model, of Marie" / "report.html").exists()
