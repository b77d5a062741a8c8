"""Charts stay small, have a text alternative, and show each point of a regression."""

from __future__ import annotations

import json

from estimator_trainer.reports import charts, markup, regression_section


def test_chart_stays_small_for_many_series():
    series = [(f"worker:{i}", "line", [(100 * j + i, 1.5) for j in range(2000)])
              for i in range(100)]
    made = charts.chart("loss", "step", "loss", [*series, ("evaluation", "dots", [(1, 2.0)])])
    assert made["title"] == "loss (24 of 101 series)"
    assert "evaluation" in [each["label"] for each in made["series"]]
    assert len(json.dumps(made)) < 400_000
    assert made["data"][0] == sorted(made["data"][0])


def test_chart_keeps_the_ends_and_the_extremes_of_a_long_curve():
    values = [0.5] * 9999
    values[1234], values[7777] = 40.0, -3.0
    made = charts.chart("loss", "step", "", [("one", "line", list(enumerate(values)))])
    steps, shown = made["data"]
    assert len(steps) <= 602 and (steps[0], steps[-1]) == (0, 9998)
    assert (steps[shown.index(40.0)], steps[shown.index(-3.0)]) == (1234, 7777)


def test_chart_has_a_text_alternative():
    made = charts.chart("count", "value", "examples", [
        ("step 1", "line", [(0, 1.0), (1, 4.0), (2, 2.0)]), ("one", "line", [(5, 1.25)])])
    assert made["alt"] == (
        "Line chart of count, examples by value. step 1: first 1 at 0, last 2 at 2, lowest 1 at 0,"
        " highest 4 at 1. one: first 1.25 at 5, last 1.25 at 5, lowest 1.25 at 5, highest 1.25 at"
        " 5.")
    place = markup.Charts().place({**made, "alt": "<b>"})
    assert "&lt;b&gt;" in place and "<b>" not in place


def test_chart_describes_some_series_only():
    made = charts.chart("a", "b", "", [(str(i), "bars", [(1, 2)]) for i in range(9)], alt="")
    assert made["alt"].startswith("Bar chart of a by b. 0:")
    assert made["alt"].endswith(" 3 more series.")
    assert charts.chart("a", "b", "", [], alt="Nothing.")["alt"] == "Nothing."


def test_of_shows_all_examples_of_one_label():
    judged = {"kind": "regression", "points": {"labels": [1.0, 1.0, 2.0], "predictions": [3, 4, 5]},
              "residuals": {"counts": [3], "edges": [0, 1]}}
    points, _, residuals = regression_section.charts_of(judged)
    x, predictions, right = points["data"]
    found = [(at, value) for at, value in zip(x, predictions) if value is not None]
    assert found == [(1.0, 3), (1.0, 4), (2.0, 5)]
    # The line of no error spans both, so that both axes have the same range.
    assert [(at, value) for at, value in zip(x, right) if value is not None] == [(1.0, 1.0), (5, 5)]
    assert residuals["data"] == [[0.5], [3]]
