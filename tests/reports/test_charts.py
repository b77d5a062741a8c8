"""Charts stay small, whatever the number of tasks, and show each point of a regression."""

from __future__ import annotations

import json

from estimator_trainer.reports import charts, regression_section


def test_of_training_stays_small_for_many_tasks():
    series = [(f"worker:{i}", "line", [(100 * j + i, 1.5) for j in range(2000)])
              for i in range(100)]
    made = charts.chart("loss", "step", "loss", [*series, ("evaluation", "dots", [(1, 2.0)])])
    assert made["title"] == "loss (24 of 101 series)"
    assert "evaluation" in [each["label"] for each in made["series"]]
    assert len(json.dumps(made)) < 400_000
    assert made["data"][0] == sorted(made["data"][0])


def test_chart_keeps_the_ends_of_a_long_curve():
    made = charts.chart("loss", "step", "", [("one", "line", [(i, float(i)) for i in range(9999)])])
    assert len(made["data"][0]) <= 601
    assert (made["data"][0][0], made["data"][0][-1]) == (0, 9998)


def test_of_shows_all_examples_of_one_label():
    judged = {"kind": "regression", "points": {"labels": [1.0, 1.0, 2.0], "predictions": [3, 4, 5]},
              "residuals": {"counts": [3], "edges": [0, 1]}}
    points, residuals = regression_section.charts_of(judged)
    x, predictions, right = points["data"]
    found = [(at, value) for at, value in zip(x, predictions) if value is not None]
    assert found == [(1.0, 3), (1.0, 4), (2.0, 5)]
    assert [value for value in right if value is not None] == [1.0, 2.0]
    assert residuals["data"] == [[0.5], [3]]
