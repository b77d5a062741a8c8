"""The rows to evaluate beside those to train on."""

import numpy as np
import pytest

from input_fns import csv
from input_fns.reading import table_drift

pytestmark = pytest.mark.any_tensorflow


def _compared(folder, training, evaluated, **params):
    for name, rows in (("train", training), ("eval", evaluated)):
        lines = [",".join(map(str, row)) for row in rows]
        (folder / f"{name}.csv").write_text("\n".join(["number,name,label", *lines]) + "\n")
    found = {**csv.DEFAULT_PARAMS, "train_files": str(folder / "train.csv"),
             "eval_files": str(folder / "eval.csv"), **params}
    content = csv.compared_columns(found)
    return content, {each["name"]: each for each in content.get("columns", ())}


def _rows(numbers, names):
    return [(number, names[i % len(names)], i % 2) for i, number in enumerate(numbers)]


def test_what_is_alike_has_not_drifted(tmp_path):
    generator = np.random.default_rng(0)
    content, columns = _compared(tmp_path, _rows(generator.normal(size=900), "abc"),
                                 _rows(generator.normal(size=300), "abc"))
    assert (content["training_rows"], content["evaluation_rows"]) == (900, 300)
    assert content["is_whole"] and content["label"] == "label"
    assert not any(each["has_drifted"] or each["unseen"] for each in columns.values())
    assert columns["name"]["drift"] < 0.01 and columns.keys() == {"number", "name", "label"}


def test_few_rows_that_differ_by_chance_have_not_drifted(tmp_path):
    generator = np.random.default_rng(3)
    _, columns = _compared(tmp_path, _rows(generator.normal(size=900), "abc"),
                           _rows(generator.normal(size=40), "abc"))
    assert columns["number"]["drift"] > table_drift.DRIFTED
    assert not columns["number"]["has_drifted"]


def test_other_numbers_new_texts_and_missing_values_come_first(tmp_path):
    generator = np.random.default_rng(0)
    evaluated = _rows(generator.normal(size=300) + 1.5, ["a", "b", "new", "newer", "new"])
    evaluated[::4] = [("", "a", 1)] * 75
    _, columns = _compared(tmp_path, _rows(generator.normal(size=900), "abc"), evaluated)
    assert list(columns)[-1] == "label"
    number, name = columns["number"], columns["name"]
    assert number["has_drifted"] and number["missing"] == [0, 75]
    assert number["medians"][1] - number["medians"][0] > 1
    assert name["unseen"] == sum(row[1] in ("new", "newer") for row in evaluated)
    assert name["examples"] == ["new", "newer"] and name["has_drifted"]


def test_a_text_of_many_values_has_no_index(tmp_path):
    training = [(1.0, f"text {i}", i % 2) for i in range(1200)]
    _, columns = _compared(tmp_path, training, _rows(range(60), "abc"))
    assert columns["name"]["drift"] is None and not columns["name"]["unseen"]


def test_every_fifth_line_is_compared_without_eval_files(tmp_path):
    content, _ = _compared(tmp_path, _rows(range(100), "ab"), [], eval_files="")
    assert (content["training_rows"], content["evaluation_rows"]) == (80, 20)


def test_the_same_files_are_not_compared(tmp_path):
    assert _compared(tmp_path, _rows(range(100), "ab"), [],
                     eval_files=str(tmp_path / "train.csv"))[0] == {}


def test_the_index_is_that_of_its_formula():
    training, evaluated = np.array([60, 30, 10]), np.array([20, 30, 50])
    p, q = (training + 0.5) / 101.5, (evaluated + 0.5) / 101.5
    assert table_drift.index(training, evaluated) == pytest.approx(
        sum((p - q) * np.log(p / q)))


@pytest.mark.parametrize("bins", [3, 10, 21])
def test_chance_is_that_of_chi_squared(bins):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.chi2.ppf(0.999, bins - 1) * (1 / 500 + 1 / 200)
    assert table_drift.by_chance(bins, 500, 200) == pytest.approx(expected, rel=0.03)
    generator = np.random.default_rng(0)
    shares = np.full(bins, 1 / bins)
    indices = [table_drift.index(*(generator.multinomial(rows, shares) for rows in (500, 200)))
               for _ in range(300)]
    assert np.mean(np.array(indices) > expected) < 0.02
