"""Tests the benchmark of kinds of Estimator programs: its table, programs and measurements."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys

import pytest

from benchmarks.kinds import __main__ as kinds
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow


def _text(*runs):
    return kinds.text({"date": "2026-01-31", "machine": "2 cores, A CPU",
                       "versions": {"tensorflow": "2.21.0"}, "runs": [
                           {"kind": kind, "commit": "abc1234", "flags": [], "plain": plain,
                            "ours": ours} for kind, plain, ours in runs]})


def test_each_kind_has_the_medians_and_the_median_ratio_of_its_pairs():
    text = _text(("hook", 100.0, 90.0), ("hook", 50.0, 60.0), ("hook", 80.0, 80.0),
                 ("lstm", 10.0, 12.5))
    assert "| a hook in the TrainSpec | 80.0 | 80.0 | 1.00x (0.90-1.20) |" in text
    assert "| an LSTM with padded batches | 10.0 | 12.5 | 1.25x (1.25-1.25) |" in text
    assert "Medians of pairs in turn (1-3 of each kind)" in text
    assert kinds.KINDS["csv"].label not in text


@pytest.mark.parametrize("name", kinds.KINDS)
def test_both_commands_of_a_kind_train_the_same_program(name, tmp_path):
    plain, ours = (kinds.KINDS[name].command(runner, tmp_path, ["--xla"])
                   for runner in ("plain", "ours"))
    assert importlib.util.find_spec(plain[2])
    assert ours[2:6] == ["estimator_trainer", "run", "--xla", plain[2]]
    assert ours[7:] == plain[3:]


def test_an_unknown_kind_is_named(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kinds", "--kinds=hook,cvs"])
    with pytest.raises(SystemExit) as stopped:
        kinds.main()
    assert stopped.value.code == 2
    assert "'cvs' is no kind; expected some of hook, model_class" in capsys.readouterr().err


@pytest.mark.cluster
@pytest.mark.soak
def test_all_kinds_are_measured(tmp_path):
    measured = subprocess.run(
        [sys.executable, "-m", "benchmarks.kinds", "--quick", f"--work={tmp_path}"],
        cwd=jobs.REPO, capture_output=True, text=True, timeout=600)
    assert measured.returncode == 0, measured.stderr[-2000:]
    runs = json.loads((tmp_path / "kinds.json").read_text())["runs"]
    assert [run["kind"] for run in runs] == list(kinds.KINDS)
    for kind in kinds.KINDS.values():
        assert re.search(rf"^\| {re.escape(kind.label)} \| [\d.,]+ \| [\d.,]+ \| \d",
                         measured.stdout, re.M)
