"""The threshold and the confusion matrix of the page in a real browser, from the keyboard."""

from __future__ import annotations

import json

import numpy as np
import pytest

from estimator_trainer.evaluation import threshold_curves
from estimator_trainer.evaluation.classification import Classification
from estimator_trainer.reports import page
from tests.support import browser

pytestmark = pytest.mark.cluster


def _write(folder, names):
    """Writes a run whose evaluation is fabricated; returns its page and its curves."""
    random = np.random.default_rng(8)
    found = Classification(names)
    for _ in range(300):
        probabilities = random.dirichlet(np.full(len(names), 0.6))
        label = int(random.choice(len(names), p=probabilities))
        found.add(label, int(np.argmax(probabilities)), probabilities, {"x": np.float32(1)})
    content = found.content()
    folder.mkdir()
    (folder / "evaluation.json").write_text(json.dumps({**content, "step": 1, "evaluated": 300}))
    (folder / "history.jsonl").write_text(json.dumps(
        {"task": "local", "time": 1.0, "kind": "train", "step": 1, "loss": 1.0}) + "\n")
    page.write([str(folder)])
    return (folder / "report.html").as_uri(), content


def _shown(driver):
    return {each.get_attribute("data-value"): each.text.replace(",", "")
            for each in driver.find_elements("css selector", "[data-value]")}


def _check(driver, curve, row):
    expected, shown = threshold_curves.at(curve, row), _shown(driver)
    for name in ("tp", "fp", "fn", "tn"):
        assert int(shown[name]) == expected[name], name
    for name in ("precision", "recall", "f1", "accuracy"):
        if expected[name] is not None:
            assert float(shown[name]) == pytest.approx(expected[name], abs=6e-4), name


def test_keys_move_the_threshold_and_the_counts_follow(tmp_path):
    from selenium.webdriver.common.keys import Keys
    url, content = _write(tmp_path / "two", ("no", "</script><b>yes"))
    [curve] = content["curves"]
    last = len(curve["thresholds"]) - 1
    with browser.opened() as driver:
        browser.show(driver, url, 1280)
        control = driver.find_element("css selector", ".threshold input[type=range]")
        _check(driver, curve, curve["own"])
        control.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        _check(driver, curve, curve["own"] + 3)
        control.send_keys(Keys.END)
        _check(driver, curve, 0)
        control.send_keys(Keys.HOME)
        _check(driver, curve, last)
        driver.find_element("css selector", "[data-row=best]").send_keys(Keys.ENTER)
        _check(driver, curve, curve["best"])
        label = driver.find_element("css selector", "[data-curve=roc]").get_attribute("aria-label")
        assert label.startswith(f"ROC: AUC {curve['auc']:.3f}") and "</script><b>yes" in label
        assert len(driver.find_elements("css selector", "[data-curve] canvas")) == 2
        select = driver.find_element("css selector", "[data-confusion] select")
        select.send_keys("share of the label")
        cells = driver.find_elements("css selector", ".matrix td")
        [[tn, fp], _] = content["matrix"]["counts"]
        assert cells[0].text == f"{100 * tn / (tn + fp):.0f} %"

        url, content = _write(tmp_path / "three", ("red", "green", "blue"))
        browser.show(driver, url, 400)
        select = driver.find_element("css selector", ".threshold select")
        select.send_keys("green")
        _check(driver, content["curves"][1], content["curves"][1]["own"])
        browser.check(driver, tmp_path / "three.png")
