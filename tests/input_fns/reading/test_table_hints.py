"""Hints on a leaked label, on rows in both parts of a table, and on values that training lacks."""

from __future__ import annotations

import random

import pytest

from input_fns import csv as plugin
from tests.support import csv_files

pytestmark = pytest.mark.any_tensorflow

_RANDOM = random.Random(1)
_NUMBERS = [_RANDOM.gauss(0, 1) for _ in range(200)]
_CLASSES = ["no" if number < 0 else "yes" for number in _NUMBERS]
_NOISE = [str(_RANDOM.random()) for _ in range(200)]


@pytest.fixture(name="hints")
def fixture_hints(tmp_path, monkeypatch):
    """Returns the warnings about a table of these columns, and one to evaluate."""
    logged = []
    monkeypatch.setattr("absl.logging.warning", lambda text, *args: logged.append(text % args))

    def read(columns, evaluation=None):
        params = {**plugin.DEFAULT_PARAMS, "prepare_columns": True, "table_columns": {},
                  "label": "y"}
        texts = ["\n".join([",".join(part), *map(",".join, zip(*part.values()))]) + "\n"
                 for part in (columns, evaluation or columns)]
        csv_files.write_data(params, tmp_path, texts[0])
        if evaluation:
            path = tmp_path / "evaluation.csv"
            path.write_text(texts[1])
        params["eval_files"] = str(path) if evaluation else ""
        logged.clear()
        plugin.data_params(params)
        return "\n".join(logged)

    return read


@pytest.mark.parametrize("column, how", [
    ([f"{number:.6f}" for number in _NUMBERS], "AUC 1.0000"),
    (["closed" if label == "yes" else "open" for label in _CLASSES], "each of its values has one")])
def test_a_column_that_decides_the_class_is_named(hints, column, how):
    found = hints({"noise": _NOISE, "left_at": column, "y": _CLASSES})
    assert f"column 'left_at' alone tells the label 'y' ({how}" in found
    assert "--param drop='[\"left_at\"]'" in found and "noise" not in found


def test_a_column_that_decides_the_number_is_named(hints):
    price = [f"{1000 + 50 * number:.4f}" for number in _NUMBERS]
    cents = [f"{100 * float(each):.2f}" for each in price]
    found = hints({"noise": _NOISE, "cents": cents, "y": price})
    assert "column 'cents' alone tells the label 'y' (correlation 1.00000)" in found


def test_rows_in_both_parts_are_counted(hints):
    table = {"noise": _NOISE, "y": _CLASSES}
    half = {name: [*values[:50], *(["0.5"] if name == "noise" else ["no"]) * 50]
            for name, values in table.items()}
    assert "50% of the rows to evaluate are rows to train on too" in hints(table, half)
    new = {"noise": [str(_RANDOM.random()) for _ in range(50)], "y": _CLASSES[:50]}
    assert hints(table, new) == ""


def test_repeated_rows_of_few_values_are_no_overlap(hints):
    table = {"a": [str(i % 3) for i in range(200)], "y": ["no", "no", "yes", "yes"] * 50}
    assert hints(table) == ""


def test_values_that_training_lacks_are_counted(hints):
    city = ["Bonn", "Ulm"] * 100
    evaluation = {"city": ["Jena"] * 20 + ["Ulm"] * 30, "noise": [str(i) for i in range(50)],
                  "y": _CLASSES[:50]}
    found = hints({"city": city, "noise": _NOISE, "y": _CLASSES}, evaluation)
    assert "column 'city': 20 of 50 rows to evaluate have a value that training has not" in found


def test_hints_on_a_label_of_texts_that_may_be_no_classes(hints):
    found = hints({"x": _NOISE, "y": [("yes", "no", "No ")[i % 3] for i in range(200)]})
    assert "label 'y' has 'No ', 'no', which are different classes: if" in found
    found = hints({"x": _NOISE, "y": [f"{i % 100}:30" for i in range(200)]})
    assert "label 'y' has 100 classes in 200 rows, too few to learn each" in found
    assert not hints({"x": _NOISE, "y": _CLASSES})
