"""Tests the predictions on paper: limits, known constants, a closed form, the command line."""

from __future__ import annotations

import dataclasses
import json
import sys

import numpy as np
import pytest

from benchmarks.paper import __main__ as paper_model, costs as costs_lib, step_model, stragglers
from benchmarks.paper.costs import Linear
from benchmarks.paper.step_model import Cluster, StepModel, Workload
from benchmarks.paper.stragglers import StepTimes

pytestmark = pytest.mark.any_tensorflow

_WORK = Workload(step_secs=0.2, batch_size=64, model_bytes=1e8)
_CLUSTER = Cluster(bytes_per_sec=1.25e9, latency_secs=5e-5)
_FREE = costs_lib.Costs()
_EVEN = StepTimes(sigma=0.0)
_TASKS = (8, 64, 1024)


def _model(work=_WORK, cluster=_CLUSTER, costs=_FREE, times=_EVEN, **changes):
    fields = {field.name for field in dataclasses.fields(Workload)}
    of_work = {name: value for name, value in changes.items() if name in fields}
    of_cluster = {name: value for name, value in changes.items() if name not in fields}
    return StepModel(dataclasses.replace(work, **of_work),
                     dataclasses.replace(cluster, **of_cluster), costs, times)


def _all_modes(model, tasks, ps=4):
    return [model.all_reduce(tasks), model.synchronous(tasks, ps), model.asynchronous(tasks, ps)]


def test_one_task_communicates_with_nobody():
    slow = _model(bytes_per_sec=1.0, latency_secs=100.0)
    for prediction in _all_modes(slow, 1):
        assert prediction.examples_per_sec == pytest.approx(64 / 0.2)
        assert prediction.bottleneck == "compute"


@pytest.mark.parametrize("tasks", _TASKS)
def test_a_network_that_costs_nothing_leaves_computing_alone(tasks):
    for prediction in _all_modes(_model(bytes_per_sec=np.inf, latency_secs=0.0), tasks):
        assert prediction.examples_per_sec == pytest.approx(tasks * 64 / 0.2)
        assert prediction.bottleneck == "compute"


@pytest.mark.parametrize("worse", [
    {"bytes_per_sec": 1e8}, {"latency_secs": 1e-2}, {"model_bytes": 1e9}, {"input_files": 7},
    {"step_secs": 0.3}, {"checkpoint_bytes": 1e12}])
@pytest.mark.parametrize("tasks", _TASKS)
def test_whatever_gets_worse_makes_every_mode_slower(worse, tasks):
    costs = dataclasses.replace(_FREE, save=Linear(byte=1e-8), record_secs=5e-4)
    for good, bad in zip(_all_modes(_model(costs=costs), tasks),
                         _all_modes(_model(costs=costs, **worse), tasks)):
        assert bad.examples_per_sec < good.examples_per_sec


def test_more_tasks_make_more_examples_and_more_ps_never_harm():
    model = _model(times=StepTimes(0.1))
    for mode in (0, 1, 2):
        speeds = [_all_modes(model, tasks)[mode].examples_per_sec for tasks in (1, *_TASKS)]
        each = [speed / tasks for speed, tasks in zip(speeds, (1, *_TASKS))]
        assert each == sorted(each, reverse=True)
    for predict in (model.synchronous, model.asynchronous):
        speeds = [predict(64, ps).examples_per_sec for ps in (1, 2, 4, 8, 16, 64)]
        assert speeds == sorted(speeds)


def test_asynchronous_training_is_bounded_by_the_links_of_the_ps():
    model = _model()
    for tasks in (8, 64, 1024):
        most = 2 * 1.25e9 / 1e8 * 64  # Two ps, each with half of the bytes in each direction.
        assert model.asynchronous(tasks, ps=2).examples_per_sec <= most
    assert model.asynchronous(1024, ps=2).examples_per_sec == pytest.approx(most, rel=0.01)


