"""Hints on columns, slices and probabilities: each where the figures support it, and not else."""

import pytest

from estimator_trainer.evaluation import data_hints

pytestmark = pytest.mark.any_tensorflow


def _important(base, *drops, metric="AUC"):
    found = [{"name": f"column {i}", "drop": drop, "deviation": 0.0}
             for i, drop in enumerate(drops)]
    return {"columns": {"importance": {"metric": metric, "base": base, "found": found}},
            "per_class": [{"name": "a", "examples": 60}, {"name": "b", "examples": 40}]}


@pytest.mark.parametrize("content, is_leak", [
    (_important(1.0, 0.49, 0.001), True), (_important(0.99, 0.2, 0.19), False),
    (_important(0.8, 0.3, 0.0), False), (_important(1.0, 0.49), False),
    (_important(0.99, 1.9, 0.01, metric="R²"), True), (_important(0.99, 0.39, 0.0,
                                                                  metric="accuracy"), True),
    (_important(0.95, 1.3, 0.2, metric="R²"), False), ({}, False)])
def test_one_column_that_carries_the_score_is_named(content, is_leak):
    found = data_hints.of_leak(content, {"drop": ["id"]})
    assert bool(found) == is_leak
    if found:
        assert found[0].startswith("column 'column 0' carries nearly all of the score")
        assert found[0].endswith("""leave it out: --param drop='["id", "column 0"]'""")


def test_a_column_of_another_input_fn_has_no_param_to_type():
    assert data_hints.of_leak(_important(1.0, 0.49, 0.0), {})[0].endswith("leave it out")


def test_few_examples_have_an_interval():
    few = {"kind": "classification", "evaluated": 30, "examples": 30, "accuracy": 0.8}
    [hint] = data_hints.of_few(few)
    assert hint == ("the evaluation has 30 examples only: an accuracy of 0.8 may as well be 0.63 or"
                    " 0.9 with others")
    assert data_hints.of_few({"kind": "regression", "evaluated": 30})
    assert not data_hints.of_few({**few, "evaluated": 500})


def _data(**columns):
    return {"data": {"evaluation_rows": 1000, "columns": [
        {"name": name, "unseen": unseen, "examples": ["new"] * bool(unseen), "drift": drift,
         "has_drifted": drift > 0.1, "medians": [1.0, 2.0]}
        for name, (drift, unseen) in columns.items()]}}


def test_drifted_columns_are_named_the_most_drifted_first():
    [hint] = data_hints.of_drift(_data(a=(0.2, 0), b=(1.5, 0), c=(0.3, 0), d=(0.01, 0)))
    assert hint.startswith("drifted between training and evaluation: 'b' (PSI 1.5, median 1 in")
    assert "'c'" in hint and "and 1 more" in hint
    assert not data_hints.of_drift(_data(a=(0.05, 0))) and not data_hints.of_drift({})


def test_many_unseen_values_are_named():
    [hint] = data_hints.of_unseen(_data(a=(0.0, 80), b=(0.0, 3)))
    assert "'a' in 80 of 1,000 rows, such as 'new'" in hint and "'b'" not in hint
    assert not data_hints.of_unseen(_data(b=(0.0, 3))) and not data_hints.of_unseen({})


@pytest.mark.parametrize("bins, of_class, is_named", [
    ([(200, 0.95, 0.75)], {}, True), ([(200, 0.95, 0.92)], {}, False),
    ([(50, 0.95, 0.75)], {}, False),
    # The second of two classes: right in 0.3 of the examples where it has 0.05.
    ([(100, 0.05, 0.3), (100, 0.95, 0.75)], {"of_class": "yes"}, True),
    ([(100, 0.05, 0.06), (100, 0.95, 0.94)], {"of_class": "yes"}, False)])
def test_probabilities_that_are_too_certain(bins, of_class, is_named):
    content = {"calibration": {**of_class, "bins": [
        {"examples": count, "certainty": certainty, "accuracy": accuracy}
        for count, certainty, accuracy in bins]}}
    found = data_hints.of_certainty(content)
    assert bool(found) == is_named
    assert not found or found[0].startswith("the probabilities are too certain: 0.95 on average")


@pytest.mark.parametrize("metric, score, elsewhere, is_significant, is_named", [
    ("accuracy", 0.7, 0.85, True, True), ("accuracy", 0.7, 0.85, False, False),
    ("accuracy", 0.8, 0.85, True, False), ("mean absolute error", 9.0, 4.0, True, True),
    ("mean absolute error", 5.0, 4.0, True, False)])
def test_a_slice_that_is_much_worse(metric, score, elsewhere, is_significant, is_named):
    content = {"slices": {"metric": metric, "found": [
        {"column": "contract", "value": "monthly", "rows": 70, "score": score,
         "elsewhere": elsewhere, "is_significant": is_significant}]}}
    found = data_hints.of_slices(content)
    assert bool(found) == is_named
    assert not found or f"contract=monthly: {metric} {score:.3g} in 70 rows" in found[0]
    assert not data_hints.of_slices({})


def _two_classes(recall, auc=0.73):
    return {"curves": [{"name": "yes", "auc": auc}], "per_class": [
        {"name": "no", "examples": 300, "recall": 0.9, "precision": 0.8},
        {"name": "yes", "examples": 100, "recall": recall, "precision": 0.6}]}


def test_of_missed_names_a_class_that_a_lower_threshold_would_find():
    [hint] = data_hints.of_missed(_two_classes(0.24))
    assert "24 of 100 examples of 'yes' are found (24%)" in hint and "threshold" in hint
    assert not data_hints.of_missed(_two_classes(0.6))
    assert not data_hints.of_missed(_two_classes(0.24, auc=0.52))
    assert not data_hints.of_missed({"per_class": []})
