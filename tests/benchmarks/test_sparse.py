"""Tests the benchmark of sparse models: its tables, and the rows that need no other environment."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from benchmarks.sparse import __main__ as sparse, rows, table
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow


def _run(row, repeat=0, speed=50.0, ps=1, **changes):
    tasks = ("chief:0", "worker:0", "ps:0") if ps else ("local:0",)
    return {"columns": 26, "dimension": 16, "batch": 512, "ps": ps, "row": row, "repeat": repeat,
            "commit": "abc1234", "flags": [], "steps_per_sec": speed,
            "examples_per_sec": 512 * speed, "cpu_ms": dict.fromkeys(tasks, 600 / speed),
            "kilobytes": 1250.0, "memory_mb": dict.fromkeys(tasks, 900.0), "calls": 175,
            "loss": 0.58, "foreign_cores": 0.01, **changes}


def _text(*runs):
    return table.text({"date": "2026-01-31", "machine": "2 cores, A CPU",
                       "versions": {"tensorflow": "2.21.0"}, "runs": list(runs)})


def test_ratios_are_made_inside_one_repetition():
    text = _text(*(_run(row, repeat, speed) for row, speeds in (
        ("ours", (90.0, 80.0, 100.0)), ("plain", (60.0, 40.0, 50.0)))
        for repeat, speed in enumerate(speeds)))
    assert ("| plain Estimator | 50.0 | 25,600 |  | 36.0 |  | 0.5800 |\n"
            "| this project, the same script | 90.0 | 46,080 | 2.00x (1.50-2.00) | 20.0 |"
            " 0.50x (0.50-0.67) | 0.5800 |") in text
    assert "\\*" not in text and "Medians of 3 repetitions" in text


def test_the_second_table_has_what_each_task_takes():
    text = _text(_run("plain"), _run("packs", calls=10), _run("torch", calls=None))
    assert ("| plain Estimator | chief:0 12.0, worker:0 12.0, ps:0 12.0 | 175 | 1,250 |"
            " chief:0 900, worker:0 900, ps:0 900 | 0.01 |") in text
    assert "| 10 | 1,250 |" in text
    assert "| PyTorch, an `EmbeddingBag` for each column; 2 trainers, gloo | chief:0 12.0," in text


@pytest.mark.parametrize("loss,is_marked", [(0.6, False), (0.7, True), (float("nan"), True)])
def test_a_row_that_did_not_train_the_same_is_marked(loss, is_marked):
    text = _text(_run("plain"), _run("ours", loss=loss))
    assert ("| this project, the same script \\* |" in text) == is_marked
    assert ("\n\n\\* Its loss of" in text) == is_marked


def test_repetitions_and_rows_that_plain_lacks_have_no_ratio():
    text = _text(_run("ours"), _run("plain", repeat=1), _run("fused", ps=0))
    assert "| this project, the same script | 50.0 | 25,600 |  | 36.0 |  |" in text
    assert "| one process; 26 columns, dimension 16, batch 512 | steps/s |" in text


def test_each_row_has_its_places_and_tasks():
    assert rows.of(0, list(rows.ROWS)) == ["plain", "ours", "fused", "torch", "torch_fused"]
    assert rows.of(2, ["packs", "fused", "ours"]) == ["packs", "ours"]
    assert rows.ROWS["ours"].counts(2) == {"chief": 1, "worker": 2, "ps": 2}
    assert rows.ROWS["torch"].counts(2) == {"chief": 1, "worker": 2}
    assert not rows.ROWS["ours"].counts(0)


def test_an_unknown_row_is_named(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["sparse", "--rows=plain,our"])
    with pytest.raises(SystemExit) as stopped:
        sparse.main()
    assert stopped.value.code == 2
    assert "'our' is no row; expected some of plain, ours, packs" in capsys.readouterr().err


@pytest.mark.cluster
@pytest.mark.soak
def test_all_rows_of_tensorflow_train_the_same_and_are_counted(tmp_path):
    def benchmark(*args):
        ran = subprocess.run([sys.executable, "-m", "benchmarks.sparse", f"--work={tmp_path}",
                              *args], text=True, capture_output=True, timeout=280, check=False,
                             env=jobs.environment())
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    names = ["plain", "ours", "packs", "fused"]
    text = benchmark("--quick", f"--rows={','.join(names)}", "--ps=0,1", "--columns=5",
                     "--batch=128")
    runs = json.loads((tmp_path / "sparse.json").read_text())["runs"]
    assert [(run["row"], run["ps"]) for run in runs] == [
        ("plain", 0), ("ours", 0), ("fused", 0), ("plain", 1), ("ours", 1), ("packs", 1)]
    for run in runs:
        assert run["steps_per_sec"] > 0 and min(run["memory_mb"].values()) > 100
        assert 0.5 < run["loss"] < 0.75
        if run["ps"]:
            assert set(run["cpu_ms"]) == {"chief:0", "worker:0", "ps:0"}
            assert run["kilobytes"] > 20
            assert run["calls"] <= (12 if run["row"] == "packs" else 80)
        else:
            assert set(run["cpu_ms"]) == {"local:0"}
    assert len(re.findall(r"^\| plain Estimator \|", text, re.M)) == 4
    assert benchmark("--markdown").strip() in text