def test_copying_the_bytes_of_an_all_reduce_differs_from_the_network():
    prediction = _model(costs=costs_lib.Costs(ring=Linear(byte=5e-9))).all_reduce(8)
    assert prediction.parts["all-reduce copying"] == pytest.approx(14 / 8 * 0.5)
    assert prediction.bottleneck == "all-reduce copying"


def test_an_all_reduce_takes_two_times_the_bytes_and_two_latencies_a_hop():
    parts = _model(packs=3).all_reduce(8).parts
    assert parts["all-reduce bandwidth"] == pytest.approx(14 / 8 * 1e8 / 1.25e9)
    assert parts["all-reduce latency"] == pytest.approx(14 * 3 * 5e-5)


@pytest.mark.parametrize("mode,changes,times,name", [
    (0, {"bytes_per_sec": 1e7}, _EVEN, "all-reduce bandwidth"),
    (0, {"latency_secs": 1e-2}, _EVEN, "all-reduce latency"),
    (0, {}, StepTimes(0.05, 0.01, 1.2), "stragglers"),
    (0, {"input_files": 8}, _EVEN, "input shards"),
    (0, {"checkpoint_bytes": 1e11}, _EVEN, "checkpoint"),
    (0, {}, _EVEN, "compute"),
    (1, {}, _EVEN, "ps bandwidth"),
    (1, {"bytes_per_sec": 1e13}, _EVEN, "ps computing"),
    (2, {}, _EVEN, "ps bandwidth"),
    (2, {"bytes_per_sec": 1e13}, _EVEN, "ps computing"),
    (2, {"bytes_per_sec": 1e13, "ps_cores": 1000}, _EVEN, "compute")])
def test_the_bottleneck_has_its_name(mode, changes, times, name):
    costs = costs_lib.Costs(server=Linear(byte=1e-9), save=Linear(byte=1e-8), record_secs=1e-4)
    prediction = _all_modes(_model(costs=costs, times=times, **changes), 128, ps=2)[mode]
    assert prediction.bottleneck == name


@pytest.mark.cluster
def test_more_tasks_need_more_ps_but_for_a_large_variable():
    model = _model()
    for is_synchronous in (False, True):
        needed = [model.ps_needed(tasks, is_synchronous) for tasks in _TASKS]
        assert needed[0] < needed[1] < needed[2] <= 1024
    assert _model(largest_bytes=1e8).ps_needed(64, is_synchronous=False) == 1


@pytest.mark.parametrize("files,tasks,read", [
    (8, 8, 1.0), (16, 8, 1.0), (8, 16, 16.0), (8, 3, 1.5), (0, 5, 1.0)])
def test_files_that_do_not_divide_among_the_tasks_are_read_by_all(files, tasks, read):
    assert step_model.records_read(files, tasks) == read


def test_queues_are_those_of_mean_value_analysis_worked_out_by_hand():
    assert step_model.queue_secs([1.0], 1.0, customers=1) == [1.0]
    assert step_model.queue_secs([1.0], 1.0, customers=2) == [1.5]
    assert step_model.queue_secs([0.5], 0.0, customers=10) == [5.0]


def _run(case, mode, trainers, variables, size, costs):
    """Returns a run on two cores of a network that computes for 10 ms a step, with these costs."""
    run = {"case": case, "mode": mode, "trainers": trainers, "cores": min(trainers, 2),
           "variables": variables, "variable_bytes": size, "batch_size": 32, "repeat": 0}
    is_alone = mode in ("local", "independent")
    secs = 0.01 if is_alone else costs_lib.predicted_secs(costs, run, 0.01)
    trainers_a_step = trainers if mode in ("all_reduce", "sync_ps") else 1
    serving = 0.0 if is_alone else costs.server.secs(variables, size)
    cpu_secs = ({"local": secs / trainers} if is_alone else
                {"chief": trainers_a_step * secs - serving, "ps": serving})
    examples_per_sec = run["cores"] * 32 / secs
    return {**run, "examples_per_sec": examples_per_sec, "cpu_secs": cpu_secs,
            "steps_per_sec": examples_per_sec / 32 / trainers_a_step}


