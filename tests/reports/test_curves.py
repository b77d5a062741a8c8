"""The curves of a training: their axes, gaps, colours, and those of many tasks."""

from __future__ import annotations

import json
import math

from estimator_trainer.reports import curves, markup, run_files
from tests.support import curve_runs

_MANY = ["chief:0", *(f"worker:{i}" for i in range(63))]


def _read(folder, *args, **values):
    return run_files.read(str(curve_runs.write(folder, *args, **values)))


def _named(charts, title):
    [found] = [each for each in charts if each["title"] == title]
    return {each["label"]: each for each in found["series"]}


def test_of_training_has_steps_seconds_and_epochs(tmp_path):
    loss, accuracy = curves.of_training([_read(tmp_path)])
    assert loss["runs"] == [{"start": curve_runs.START, "epoch": 10.0}]
    series = _named([loss], "loss")
    training, evaluation = series["training"], series["evaluation"]
    assert (training["step"][0], training["secs"][0]) == (20, 2.0)
    assert (training["step"][-1], training["secs"][-1]) == (1000, 100.0)
    assert training["value"][-1] == float(f"{2 * math.exp(-4):.6g}")
    assert (evaluation["step"][0], evaluation["secs"][0], evaluation["value"][0]) == (0, 1.0, 50.0)
    assert (loss["best"], accuracy["best"]) == ("min", "max")
    assert loss["alt"].startswith("Line chart of loss by step. training: first 1.846 at 20, last")
    assert "evaluation: first 50 at 0, last 0.04579 at 1,000" in loss["alt"]


def test_of_training_without_sizes_has_no_epochs(tmp_path):
    run = _read(tmp_path)
    (tmp_path / "record.json").unlink()
    for each, has_epochs in ((run, True), (run_files.read(str(tmp_path)), False)):
        shown = markup.Charts().grid(curves.of_training([each]))
        assert ('value="epoch"' in shown) == has_epochs and 'value="secs"' in shown


def test_of_speed_has_a_gap_where_a_task_was_dead(tmp_path):
    run = _read(tmp_path, ("chief:0", "worker:0"))
    for key, charts in (("training, ", curves.of_training([run])), ("", curves.of_speed([run]))):
        series = {each["label"]: each for each in charts[0]["series"]}
        alive, dead = series[f"{key}chief:0"], series[f"{key}worker:0"]
        assert None not in alive["value"]
        [gap] = [i for i, value in enumerate(dead["value"]) if value is None]
        assert (dead["step"][gap - 1], dead["step"][gap + 1]) == (400, 600)
        assert dead["step"][gap] == 500 and dead["secs"][gap] == 50.0


def test_of_training_has_a_gap_where_the_loss_is_not_finite(tmp_path):
    run = _read(tmp_path, evaluations=0)
    run.lines[5]["loss"] = None
    run.lines[6]["loss"] = math.inf
    [series] = curves.of_training([run])[0]["series"]
    assert [i for i, value in enumerate(series["value"]) if value is None] == [3]
    json.dumps(series, allow_nan=False)


def test_of_tasks_have_one_colour_in_all_charts_of_a_run(tmp_path):
    run = _read(tmp_path, ("chief:0", "worker:0", "worker:1"))
    looks: dict[str, set[tuple[int, int]]] = {}
    for chart in [*curves.of_training([run]), *curves.of_speed([run])]:
        for each in chart["series"]:
            name = each["label"].removeprefix("training, ")
            looks.setdefault(name, set()).add((each["colour"], each["dash"]))
    assert looks == {"chief:0": {(0, 0)}, "evaluation": {(1, 0)}, "worker:0": {(2, 1)},
                     "worker:1": {(3, 2)}}


def test_of_runs_have_one_colour_in_all_charts_of_a_comparison(tmp_path):
    runs = [_read(tmp_path / "alone"), _read(tmp_path / "job", ("chief:0", "worker:0"), secs=50.0)]
    charts = [*curves.of_training(runs), *curves.of_speed(runs)]
    assert all(each["colour"] == each["dash"] == each["run"] for chart in charts
               for each in chart["series"])
    loss, speed = _named(charts, "loss"), _named(charts, "speed of each task, examples/s")
    assert list(loss) == ["alone training", "alone evaluation", "job training", "job evaluation"]
    assert list(speed) == ["alone", "job median of 2 tasks", "job middle half of the tasks"]
    # Each run counts from its own start.
    assert (loss["alone training"]["secs"][-1], loss["job training"]["secs"][-1]) == (100.0, 50.0)


def test_of_speed_names_the_slowest_and_the_fastest_of_many_tasks(tmp_path):
    run = _read(tmp_path, _MANY)
    series = _named(curves.of_speed([run]), "speed of each task, examples/s")
    assert list(series) == ["median of 64 tasks", "middle half of the tasks", "slowest: chief:0",
                            "fastest: worker:62"]
    assert series["slowest: chief:0"]["value"][0] == 100.0
    assert series["median of 64 tasks"]["value"][0] == 3250.0


def test_of_training_of_a_large_run_stays_small(tmp_path):
    run = _read(tmp_path, _MANY, steps=100_000, points=60, evaluations=1000, num_metrics=41)
    charts = [*curves.of_training([run]), *curves.of_speed([run])]
    assert len(charts) == 44
    assert len(json.dumps(charts, separators=(",", ":"))) < 1_000_000
    evaluation = _named(charts, "accuracy")["evaluation"]
    assert len(evaluation["step"]) <= 402 and evaluation["step"][-1] == 100_000


def test_of_training_shows_named_evaluation_sets_too(tmp_path):
    run = _read(tmp_path, evaluations=0)
    run.evaluations.extend([{"global_step": 5, "accuracy": 0.5},
                            {"global_step": 5, "accuracy": 0.25, "eval_name": "other"}])
    run.evaluation_times.extend([curve_runs.START + 1, curve_runs.START + 2])
    series = _named(curves.of_training([run]), "accuracy")
    assert {name: each["value"] for name, each in series.items()} == {
        "evaluation": [0.5], "evaluation other": [0.25]}
    assert series["evaluation other"]["dash"] != series["evaluation"]["dash"]
