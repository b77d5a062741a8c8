"""The parts of the page on slices, on residuals by column, and on the data of both parts."""

import pytest

from estimator_trainer.reports import markup, slices_section

pytestmark = pytest.mark.any_tensorflow

_HOSTILE = "<script>alert(1)</script>"


def _slice(value, score, is_significant):
    return {"column": _HOSTILE, "value": value, "rows": 50, "score": score, "low": score - 0.1,
            "high": score + 0.1, "elsewhere": 0.9, "is_significant": is_significant}


def test_the_worst_slice_that_is_not_chance_is_one_sentence():
    found = [_slice(_HOSTILE, 0.5, False), _slice("b", 0.7, True)] + [
        _slice("c", 0.9, False)] * 10
    text = slices_section.of_slices({"metric": "accuracy", "score": 0.88, "slices": 40,
                                     "found": found})
    assert "worst slice: &lt;script&gt;alert(1)&lt;/script&gt;=b: accuracy 0.7 in 50 rows" in text
    assert "<script" not in text and "<summary>2 better slices</summary>" in text
    text = slices_section.of_slices({"metric": "accuracy", "score": 0.88, "slices": 40,
                                     "found": found[:1]})
    assert "No slice is worse than all other rows by more than chance." in text
    assert not slices_section.of_slices(None)


def test_residuals_are_points_with_their_means():
    charts = markup.Charts()
    text = slices_section.of_residuals([
        {"name": "x", "kind": "number", "at": [1.0, 3.0], "means": [0.5, -0.5], "counts": [9, 9],
         "points": {"at": [2.0, 2.0], "residuals": [1.0, -1.0]}},
        {"name": _HOSTILE, "kind": "category", "at": [_HOSTILE], "means": [0.25],
         "counts": [18]}], charts)
    assert charts.charts[0]["data"] == [
        [1.0, 2.0, 2.0, 3.0], [None, 1.0, -1.0, None], [0.5, None, None, -0.5]]
    assert "<script" not in text and "0.25" in text
    assert not slices_section.of_residuals([], charts)


def test_drifted_columns_and_new_values_are_in_a_table():
    column = {"name": _HOSTILE, "missing": [0, 25], "unseen": 7, "examples": [_HOSTILE],
              "drift": 0.31, "has_drifted": True, "medians": [1.0, 2.0]}
    text = slices_section.of_data({
        "training_rows": 400, "evaluation_rows": 100, "is_whole": False, "label": "y",
        "columns": [column, {**column, "name": "y", "drift": None, "has_drifted": False}]})
    assert "<script" not in text and "0.310, drifted" in text and "25 (25.0%)" in text
    assert "y (label)" in text and "too many values" in text and "The first rows of each" in text
    assert "Not compared: why." in slices_section.of_data({"reason": "why"})
    assert not slices_section.of_data(None)
