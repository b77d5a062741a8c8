"""Tests the benchmark of tables: its table of scores."""

from __future__ import annotations

import pytest

from benchmarks.tables import __main__ as tables

pytestmark = pytest.mark.any_tensorflow


def test_a_model_is_compared_with_the_best_baseline_of_each_table():
    scores = {"linear": 0.7, "boosting": 0.9, "older boosting": 0.8, "default": 0.88,
              "default secs": 20.0, "rows secs": 400}
    text = tables.markdown({
        "wine": {"0": scores, "1": {**scores, "default": 0.92}}, "churn": {"0": scores},
        "diabetes": {"0": {**scores, "linear": 0.95}}})
    assert "| wine | 400 | 0.7000 | 0.9000 | 0.8000 | 0.9000 | 20 |" in text
    assert "AUC above the best baseline: median -0.0100, least -0.0200" in text
    assert "R² above the best baseline: median -0.0700, least -0.0700" in text
