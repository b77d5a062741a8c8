"""Which columns matter, and the response to each, beside scikit-learn's of the same model."""

from __future__ import annotations

import time

import numpy as np
import pytest

from estimator_trainer import schema
from estimator_trainer.evaluation import column_importance, column_response, columns
from estimator_trainer.evaluation.column_importance import Rows
from estimator_trainer.evaluation.columns import ColumnsContent, Judged

pytestmark = pytest.mark.any_tensorflow

_NAMES = ("strong", "weak", "noise", "twin")


def _table(rows=600, seed=0):
    """Returns columns and a model of two numbers; `twin` is not used."""
    generator = np.random.default_rng(seed)
    made = {name: generator.normal(size=rows) for name in _NAMES}
    made["twin"] = made["strong"].copy()
    return made


def _logits(made):
    return 2.0 * made["strong"] + 0.7 * made["weak"] ** 2 - 0.7


def _probabilities(made):
    positive = 1 / (1 + np.exp(-_logits(made)))
    return np.stack([1 - positive, positive], axis=1)


def _in_a_minute():
    return time.monotonic() + 60


def _labels(made, seed=1):
    chance = np.random.default_rng(seed).random(len(made["strong"]))
    return (chance < _probabilities(made)[:, 1]).astype(np.int64)


def test_importance_is_that_of_scikit_learn():
    inspection = pytest.importorskip("sklearn.inspection")
    made = _table()
    labels = _labels(made)

    class Model:
        _estimator_type, classes_ = "classifier", np.array([0, 1])

        def fit(self, *_):
            return self

    def score(_, matrix, truth):
        from sklearn.metrics import roc_auc_score  # pylint: disable=import-outside-toplevel
        return roc_auc_score(truth, _logits(dict(zip(_NAMES, matrix.T))))

    theirs = inspection.permutation_importance(
        Model(), np.stack([made[name] for name in _NAMES], axis=1), labels, scoring=score,
        n_repeats=40, random_state=0)
    found = column_importance.measured(_probabilities, Rows(made, labels), 0, _in_a_minute())
    assert [each["name"] for each in found["together"]] == ["strong, twin"]
    assert found["metric"] == "AUC" and found["repeats"] == 5
    assert found["base"] == pytest.approx(score(None, np.stack(
        [made[name] for name in _NAMES], axis=1), labels), abs=1e-5)
    ours = {each["name"]: each["drop"] for each in found["found"]}
    for name, mean, deviation in zip(_NAMES, theirs.importances_mean, theirs.importances_std):
        assert ours[name] == pytest.approx(mean, abs=3 * deviation / np.sqrt(5) + 1e-5)
    assert [each["name"] for each in found["found"]][:2] == ["strong", "weak"]
    assert ours["noise"] == ours["twin"] == 0.0


@pytest.mark.parametrize("scores", [[0.1, 0.4, 0.35, 0.8], [0.5, 0.5, 0.5, 0.5],
                                    [0.2, 0.2, 0.9, 0.1]])
def test_auc_and_r_squared_are_those_of_scikit_learn(scores):
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores = np.array([0, 0, 1, 1]), np.array(scores)
    assert column_importance.auc(labels, scores) == metrics.roc_auc_score(labels, scores)
    assert column_importance.r_squared(labels, scores) == pytest.approx(
        metrics.r2_score(labels, scores))


def test_the_metric_is_one_that_the_labels_allow():
    halves = np.full([4, 2], 0.5)
    assert column_importance.metric_of(np.array([0, 1, 1, 0]), halves).name == "AUC"
    assert column_importance.metric_of(np.ones(4, int), halves).name == "accuracy"
    assert column_importance.metric_of(np.array([0, 1, 1, 0]), np.eye(2)[[0, 1, 1, 0]]).name == (
        "accuracy")
    assert column_importance.metric_of(np.arange(4), np.full([4, 4], 0.25)).name == "accuracy"
    assert column_importance.metric_of(np.arange(4.0), np.arange(4.0)).name == "R²"


def test_the_few_columns_that_matter_among_many_are_found():
    made = _table(400)
    made |= {f"column {i}": np.zeros(400) for i in range(200)}
    made = dict(sorted(made.items()))
    found = column_importance.measured(
        _probabilities, Rows(made, _labels(made)), 0, _in_a_minute())
    assert (found["columns"], found["tried"], len(found["found"])) == (204, 204, 20)
    assert [each["name"] for each in found["found"][:2]] == ["strong", "weak"]


def test_a_slow_model_of_many_columns_has_fewer_rows_and_all_repeats():
    made = _table(2000)
    made |= {f"column {i}": np.zeros(2000) for i in range(30)}

    def predict(each):
        time.sleep(len(each["strong"]) / 80_000)
        return _probabilities(each)

    found = column_importance.measured(
        predict, Rows(made, _labels(made)), 0, time.monotonic() + 1)
    assert 200 <= found["rows"] < 2000 and found["repeats"] >= 3 and found["tried"] == 34
    assert found["found"][0]["name"] == "strong"