def _runs(costs, counts):
    return [_run(case, mode, trainers, variables, size, costs)
            for case, variables, size in (("a", 4, 4e5), ("b", 4, 1e7), ("c", 30, 1e6))
            for trainers in counts
            for mode in ("local" if trainers == 1 else "independent", "all_reduce", "async_ps",
                         "sync_ps")]


_KNOWN = costs_lib.Costs(
    ring=Linear(2e-4, 3e-4, 2e-9), client=Linear(1e-3, 1e-4, 1e-9),
    server=Linear(5e-4, 2e-4, 3e-9), sync=Linear(1e-3, 3e-4, 4e-9))


def test_the_fit_recovers_the_costs_that_made_the_runs():
    fitted = costs_lib.fit_steps(_runs(_KNOWN, (1, 2)), costs_lib.clock_secs)
    for name in ("ring", "client", "server", "sync"):
        assert dataclasses.astuple(getattr(fitted, name)) == pytest.approx(
            dataclasses.astuple(getattr(_KNOWN, name)), rel=1e-6)
    four = _run("a", "sync_ps", 4, 4, 4e5, _KNOWN)
    assert costs_lib.predicted_secs(fitted, four, 0.01) == pytest.approx(
        costs_lib.clock_secs(four))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    dice = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("measured") / "scaling.json"
    path.write_text(json.dumps({
        "date": "2026-01-31", "machine": "2 cores", "mlp": _runs(_KNOWN, (1, 2, 4)),
        "backup": [{"workers": 4, "gradients": n, "late_secs": late, "step_secs": 0.1}
                   for late, n in ((0.0, 4), (0.1, 3))],
        "disk": [{"checkpoint": [[1e6, 0.02], [1e8, 1.01]], "record_secs": 1e-6,
                  "step_secs": list(0.02 * StepTimes(0.05).draw(dice, (1000,)))}]}))
    return path


def test_costs_of_one_and_two_processes_predict_four_that_have_the_same(measured, capsys):
    paper_model.main([f"--measured={measured}", "--check"])
    four = capsys.readouterr().out.partition("predicts 4:")[2].partition("Fitted")[0]
    rows = [line for line in four.splitlines() if "| 4 |" in line]
    assert len(rows) == 9 and all(line.endswith(("+0% |", "-0% |")) for line in rows)
    assert "median error 0%, at most 0%" in four


@pytest.mark.soak
@pytest.mark.cluster
def test_the_command_prints_speeds_limits_and_the_number_of_ps(measured, capsys):
    paper_model.main([f"--measured={measured}", "--model_mb=100", "--largest_mb=60"])
    printed = capsys.readouterr().out
    rows = [line.split("|") for line in printed.splitlines() if line.startswith("| ")]
    assert [row[1].strip() for row in rows] == ["tasks", *map(str, paper_model.TASKS)]
    assert all(len(row) == len(rows[0]) for row in rows)
    assert "1024 asynchronous tasks: take " in printed and "One variable is 60%" in printed


def test_a_file_without_what_is_fitted_names_what_to_measure(tmp_path, capsys):
    with pytest.raises(SystemExit):
        paper_model.main([f"--measured={tmp_path}/none.json"])
    assert "no disk and no mlp. For example: python -m benchmarks.scaling" in (
        capsys.readouterr().err)


def test_the_stragglers_command_prints_measured_fitted_and_stated_tails(
        measured, capsys, monkeypatch):
    monkeypatch.setattr(stragglers, "WORKERS", (8, 16))
    monkeypatch.setattr(sys, "argv", ["stragglers.py", f"--measured={measured}"])
    stragglers.main()
    printed = capsys.readouterr().out
    assert "| 3 of 4 | 100.0 |" in printed
    assert "tail_probability=0.01" in printed and printed.count("| 16 |") == 2
