"""Slices of an evaluation, the worst first, and residuals by column."""

import numpy as np
import pytest

from estimator_trainer import schema
from estimator_trainer.evaluation import column_residuals, slices
from estimator_trainer.evaluation.column_residuals import ColumnResidualsContent
from estimator_trainer.evaluation.slices import SlicesContent

pytestmark = pytest.mark.any_tensorflow


def _answered(labels, is_right):
    return np.eye(2)[np.where(is_right, labels, 1 - labels)]


def _classified(rows=400, share_of_b=0.6):
    """Returns columns and answers; of those of `name` "b", about `share_of_b` are right."""
    generator = np.random.default_rng(0)
    columns = {"name": np.array([b"a", b"b", b"c", b"d"] * (rows // 4), object),
               "number": generator.normal(size=[rows, 1]), "vector": np.zeros([rows, 3])}
    labels = generator.integers(0, 2, rows)
    share = np.where(columns["name"] == b"b", share_of_b, 0.95)
    return columns, labels, _answered(labels, generator.random(rows) < share)


def test_the_worst_category_comes_first():
    columns, labels, outputs = _classified()
    found = slices.of_rows(columns, labels, outputs)
    assert schema.made(SlicesContent, found) == found
    first = found["found"][0]
    is_b = columns["name"] == b"b"
    is_right = labels == outputs.argmax(axis=1)
    assert (first["column"], first["value"], first["rows"]) == ("name", "b", 100)
    assert first["score"] == pytest.approx(is_right[is_b].mean())
    assert first["elsewhere"] == pytest.approx(is_right[~is_b].mean(), abs=1e-5)
    assert first["is_significant"] and slices.worst(found) == first
    assert found["slices"] == 8 and {each["column"] for each in found["found"]} == {
        "name", "number"}
    assert slices.sentence(first, "accuracy") == (
        f"name=b: accuracy {first['score']:.3g} in 100 rows, {first['elsewhere']:.3g} elsewhere")


def test_chance_is_no_bad_slice():
    assert slices.worst(slices.of_rows(*_classified(share_of_b=0.95))) is None


def test_few_rows_are_no_slice():
    columns = {"name": np.array([b"rare"] * 3 + [b"a"] * 60 + [b"b"] * 60, object)}
    labels = np.zeros(123, int)
    found = slices.of_rows(columns, labels, _answered(labels, columns["name"] != b"rare"))
    assert {each["value"] for each in found["found"]} == {"a", "b"}
    assert slices.of_rows({"x": np.zeros(9)}, labels[:9], np.eye(2)[labels[:9]]) is None


def test_a_regression_has_missing_values_as_a_slice():
    generator = np.random.default_rng(0)
    number = generator.normal(size=300)
    number[::5] = np.nan
    labels = generator.normal(size=300)
    outputs = labels + generator.normal(size=300) * np.where(np.isnan(number), 10, 1)
    outputs[1] = np.inf
    found = slices.of_rows({"number": number, "flag": np.arange(300) % 2 == 0}, labels, outputs)
    first = found["found"][0]
    assert found["metric"] == "mean absolute error" and (first["column"], first["value"]) == (
        "number", "missing")
    assert first["is_significant"] and first["low"] < first["score"] < first["high"]
    assert first["score"] == pytest.approx(np.abs(outputs - labels)[::5].mean(), rel=1e-5)
    assert {each["value"] for each in found["found"] if each["column"] == "flag"} == {
        "True", "False"}


@pytest.mark.parametrize("right, rows, low, high", [
    # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I.
    (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)])
def test_the_interval_is_that_of_wilson(right, rows, low, high):
    assert slices.wilson(right / rows, rows) == pytest.approx((low, high), abs=1e-4)


def test_residuals_are_means_of_a_tenth_of_the_rows():
    values = np.arange(1000.0)
    labels = np.zeros(1000)
    columns = {"x": values, "name": np.array([b"a", b"b"] * 500, object),
               "vector": np.zeros([1000, 2])}
    found = column_residuals.of_columns(columns, ["x", "vector", "name"], labels, values)
    assert [each["name"] for each in found] == ["x", "name"]
    assert found[0]["counts"] == [100] * 10
    assert found[0]["means"] == found[0]["at"] == [49.5 + 100 * i for i in range(10)]
    assert found[1]["at"] == ["a", "b"] and found[1]["means"] == [499.0, 500.0]
    for each in found:
        assert schema.made(ColumnResidualsContent, each) == each
