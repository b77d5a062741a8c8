"""Examples with several labels each beside scikit-learn's metrics, and rankings."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator.passthrough import Answer
from estimator_trainer.evaluation import hints, judgement, ranking
from estimator_trainer.reports import evaluation_section, markup


def _judged(labels, predictions, names=(), metrics=None):
    answers = (Answer(each, {"x": np.float32(i)}, label)
               for i, (label, each) in enumerate(zip(labels, predictions)))
    found = judgement._judged(answers, names, Stop(), lambda: None, metrics).content()
    text = json.dumps({**found, "step": 1, "evaluated": found["examples"]})
    return judgement._parsed(text)


def _text(content):
    return re.sub("<[^>]+>", " ", evaluation_section.section(content, markup.Charts()))


def _labels_and_probabilities():
    random = np.random.default_rng(4)
    labels = (random.random([300, 3]) < [0.5, 0.3, 0.05]).astype(np.int64)
    # By chance, the first examples have one label.
    labels[:5] = np.eye(3)[[0, 1, 2, 0, 1]]
    return labels, 1 / (1 + np.exp(-random.normal(2 * labels - 1, 1)))


def test_labels_have_the_metrics_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    labels, probabilities = _labels_and_probabilities()
    found = _judged(labels, [{
        "probabilities": each.astype(np.float32), "logits": np.log(each / (1 - each)),
        "classes": np.array([b"red", b"green", b"blue"], object)} for each in probabilities])
    assert found["kind"] == "multi_label"
    chosen = probabilities >= 0.5
    assert found["subset_accuracy"] == pytest.approx(metrics.accuracy_score(labels, chosen))
    assert found["hamming_loss"] == pytest.approx(metrics.hamming_loss(labels, chosen))
    assert [each["name"] for each in found["per_class"]] == ["red", "green", "blue"]
    assert [each["recall"] for each in found["per_class"]] == pytest.approx(
        metrics.recall_score(labels, chosen, average=None))
    assert [each["auc"] for each in found["curves"]] == pytest.approx(
        metrics.roc_auc_score(labels, probabilities, average=None))
    assert len(found["worst"]) == 8 and hints.of_evaluation(found, {}) == []
    text = _text(found)
    assert "All labels are right in" in text and "Hamming loss" in text and "green" in text


def test_logits_of_several_labels_become_probabilities():
    labels, probabilities = _labels_and_probabilities()
    found = _judged(labels, [{"dense": 4 * np.log(p / (1 - p))} for p in probabilities])
    assert found["kind"] == "multi_label"
    assert found["hamming_loss"] == pytest.approx(np.mean((probabilities >= 0.5) != labels))


def test_one_hot_labels_stay_classes():
    found = _judged(np.eye(3)[[0, 1, 2]], [{"dense": np.eye(3)[i]} for i in (0, 1, 1)])
    assert found["kind"] == "classification"


def test_scores_without_queries_are_shown_by_label_alone():
    labels, scores = np.array([0, 1, 0, 2] * 10), np.array([0.1, 0.5, 0.3, 0.9] * 10)
    found = _judged(labels, [{"logits": np.array([each])} for each in scores], (), {
        "metric/ndcg@10": 0.5})
    assert found["kind"] == "ranking" and "at_ranks" not in found
    assert [(each["label"], each["examples"]) for each in found["of_labels"]] == [
        (0, 20), (1, 10), (2, 10)]
    assert found["of_labels"][0]["quantiles"][2] == pytest.approx(0.2)
    assert "do not name their queries" in _text(found)


def test_queries_show_the_mean_label_at_each_rank():
    labels = [[0.0, 2.0, 1.0, -1.0], [1.0, 0.0, -1.0, -1.0]]
    scores = [{"predictions": np.array([0.1, 0.9, 0.5, 9.0])},
              {"predictions": np.array([0.2, 0.7, 9.0, 9.0])}]
    found = _judged(np.array(labels), scores, (), {"mrr": 1.0})
    assert found["at_ranks"] == [1.0, 1.0, 0.0]
    assert "mean label by rank" in _text(found)
    assert not ranking.is_ranked({"accuracy": 1.0, "loss": 0.1})
