"""The history has all lines of all tasks, across resumes, and stays small."""

from __future__ import annotations

import json

from estimator_trainer.reports import history
from estimator_trainer.reports.history import HistoryWriter


def _steps(lines, kind="train"):
    return [line["step"] for line in lines if line["kind"] == kind]


def _written(model_dir, task, is_head, steps, code=0):
    writer = HistoryWriter(str(model_dir), task, is_head)
    for step in steps:
        writer.add("train", step=step, loss=1 / (step + 1))
    writer.add("end", status="done", step=steps[-1], exit_code=code)
    writer.close()


def test_history_writer_continues_below_the_first_runs_lines(tmp_path):
    _written(tmp_path, "local", True, [0, 10])
    _written(tmp_path, "local", True, [20, 30])
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert _steps(lines) == [0, 10, 20, 30]
    assert [line["kind"] for line in lines].count("start") == 2
    assert all(line["memory_mb"] > 10 for line in lines if line["kind"] == "train")


def test_history_writer_of_the_head_collects_the_others_lines(tmp_path):
    _written(tmp_path, "worker:0", False, [1, 3])
    _written(tmp_path, "chief:0", True, [2, 4])
    text = (tmp_path / "history.jsonl").read_text()
    assert text.count('"worker:0"') == text.count('"chief:0"') == 4
    # A line after the head's end is visible to readers.
    _written(tmp_path, "evaluator:0", False, [9])
    lines = history.read(str(tmp_path))
    assert {line["task"] for line in lines} == {"worker:0", "chief:0", "evaluator:0"}
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def test_read_loses_only_a_line_that_was_cut_off(tmp_path):
    _written(tmp_path, "local", True, [0, 10])
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write('{"task": "local", "kind": "tra')
    _written(tmp_path, "local", True, [20])
    assert _steps(history.read(str(tmp_path))) == [0, 10, 20]


def test_history_writer_writes_nan_as_null(tmp_path):
    writer = HistoryWriter(str(tmp_path), "local", True)
    writer.add("train", step=1, loss=float("nan"), input_wait=None)
    writer.add("evaluation", step=1, metrics={"auc": float("inf"), "loss": 0.123456789})
    writer.close()
    text = (tmp_path / "history.jsonl").read_text()
    assert '"loss": null' in text and '"auc": null' in text and "0.123457" in text


def test_thinned_keeps_the_ends(tmp_path):
    lines = [{"task": "local", "kind": "train", "time": float(i), "step": 10 * i}
             for i in range(3 * history.MOST_LINES)]
    lines.insert(5, {"task": "local", "kind": "start", "time": 4.5})
    kept = history.thinned(lines)
    steps = _steps(kept)
    assert history.MOST_LINES / 3 < len(steps) <= history.MOST_LINES
    assert (steps[0], steps[-1]) == (0, 10 * (3 * history.MOST_LINES - 1))
    # The kept lines lie evenly, and other kinds stay.
    gaps = {b - a for a, b in zip(steps, steps[1:-1])}
    assert max(gaps) <= 2 * min(gaps)
    assert [line["kind"] for line in kept].count("start") == 1
    assert history.thinned(kept) == kept


def test_thinned_shares_the_lines_among_many_tasks():
    lines = [{"task": f"worker:{i % 8}", "kind": "train", "time": float(i), "step": i}
             for i in range(4 * history.MOST_LINES)]
    assert len(history.thinned(lines)) <= history.MOST_LINES


def test_the_history_of_a_thousand_tasks_can_be_read_whole():
    lines = [{"task": f"worker:{i}", "kind": kind, "time": float(j), "step": j}
             for i in range(1000) for kind in ("train", "sample") for j in range(40)]
    of_all = history.thinned(lines)
    assert len(of_all) <= 1000 * (20 + 10)
    assert {line["task"] for line in of_all} == {line["task"] for line in lines}
    of_one = history.thinned([line for line in lines if line["task"] == "worker:7"], 1000)
    assert len(of_one) <= 20 + 10 and _steps(of_one)[-1] == 39


def test_history_writer_makes_no_folder_for_a_mistake(tmp_path):
    writer = HistoryWriter(str(tmp_path / "new"), "local", True)
    writer.add("end", status="failed", step=0, exit_code=2)
    writer.close()
    assert not (tmp_path / "new").exists()
