"""The input plug-in `csv` decides what each column is, for a model that prepares columns itself."""

from __future__ import annotations

import datetime
import functools
import random

import pytest

from input_fns import csv as plugin
from input_fns.reading import dates
from tests.support import csv_files

pytestmark = pytest.mark.any_tensorflow

ROWS = 200


@pytest.fixture(name="learned")
def fixture_learned(tmp_path):
    """Returns the facts about a table of 200 rows that has these columns of texts."""

    def facts(columns, **others):
        params = {**plugin.DEFAULT_PARAMS, "prepare_columns": True, "table_columns": {},
                  "label_scale": {}, "label": "y", **others}
        if "y" not in columns:
            columns = {**columns, "y": [str(i % 2) for i in range(ROWS)]}
        lines = [",".join(columns), *map(",".join, zip(*columns.values()))]
        csv_files.write_data(params, tmp_path, "\n".join(lines) + "\n")
        return plugin.data_params(params)

    return facts


def _ids(start=100000):
    return [str(start + i) for i in random.Random(1).sample(range(ROWS), ROWS)]


@pytest.mark.parametrize("name, texts", [
    ("customer_id", _ids()), ("PassengerId", _ids(1)), ("Unnamed: 0", _ids(0)),
    ("row", _ids(0)), ("anything", _ids(5)),
    ("id", [str(1 + 7 * i) for i in range(ROWS)]), ("id", [f"{i}.0" for i in range(ROWS)]),
    ("name", [f"customer {i}" for i in range(ROWS)]), ("always", ["7"] * ROWS)])
def test_a_column_without_meaning_for_other_rows_is_left_out(learned, name, texts):
    with_price = {name: texts, "price": [str(i % 9) for i in range(ROWS)]}
    known = learned(with_price)
    assert set(known["table_columns"]) == {"price"} and name not in known["columns"]
    kept = learned(with_price, column_types={name: "text"})
    assert set(kept["table_columns"]) == {name, "price"}


@pytest.mark.parametrize("param", [
    {"categorical_columns": ["zip"]}, {"numeric_columns": ["price"]},
    {"numeric_scale": {"price": [0, 1]}}])
def test_columns_are_not_prepared_where_a_param_has_their_kinds(learned, param):
    texts = {"zip": [str(i % 9) for i in range(ROWS)], "price": [f"{i}.5" for i in range(ROWS)]}
    assert learned(texts, numeric_scale={})["table_columns"]
    known = learned(texts, **{"numeric_scale": {}, **param})
    assert "table_columns" not in known and set(known["columns"]) == {"zip", "price", "y"}
    assert known["numeric_scale"] == param.get("numeric_scale", known["numeric_scale"])
    kinds = {"price": {"kind": "text"}}
    assert learned(texts, table_columns=kinds, **param)["table_columns"]


@pytest.mark.parametrize("name, texts", [
    ("income", [str(i * i * 31 % 9973) for i in range(ROWS)]),
    ("paid", [f"{i}.5" for i in range(ROWS)]),
    ("grid", [str(i % 150) for i in range(ROWS)])])
def test_a_number_whose_values_are_different_stays_a_number(learned, name, texts):
    assert learned({name: texts})["table_columns"][name]["kind"] == "number"


def test_missing_numbers_are_a_value_and_a_flag(learned):
    entry = learned({"age": ["", "1", "3", ""] * 50})["table_columns"]["age"]
    assert entry == {"kind": "number", "mean": 2, "deviation": 1, "knots": [], "missing": True}


def test_a_text_of_few_values_is_a_category_of_them_the_frequent_one_first(learned):
    texts = ["Köln", "Bonn", "Bonn", ""] * 50
    assert learned({"city": texts})["table_columns"]["city"] == {
        "kind": "category", "values": ["Bonn", "Köln"]}
    numbers = learned({"zip": ["50667", "53111"] * 100}, column_types={"zip": "category"})
    assert numbers["table_columns"]["zip"] == {"kind": "category", "values": ["50667", "53111"]}


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d",
                                  "%Y%m%dT%H%M%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%fZ"])
def test_dates_and_times_are_days_and_their_parts(learned, form):
    times = [datetime.datetime(2014, 5, 2, 9) + datetime.timedelta(hours=41 * i)
             for i in range(ROWS)]
    entry = learned({"sold": [time.strftime(form) for time in times]})["table_columns"]["sold"]
    days = [(time - datetime.datetime(1970, 1, 1)).total_seconds() / 86400 for time in times]
    has_time = "H" in form
    mean = sum(days if has_time else map(int, days)) / ROWS
    assert entry["mean"] == pytest.approx(mean, abs=0.01)
    assert entry["parts"] == ["month", "weekday"] + ["hour"] * has_time


@pytest.mark.parametrize("per_sec", [1, 1000])
@pytest.mark.parametrize("name, is_time", [
    ("timestamp", True), ("createdAt", True), ("updated_at", True), ("event_time_ms", True),
    ("phone", False), ("format", False), ("gross", False)])
def test_unix_times_are_days_and_their_parts_if_the_name_speaks_of_time(
        learned, name, is_time, per_sec):
    times = [1_400_000_000 + 41 * 3600 * i for i in range(ROWS)]
    entry = learned({name: [str(per_sec * time) for time in times]})["table_columns"][name]
    assert entry["kind"] == ("date" if is_time else "number")
    if is_time:
        assert entry["per_day"] == 86_400 * per_sec
        assert entry["mean"] == pytest.approx(sum(times) / ROWS / 86_400, abs=0.01)
        assert entry["parts"] == ["month", "weekday", "hour"]


@pytest.mark.parametrize("texts", [["2014-02-30"], ["12345678"], ["99999999"], ["1.5"], ["a"],
                                   ["10:20"], ["1/2/3"], ["1.2.14"], ["may be"], ["13/13/14"],
                                   ["Jan 2014"], ["5 m2 2014"], []])
def test_other_texts_are_no_dates(texts):
    assert dates.form_of(texts, is_text=True) is None


@pytest.mark.parametrize("texts, classes", [
    (["0.0", "1.0"], ["0.0", "1.0"]), (["-1", "1"], ["-1", "1"]), (["1", "2"], ["1", "2"]),
    (["0", "1", "2", "3"], ["0", "1", "2", "3"]), (["3", "4", "5", "8"], None),
    ([str(1000 + 13 * i) for i in range(ROWS)], None), ([str(i) for i in range(ROWS)], None),
    (["0.5", "1.5"], None)])
def test_numbers_are_classes_or_a_number_by_what_they_are(learned, texts, classes):
    known = learned({"x": [str(i % 9) for i in range(ROWS)], "y": texts * (ROWS // len(texts))})
    assert known.get("class_names") == classes and known["num_classes"] == len(classes or [0]) * (
        1 if classes else -1)


def test_positive_skewed_labels_are_learned_as_logarithms(learned):
    x = [str(i % 9) for i in range(ROWS)]
    skewed = learned({"x": x, "y": [str(2.0 ** (i % 20)) for i in range(ROWS)]})["label_scale"]
    assert skewed["log"] and skewed["mean"] == pytest.approx(6.58, abs=0.01)
    even = functools.partial(learned, {"x": x, "y": [str(1000 + i) for i in range(ROWS)]})
    assert even()["label_scale"] == {"mean": 1099.5, "deviation": pytest.approx(57.73, abs=0.01),
                                     "log": False}
    assert even(label_scale={"mean": 0, "deviation": 1}).get("label_scale", {}) == {}
