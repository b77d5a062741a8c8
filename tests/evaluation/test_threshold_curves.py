"""Curves and areas beside scikit-learn's, of scores as models give them."""

from __future__ import annotations

import numpy as np
import pytest

from estimator_trainer.evaluation import threshold_curves

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")


def _scores(kind: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    is_positive = random.random(3000) < (0.02 if kind == "rare" else 0.3)
    scores = 1 / (1 + np.exp(-random.normal(is_positive * 1.5, 1)))
    if kind == "rare":
        scores = scores * 0.09
    return (np.round(scores, 1) if kind == "tied" else scores), is_positive


@pytest.mark.parametrize("kind", ["spread", "rare", "tied"])
def test_areas_are_those_of_scikit_learn(kind):
    scores, is_positive = _scores(kind)
    curve = threshold_curves.of("yes", scores, is_positive)
    assert curve["auc"] == pytest.approx(metrics.roc_auc_score(is_positive, scores))
    assert curve["average_precision"] == pytest.approx(
        metrics.average_precision_score(is_positive, scores))
    assert threshold_curves.is_whole(curve) and len(curve["thresholds"]) <= 202


@pytest.mark.parametrize("kind", ["spread", "rare", "tied"])
def test_counts_at_each_threshold_are_exact(kind):
    scores, is_positive = _scores(kind)
    curve = threshold_curves.of("yes", scores, is_positive)
    for index, threshold in enumerate(curve["thresholds"]):
        chosen = scores >= threshold
        found = threshold_curves.at(curve, index)
        [[tn, fp], [fn, tp]] = metrics.confusion_matrix(is_positive, chosen, labels=[False, True])
        assert (found["tp"], found["fp"], found["fn"], found["tn"]) == (tp, fp, fn, tn)
        assert found["accuracy"] == pytest.approx(metrics.accuracy_score(is_positive, chosen))
        assert found["share"] == pytest.approx(chosen.mean())
        if tp:
            assert found["precision"] == pytest.approx(metrics.precision_score(is_positive, chosen))
            assert found["recall"] == pytest.approx(metrics.recall_score(is_positive, chosen))
            assert found["f1"] == pytest.approx(metrics.f1_score(is_positive, chosen))
    assert curve["thresholds"][curve["own"]] == 0.5


@pytest.mark.parametrize("kind", ["spread", "rare", "tied"])
def test_best_threshold_has_the_highest_f1_of_all(kind):
    scores, is_positive = _scores(kind)
    curve = threshold_curves.of("yes", scores, is_positive)
    precision, recall, _ = metrics.precision_recall_curve(is_positive, scores)
    best = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
    assert threshold_curves.at(curve, curve["best"])["f1"] == pytest.approx(best)


def test_thresholds_are_dense_where_all_scores_are_small():
    scores, is_positive = _scores("rare")
    curve = threshold_curves.of("yes", scores, is_positive)
    # No step skips more than a few of the 60 positives, though all scores are below 0.1.
    assert np.max(np.diff(curve["true_positives"])) <= 2
    assert np.max(np.diff(np.add(curve["true_positives"], curve["false_positives"]))) <= 90


@pytest.mark.parametrize("is_positive, auc, average_precision", [
    ([False, False], None, None), ([True, True], None, 1.0)])
def test_areas_are_left_out_where_there_is_one_kind(is_positive, auc, average_precision):
    curve = threshold_curves.of("yes", np.array([0.2, 0.9]), np.array(is_positive))
    assert (curve["auc"], curve["average_precision"]) == (auc, average_precision)
    assert threshold_curves.is_whole(curve)
    for index in range(len(curve["thresholds"])):
        assert threshold_curves.at(curve, index)["accuracy"] <= 1


def test_gains_are_the_share_of_the_positives_among_the_highest_scores():
    scores, is_positive = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False])
    assert threshold_curves.gains(scores, is_positive, 4) == [0.5, 0.5, 1.0, 1.0]
    # Scores that are equal say nothing about the order.
    assert threshold_curves.gains(np.full(4, 0.3), is_positive, 4) == [0.25, 0.5, 0.75, 1.0]
