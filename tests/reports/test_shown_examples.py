"""Examples on the page: cards of images and texts, and a table of rows."""

from __future__ import annotations

import html
import re

import numpy as np

from estimator_trainer.evaluation.regression import Regression
from estimator_trainer.evaluation.shown_examples import ShownExamples
from estimator_trainer.reports import regression_section, shown_examples
from estimator_trainer.reports.markup import Charts

_FACTS = {"position": 7, "label": "9", "predicted": "4", "probability": 0.83,
          "probability_of_label": 0.012}


def _shown(inputs, facts=None, order=()):
    found = ShownExamples()
    found.offer(1.0, facts or _FACTS, inputs)
    return shown_examples.of("The worst errors", found.content(), order)


def test_an_image_has_a_caption_and_a_text_alternative():
    shown = _shown({"image": np.zeros([8, 8, 1], np.float32)})
    assert 'alt="image of example 7, label 9"' in shown
    text = re.sub("<[^>]+>", "", shown)
    assert "label 9, predicted 4: 83 % for 4, 1.2 % for 9 example 7" in text


def test_a_photo_is_made_smaller_and_a_small_picture_stays_exact():
    random = np.random.default_rng(0)
    photo = random.integers(0, 255, [640, 480, 3], np.uint8)
    assert len(_shown({"photo": photo})) < 60_000
    assert "image/png" in _shown({"digit": np.eye(28, dtype=np.float32)[:, :, None]})


def test_a_text_is_shown_up_to_600_characters():
    shown = html.unescape(_shown({"text": ("<b>good</b> " * 200).encode()}))
    assert "<p><b>good</b> <b>good</b>" in shown and shown.count("good") == 50
    assert "..." in shown and "examples texts" in shown


def test_rows_are_a_table_with_the_important_columns_first():
    inputs = {f"column{i}": np.float32(i) for i in range(12)}
    shown = _shown(inputs, order=["column11", "column3"])
    head, rest = shown.split("<details>")
    names = re.findall(r"<th[^>]*>([^<]+)</th>", head)
    assert names[:7] == ["example", "label", "predicted", "probability of the predicted",
                         "of the label", "column11", "column3"]
    assert len(names) == 5 + 8 and "All 12 columns of these rows" in rest
    assert all(f"column{i}<" in rest for i in range(12))


def test_a_regression_shows_errors_in_the_unit_of_the_label():
    found = Regression()
    for i in range(100):
        found.add(1000.0 + i, 1000.0 + i + i, {"area": np.float32(i), "rooms": np.int64(3)})
    content = {**found.content(), "step": 1, "evaluated": 100, "label": "price"}
    charts = Charts()
    shown = re.sub("<[^>]+>", " ", "".join(regression_section.body(content, charts, ["rooms"])))
    assert ("Half of the predictions of price are off by at most 49.5, nine of ten by at most 89.1"
            in shown)
    assert "On average they are 49.5 too high." in shown
    assert [chart["title"] for chart in charts.charts][:2] == [
        "predicted by true price", "residual by prediction"]
    assert "1,099" in shown and "1,198" in shown and "rooms" in shown
