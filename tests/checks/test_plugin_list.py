"""`list` prints the plug-ins: what each is for, and the params to set first, or all of one."""

from __future__ import annotations

import json

import pytest

from estimator_trainer import cli

pytestmark = pytest.mark.any_tensorflow


def _printed(capsys, *words):
    """Returns the exit code of `list`, and what it prints."""
    code = cli.main(["list", *words])
    shown = capsys.readouterr()
    return code, shown.out + shown.err


def test_described_shows_of_each_plugin_what_is_set_first(capsys):
    code, shown = _printed(capsys)
    csv = shown.partition("--input_fn=csv ")[2].partition("--input_fn=")[0].splitlines()
    assert code == 0 and csv[1] == "    reads tables"
    first = [line.split("=")[0].strip() for line in csv if line[4:5].strip() and "=" in line]
    assert first == ["train_files", "eval_files", "label", "drop", "batch_size"]
    assert "    for tables; learns classes or numbers\n" in shown
    assert len(shown.splitlines()) < 160


def test_described_shows_every_param_of_a_plugin_with_its_default(capsys):
    listed = {(p["kind"], p["name"]): p for p in json.loads(_printed(capsys, "--json")[1])}
    assert listed["model_fn", "cnn"]["params"]["decay_rate"] == 0.9
    assert listed["input_fn", "digits"]["params"]["batch_size"] == 64
    assert listed["input_fn", "table"]["first_params"][0] == "train_files"
    assert all(p["doc"] and p["data"] for p in listed.values())
    silent = {(name, key) for (_, name), p in listed.items() for key in p["params"]
              if not p["texts"].get(key)}
    assert not silent
    for words in (["resnet"], ["--model_fn=resnet"]):
        shown = _printed(capsys, *words)[1]
        assert "    depth=0                         number of layers with weights; 0:" in shown
        assert shown.count("    warmup_steps=-1 ") == 1 and "--input_fn" not in shown


def test_described_takes_a_file_and_names_the_near_match(capsys, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("DEFAULT_PARAMS = {'size': 1}  # units\ndef input_fn(mode, params): pass\n")
    assert "    size=1" in _printed(capsys, str(path))[1]
    code, shown = _printed(capsys, "mpl")
    assert code == 2 and "Did you mean 'mlp'?" in shown and len(shown.splitlines()) == 1
