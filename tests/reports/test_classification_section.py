"""The page's part on a classifier: sentences with the right numbers, and files of older runs."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest

from estimator_trainer.evaluation.classification import Classification
from estimator_trainer.reports import (calibration_section, classification_section, confusion,
                                       evaluation_section, markup)


def _content(names=("no", "yes"), count=400, seed=0):
    """Returns the content of a file, whose probabilities are right, and the first class's."""
    random = np.random.default_rng(seed)
    found = Classification(names)
    for _ in range(count):
        probabilities = random.dirichlet(np.full(len(names), 0.5))
        label = int(random.choice(len(names), p=probabilities))
        found.add(label, int(np.argmax(probabilities)), probabilities, {"x": np.float32(0.5)})
    return {**json.loads(json.dumps(found.content())), "step": 9, "evaluated": count}


def _text(content):
    shown = str(evaluation_section.section(content, markup.Charts()))
    return html.unescape(re.sub(r"<[^>]+>", " ", shown))


def test_counts_at_the_model_s_own_threshold_are_those_of_the_matrix():
    content = _content()
    shown = str(evaluation_section.section(content, markup.Charts()))
    found = dict(re.findall(r'data-value="(\w+)">([^<]+)<', shown))
    [[tn, fp], [fn, tp]] = content["matrix"]["counts"]
    assert [int(found[key]) for key in ("tn", "fp", "fn", "tp")] == [tn, fp, fn, tp]
    assert float(found["recall"]) == pytest.approx(tp / (tp + fn), abs=1e-3)
    assert "Positive class yes" in re.sub(r"\s+", " ", _text(content))


def test_lift_is_that_of_the_first_tenth():
    found = Classification(("stays", "leaves"))
    for i in range(100):
        found.add(int(i < 5 or 50 <= i < 55), 0, np.array([0.5 + i / 250, 0.5 - i / 250]), {})
    text = _text({**found.content(), "step": 1, "evaluated": 100})
    assert "hold 50% of all 'leaves': 5.0 times as many as 10 % at random" in text


def test_worst_class_is_named_with_its_counts():
    found = Classification(("shirt", "coat", "boot"))
    for label, predicted, count in ((0, 0, 12), (0, 1, 8), (1, 1, 20), (2, 2, 20)):
        for _ in range(count):
            found.add(label, predicted, None, {})
    assert confusion.worst(found.content()) == (
        "The worst class is 'shirt': 12 of its 20 examples are found; 8 of them are taken for"
        " 'coat'.")


@pytest.mark.parametrize("claimed, right, sentence", [
    (0.9, 0.71, "too certain: where the model says 90 %, 71 % are right"),
    (0.6, 0.9, "too cautious: where the model says 60 %, 90 % are right"),
    (0.8, 0.8, "can be trusted: their mean gap to the share that is right is 0.0")])
def test_sentence_on_calibration(claimed, right, sentence):
    found = Classification(("a", "b", "c"))
    for i in range(1000):
        label = 0 if i < 1000 * right else 1
        found.add(label, 0, np.array([claimed, 1 - claimed, 0.0]), {})
    assert sentence in calibration_section.sentence(found.content()["calibration"])


def test_sentence_on_calibration_of_one_class_and_of_few_examples():
    found = Classification(("no", "yes"))
    for i in range(1000):
        found.add(int(i < 50), 0, np.array([0.7, 0.3]), {})
    assert "too high: where the model says 30 % for 'yes', 5 % are 'yes'" in (
        calibration_section.sentence(found.content()["calibration"]))
    few = calibration_section.sentence(_content(count=60)["calibration"])
    assert "too few examples" in few


def test_two_classes_have_one_list_of_errors_and_more_have_two():
    assert "most certain of the wrong class" in _text(_content())
    text = _text(_content(("a", "b", "c")))
    assert "The worst errors: least probability of the label" in text
    assert "The most certain errors" in text


def test_each_class_has_a_curve_against_the_others():
    content = _content(("a", "b", "c"))
    assert [curve["name"] for curve in content["curves"]] == ["a", "b", "c"]
    shown = str(evaluation_section.section(content, markup.Charts()))
    assert len(re.findall("<option value=.[0-2].", shown)) == 3 and "AUC" in shown


def test_a_file_from_before_the_curves_is_shown():
    content = _content()
    for name in ("curves", "gains", "accuracy"):
        del content[name]
    del content["calibration"]["brier"], content["calibration"]["reliability"]
    content["most_certain"] = content["worst"]
    charts = markup.Charts()
    shown = "".join(classification_section.body(content, charts))
    assert "precision by recall" in [each["title"] for each in charts.charts]
    assert shown.count("<h3>The worst errors") == 1 and "most certain errors" not in shown