def test_columns_with_the_same_content_are_shuffled_together_too():
    made = _table()
    made |= {"word": np.where(made["noise"] > 0, b"a", b"b").astype(object),
             "code": np.where(made["noise"] > 0, b"x", b"y").astype(object),
             "vector": np.zeros([600, 2])}

    def predict(each):
        return _probabilities({**each, "strong": (each["strong"] + each["twin"]) / 2})

    found = column_importance.measured(predict, Rows(made, _labels(made)), 0, _in_a_minute())
    drops = {each["name"]: each["drop"] for each in [*found["found"], *found["together"]]}
    assert [each["name"] for each in found["together"]] == ["strong, twin", "word, code"]
    assert drops["strong, twin"] > drops["strong"] + drops["twin"]


def test_without_time_there_is_a_reason():
    made = _table(3000)
    with pytest.raises(ValueError, match="too slowly"):
        column_importance.measured(_probabilities, Rows(made, _labels(made)), 0, time.monotonic())


def test_a_vector_is_one_column():
    generator = np.random.default_rng(0)
    made = {"vector": generator.normal(size=[200, 3]), "number": generator.normal(size=200)}
    labels = made["vector"].sum(axis=1) + 0.1 * made["number"]
    found = columns.measured(lambda each: each["vector"].sum(axis=1) + 0.1 * each["number"],
                             made, Judged(labels, labels), _in_a_minute())
    assert [each["name"] for each in found["importance"]["found"]] == ["vector", "number"]
    assert found["importance"]["metric"] == "R²"
    assert [each["name"] for each in found["responses"]] == ["number"]


def test_the_response_is_that_of_scikit_learn():
    inspection = pytest.importorskip("sklearn.inspection")
    linear = pytest.importorskip("sklearn.linear_model")
    made = _table(300)
    matrix = np.stack([made[name] for name in _NAMES], axis=1)
    model = linear.LogisticRegression().fit(np.square(matrix) + matrix, _labels(made))

    class Squared(linear.LogisticRegression):
        def predict_proba(self, X):
            return model.predict_proba(np.square(X) + X)

    squared = Squared().fit(matrix, _labels(made))
    found = column_response.of_column(
        lambda each: squared.predict_proba(np.stack([each[name] for name in _NAMES], axis=1)),
        made, "weak", made["weak"], _in_a_minute())
    theirs = inspection.partial_dependence(
        squared, matrix, [1], method="brute", response_method="predict_proba",
        custom_values={1: np.array(found["at"])})
    np.testing.assert_allclose(found["means"][:, 1], theirs["average"][0], rtol=1e-4)
    assert len(found["at"]) == 21 and set(found["deciles"]) <= set(found["at"])


def test_the_response_to_missing_values_and_to_categories():
    values = np.array([1.0, 2.0, np.nan, 2.0] * 10)
    names = np.array([b"a", b"b", b"\xff", b"b"] * 10, object)
    made = {"number": values, "name": names}

    def predict(each):
        return np.where(np.isnan(each["number"]), 9.0, each["number"]) + (each["name"] == b"b")

    found = column_response.with_names(column_response.of_column(
        predict, made, "number", values, _in_a_minute()), [0], [""])
    assert found["at"] == [1.0, 2.0] and found["means"] == [{"of": "", "values": [1.5, 2.5]}]
    assert found["missing"] == 10 and found["at_missing"] == [9.5]
    found = column_response.with_names(column_response.of_column(
        predict, made, "name", names, _in_a_minute()), [0], [""])
    assert found["at"] == ["b", "a", "�"] and found["counts"] == [20, 10, 10]
    assert found["means"][0]["values"] == [4.5, 3.5, 3.5]


def test_many_classes_show_the_most_frequent_three():
    assert column_response.shown_classes(np.array([3, 3, 0, 0, 0, 2]), np.zeros([6, 5])) == [
        0, 3, 2]


def test_a_model_that_predicts_differently_each_time_is_left_out():
    made, generator = _table(100), np.random.default_rng(0)
    outputs = _probabilities(made)
    with pytest.raises(ValueError, match="differently each time"):
        columns.measured(lambda each: generator.random([len(each["strong"]), 2]), made,
                         Judged(_labels(made), outputs), _in_a_minute())


def test_the_content_has_its_schema():
    made = _table(100)
    found = columns.measured(_probabilities, made, Judged(
        _labels(made), _probabilities(made), ("no", "yes")), _in_a_minute())
    assert schema.made(ColumnsContent, found) == found
    assert {mean["of"] for each in found["responses"] for mean in each["means"]} == {"yes"}
