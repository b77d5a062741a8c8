"""Tests that the words of a message to type repair the run: each is followed as it stands."""

import json
import re
import shlex

import pytest

from input_fns import csv as plugin
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.table_facts import _learned_once

pytestmark = pytest.mark.any_tensorflow

_CANNED = {"prepare_columns": True, "table_columns": {}, "label_scale": {}, "estimator": ""}
_CLASSIFIER = {**_CANNED, "estimator": "LinearClassifier"}
_ROWS = [(i % 37, "ab"[i % 2], i % 5) for i in range(120)]
_PRICES = "\n".join(f"{a},{b},{c},{a * 1000 + 100 * c + 7}" for a, b, c in _ROWS) + "\n"


def _table(label):
    return "area,region,rooms,label\n" + "\n".join(
        f"{a},{b},{c},{label(a, c)}" for a, b, c in _ROWS) + "\n"


def _ways(sentence):
    """Returns the params of each way that a sentence offers, in its order."""
    ways = []
    for part in re.split(r", or |; or, | If (?=the|its|they)", sentence):
        words = shlex.split(part[part.index("--"):].rstrip(".")) if "--param" in part else []
        pairs = [word.partition("=")[::2] for flag, word in zip(words, words[1:])
                 if flag == "--param"]
        if pairs:
            ways.append(dict(pairs))
    return ways


def _followed(params, way):
    """Returns the params with what a user types, as the program reads it."""
    defaults = {**plugin.DEFAULT_PARAMS, **_CANNED}
    return {**params, **{key: text if isinstance(defaults[key], str) else json.loads(text)
                         for key, text in way.items()}}


@pytest.fixture(name="params")
def fixture_params():
    """The params of a table for the model `canned`."""
    _learned_once.cache_clear()
    return {**plugin.DEFAULT_PARAMS, **_CANNED, "batch_size": 4}


@pytest.mark.parametrize("table, changes, count, expected", (
    # A price, and a model or a param that wants classes.
    ("area,region,rooms,label\n" + _PRICES, {"estimator": "DNNClassifier"}, 1,
     "label 'label' is a number, with 120 different values in 120 lines, and estimator is"
     " 'DNNClassifier'; expected a regression model"),
    ("area,region,rooms,label\n" + _PRICES, {"num_classes": 10}, 1, "expected an integer, 0 to 9"),
    (_table(lambda a, c: f"{a}.25"), {"num_classes": 10}, 1, "label 'label' is 0.25"),
    # Classes that do not begin at 0.
    (_table(lambda a, c: c + 1), {"num_classes": 5}, 2, "5 different values"),
    (_table(lambda a, c: c + 1), _CLASSIFIER, 2, "5 different values"),
    (_table(lambda a, c: -1 if a > 9 else 1), {"num_classes": 2}, 2, "label 'label' is -1"),
    (_table(lambda a, c: float(a > 9)), {"num_classes": 2}, 2, "label 'label' is 0.0"),
    # Texts, and a param or a model that wants numbers.
    (_table(lambda a, c: f"v{c}"), {"num_classes": -1}, 1, "label 'label' is text"),
    (_table(lambda a, c: f"v{c}"), {"estimator": "DNNRegressor"}, 1, "expected a classifier"),
    (_table(lambda a, c: "yes"), {}, 1, "expected two values or more"),
    # Words among numbers.
    (_table(lambda a, c: a) + "3,a,abc,1\n", {}, 2, "column 'rooms' is 'abc'"),
    (_table(lambda a, c: a) + "3,a,abc,1\n3,a,it's,1\n", {"column_types": {"area": "float"}}, 1,
     "values are numbers, others \"it's\"; expected a number"),
    (_table(lambda a, c: a) + "3,a,2,EUR\n", {}, 1, "label 'label' is 'EUR'"),
    # A fraction among integers.
    (_table(lambda a, c: a) + "3,a,3.5,1\n", {"columns": {"area": 0, "rooms": 0}}, 1,
     "column 'rooms' is '3.5'"),
    (_table(lambda a, c: a) + "3,a,3.5,1\n", {"column_types": {"rooms": "int", "area": "int"}}, 1,
     "column 'rooms' is '3.5'"),
    # Columns.
    (_table(lambda a, c: a).replace("rooms", "it's"), {"drop": ["it"]}, 1, "drop has 'it'"),
    (_table(lambda a, c: a), {"drop": ["area", "region", "rooms"]}, 1, "leave no column"),
    (_table(lambda a, c: a), {"drop": ["area", "label"]}, 1, "which is the label"),
    (_table(lambda a, c: a), {"label": "lable"}, 1, "which is no column"),
    (_table(lambda a, c: a), {"columns": {"area": None}}, 1, "columns has None"),
    (_table(lambda a, c: a), {"column_types": {"area": "number"}}, 1, "has 'number'"),
))
def test_each_way_of_a_sentence_repairs_the_run(params, tmp_path, table, changes, count, expected):
    path = tmp_path / "table.csv"
    path.write_text(table)
    params.update(changes, train_files=str(path))
    with pytest.raises((DataFileError, DataParamError)) as raised:
        plugin.data_params(params)
    sentence = str(raised.value)
    assert expected in sentence and "\n" not in sentence
    ways = _ways(sentence)
    assert len(ways) == count, sentence
    for way in ways:
        assert plugin.data_params(_followed(params, way))["train_examples"], way


@pytest.mark.parametrize("other", ({"label_smoothing": 0.0}, {"estimator": "BaselineClassifier"}))
def test_a_model_of_classes_has_no_price_as_its_label(params, tmp_path, other):
    path = tmp_path / "table.csv"
    path.write_text("area,region,rooms,label\n" + _PRICES)
    with pytest.raises(DataParamError) as raised:
        plugin.data_params({**params, **other, "train_files": str(path)})
    assert str(raised.value).endswith(
        "and this model_fn learns classes alone; expected a regression model. For example: "
        "--model_fn=canned --param num_classes=-1" if "label_smoothing" in other else
        "--param num_classes=-1 --param estimator=BaselineRegressor")
