"""Tests the benchmark suite: what is timed, when peers are not compared, tables and targets."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest

from benchmarks.suite import __main__ as suite, agreement, comparison, peer_runs, table
from benchmarks.suite.peers import work

pytestmark = pytest.mark.any_tensorflow


def _report(speed=100.0, **changes):
    return {"examples_per_sec": speed, "loss": 0.5, "batch_size": 64, "parameters": 347146,
            "dtype": "float32", "threads": 2, "peak_rss_mb": 700.0, **changes}


def _results(cases):
    return {"date": "2026-01-31", "commit": "abc1234", "machine": "A CPU", "cores": 2,
            "versions": {"torch": {"Python": "3.13.0", "torch": "2.13.0"}}, "repeats": 2,
            "steps": 2000, "cases": cases}


def test_peers_that_did_the_same_are_compared_in_turn():
    ran = []

    def run(peer):
        ran.append(peer)
        return _report(loss=0.5 + 0.001 * len(ran))

    runs = peer_runs.measured(["trainer", "raw_loop"], 2, run)
    assert ran == ["trainer", "raw_loop", "trainer", "raw_loop"]
    assert {peer: len(reports) for peer, reports in runs.items()} == {"trainer": 2, "raw_loop": 2}


@pytest.mark.parametrize("changes,reason", [
    ({"parameters": 347147}, "raw_loop has 347147 trainable parameters, trainer has 347146"),
    ({"batch_size": 32}, "raw_loop has 32 examples a step, trainer has 64"),
    ({"dtype": "bfloat16"}, "raw_loop has bfloat16 as precision, trainer has float32"),
    ({"threads": 1}, "raw_loop has 1 threads, trainer has 2"),
    ({"loss": 0.6}, "raw_loop ended with a loss of 0.6, more than 10% from 0.5,"),
    ({"loss": 0.4}, "raw_loop ended with a loss of 0.4, more than 10% from 0.5,"),
    ({"loss": float("nan")}, "raw_loop ended with a loss of nan, more than"),
])
def test_peers_that_did_something_else_are_not_compared(changes, reason):
    ran = []

    def run(peer):
        ran.append(peer)
        return _report(**(changes if peer == "raw_loop" else {}))

    with pytest.raises(SystemExit) as stopped:
        peer_runs.measured(["trainer", "torch_loop", "raw_loop"], 3, run)
    # A message makes Python exit with 1.
    assert stopped.value.code.startswith(f"no comparison: {reason}")
    assert "\n" not in stopped.value.code
    assert ran == ["trainer", "torch_loop", "raw_loop"], "a long run is not waited for"


def test_a_peer_that_differs_in_one_repetition_alone_is_found():
    runs = {"trainer": [_report(), _report()],
            "torch_loop": [_report(threads=1), _report()]}
    assert "torch_loop has 1 threads" in agreement.problem(runs)


def test_the_table_has_medians_and_ratios_of_each_repetition():
    text = table.text(_results({"cnn": {
        "trainer": [_report(200.0, loss=0.51), _report(100.0), _report(150.0, loss=0.49)],
        "torch_loop": [_report(100.0), _report(80.0), _report(50.0, peak_rss_mb=1400.0)]}}))
    assert text.splitlines()[0] == (
        "| cnn, batch 64 | examples/s | trainer is faster by | min-max | parameters | loss"
        " | peak MB | trainer takes |")
    assert "| trainer | 150 | 1.00x | 1.00-1.00 | 347,146 | 0.500 | 700 | 1.00x |" in text
    assert "| torch_loop | 80 | 2.00x | 1.25-3.00 | 347,146 | 0.500 | 700 | 1.00x |" in text
    assert text.splitlines()[-1].startswith(
        "2026-01-31, estimator_trainer abc1234, A CPU, 2 cores, 2 threads; torch: Python 3.13.0,"
        " torch 2.13.0.")


@pytest.mark.parametrize("ours,memory,speed_met,memory_met", [
    (135.0, 770.0, "yes", "yes"), (134.0, 771.0, "no", "no")])
def test_targets_are_met_at_their_ratio_and_not_below(ours, memory, speed_met, memory_met):
    text = table.text(_results({"cnn": {
        "trainer": [_report(ours, peak_rss_mb=memory)], "torch_loop": [_report(100.0)],
        "estimator_tuned": [_report(100.0)]}}))
    targets = [line for line in text.splitlines() if line.startswith("| cnn:")]
    assert targets == [
        f"| cnn: at least 1.35x torch_loop | {ours / 100:.2f}x | {speed_met} |",
        "| cnn: at most 1.10x the memory of estimator_tuned | 1.10x | " + f"{memory_met} |"]


def test_targets_are_of_the_trainer_alone_and_of_peers_there_are():
    assert {target.peer for target in comparison.TARGETS} <= set(peer_runs.PEERS)
    assert {target.case for target in comparison.TARGETS} == set(peer_runs.CASES) == set(work.CASES)
    runs = {"raw_loop": [_report()], "torch_loop": [_report()]}
    assert not comparison.verdicts({"cnn": runs})


@pytest.mark.parametrize("steps_at_once", [1, 50, 200])
def test_the_timed_steps_and_those_of_the_loss_are_the_same_for_all(
        steps_at_once, monkeypatch, capsys):
    todo = work.Work("cnn", 64, 400, pathlib.Path(), pathlib.Path())
    timer = work.Timer(todo)
    made = 0
    # The warm-up takes 10 s a step, the timed steps 0.5 s, the others 3 s.
    monkeypatch.setattr(work.time, "perf_counter", lambda: (
        10.0 * min(made, work.WARM_UP_STEPS)
        + 0.5 * max(0, min(made - work.WARM_UP_STEPS, todo.steps))
        + 3.0 * max(0, made - work.WARM_UP_STEPS - todo.steps)))
    while not timer.is_done:
        loss = 0.25 if made >= work.WARM_UP_STEPS + todo.steps else "never read"
        made += steps_at_once
        timer.step(loss, steps_at_once)
    timer.report(10, "torch.float32", 2)
    report = json.loads(capsys.readouterr().out)
    assert made == todo.all_steps == work.WARM_UP_STEPS + 400 + work.LOSS_STEPS
    assert report["examples_per_sec"] == pytest.approx(64 / 0.5)
    assert report["loss"] == 0.25
    assert report["dtype"] == "float32" and report["peak_rss_mb"] > 1
    assert set(agreement.SAME) < set(report)


def test_the_requested_steps_fit_every_peer(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["suite", "--idx=/nowhere", "--steps=250"])
    with pytest.raises(SystemExit) as stopped:
        suite.main()
    assert stopped.value.code == 2
    assert "--steps is 250; expected a multiple of 200" in capsys.readouterr().err
