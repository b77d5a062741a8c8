"""Calibration beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from estimator_trainer.evaluation import calibration

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")


def test_bins_are_those_of_scikit_learn():
    from sklearn.calibration import calibration_curve
    random = np.random.default_rng(1)
    certainty = random.random(2000) ** 3
    is_right = random.random(2000) < certainty ** 0.7
    found = calibration.of(certainty, is_right)
    for kind, strategy in (("bins", "uniform"), ("reliability", "quantile")):
        share, mean = calibration_curve(is_right, certainty, n_bins=10, strategy=strategy)
        bins = [each for each in found[kind] if each["examples"]]
        assert [each["accuracy"] for each in bins] == pytest.approx(share.tolist())
        assert [each["certainty"] for each in bins] == pytest.approx(mean.tolist())
        assert sum(each["examples"] for each in bins) == 2000


def test_reliability_has_bins_of_25_examples_and_no_empty_one():
    found = calibration.of(np.repeat([0.1, 0.9], 40), np.arange(80) % 2 == 0)
    assert sum(each["examples"] for each in found["reliability"]) == 80
    assert all(each["examples"] >= 25 for each in found["reliability"])
    assert calibration.of(np.array([1.0]), np.array([True]))["reliability"] == [
        {"examples": 1, "certainty": 1.0, "accuracy": 1.0}]


@pytest.mark.parametrize("classes", [2, 4])
def test_brier_score_is_that_of_scikit_learn(classes):
    random = np.random.default_rng(2)
    probabilities = random.dirichlet(np.ones(classes), 50)
    labels = random.integers(0, classes, 50)
    expected = metrics.brier_score_loss(
        labels, probabilities[:, 1] if classes == 2 else probabilities,
        labels=list(range(classes)))
    assert calibration.brier(probabilities, labels) == pytest.approx(expected)
