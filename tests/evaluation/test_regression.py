"""A regression's errors beside scikit-learn's, and a histogram that one error does not spoil."""

from __future__ import annotations

import numpy as np
import pytest

from estimator_trainer.evaluation.regression import Regression


def _content(labels, predictions):
    found = Regression()
    for label, predicted in zip(labels, predictions):
        found.add(float(label), float(predicted), {})
    return found.content()


def test_errors_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    random = np.random.default_rng(0)
    labels = random.normal(100, 10, 500)
    predictions = labels + random.normal(1, 4, 500)
    found = _content(labels, predictions)
    for name, formula in (
            ("mean_absolute_error", metrics.mean_absolute_error), ("r_squared", metrics.r2_score),
            ("median_absolute_error", metrics.median_absolute_error),
            ("root_mean_squared_error", metrics.root_mean_squared_error),
            ("mean_absolute_percentage_error", metrics.mean_absolute_percentage_error)):
        assert found[name] == pytest.approx(formula(labels, predictions)), name
    assert found["error_quantiles"][10] == pytest.approx(found["median_absolute_error"])


def test_percentage_error_is_left_out_where_a_label_is_near_0():
    assert _content([100, 0.01], [90, 1])["mean_absolute_percentage_error"] is None
    assert _content([100, 0], [90, 1])["mean_absolute_percentage_error"] is None
    assert _content([100, -50], [90, -50])["mean_absolute_percentage_error"] == pytest.approx(0.05)


def test_histogram_leaves_out_what_is_far_from_all_others():
    predictions = [*np.linspace(-1, 1, 99), 1e6]
    found = _content(np.zeros(100), predictions)
    assert found["beyond"] == 1 and sum(found["residuals"]["counts"]) == 99
    assert max(map(abs, found["residuals"]["edges"])) < 10
    assert _content([3, 3], [3, 3])["residuals"]["edges"][0] == pytest.approx(-0.5)
