"""Predictions for the evaluation's examples, with any shape of labels and outputs."""

from __future__ import annotations

import numpy as np
import pytest

from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator.passthrough import Answer
from estimator_trainer.evaluation import judgement
from estimator_trainer.evaluation.classification import Classification
from estimator_trainer.evaluation.regression import Regression

_INPUTS = {"x": np.float32(0.5), "name": b"caf\xc3\xa9"}


def _judged(labels, predictions, names=()):
    answers = (Answer(each, _INPUTS, label) for label, each in zip(labels, predictions))
    return judgement._judged(answers, names, Stop(), lambda: None).content()


@pytest.mark.parametrize("labels, predictions, names", [
    # As the classifiers here, and canned ones, with or without names of the classes.
    (np.array([0, 1, 1]), [{"classes": np.int64(c), "probabilities": np.eye(2)[c]}
                           for c in (0, 1, 0)], ()),
    ([b"no", b"yes", b"yes"], [{"class_ids": np.array([c]), "classes": np.array([b"?"]),
                                "probabilities": np.eye(2)[c], "logistic": np.array([float(c)]),
                                "all_classes": np.array([b"no", b"yes"])} for c in (0, 1, 0)], ()),
    # As Keras: one sigmoid, probabilities or logits under any name, labels of shape [1] or one-hot.
    (np.array([[0], [1], [1]]), [{"dense": np.array([p])} for p in (0.2, 0.9, 0.3)], ()),
    (np.array([0, 1, 1]), [{"dense": np.array(p)} for p in ([3.0, -1.0], [-1, 2.0], [1.0, 0.5])],
     ()),
    (np.eye(2)[[0, 1, 1]], [{"dense": np.eye(2)[c]} for c in (0, 1, 0)], ("no", "yes")),
    # Classes alone.
    (np.array([0, 1, 1]), [{"classes": np.int64(c)} for c in (0, 1, 0)], ()),
])
def test_classification_of_labels_in_any_shape(labels, predictions, names):
    found = _judged(labels, predictions, names)
    assert found["kind"] == "classification" and found["matrix"]["counts"] == [[1, 0], [1, 1]]
    assert found["accuracy"] == pytest.approx(2 / 3)
    second = found["per_class"][1]
    assert (second["examples"], second["precision"], second["recall"]) == (2, 1.0, 0.5)
    [error] = found["worst"]
    assert error["position"] == 2
    assert error["inputs"] == [{"name": "x", "text": "0.5"}, {"name": "name", "text": "café"}]


@pytest.mark.parametrize("status, examples", [("done", 9), ("stopped", 1)])
def test_a_training_that_ended_early_is_judged_by_all_examples(status, examples):
    stop = Stop()
    stop.request_end(status, "no_improvement", "local")
    answers = (Answer({"y": np.float32(1)}, _INPUTS, np.float32(i)) for i in range(9))
    assert judgement._judged(answers, (), stop, lambda: None).content()["examples"] == examples


def test_regression_of_numbers():
    found = _judged(np.array([1.0, 2.0, 3.0]), [{"predictions": np.array([p])}
                                                for p in (1.5, 2.0, 1.0)])
    assert found["kind"] == "regression"
    assert found["mean_error"] == pytest.approx(-0.5)
    assert found["mean_absolute_error"] == pytest.approx(2.5 / 3)
    assert found["r_squared"] == pytest.approx(1 - (0.25 + 4) / 2)
    assert [each["position"] for each in found["worst"]] == [2, 0, 1]
    assert sum(found["residuals"]["counts"]) == 3


def test_regression_of_numbers_between_0_and_1():
    predictions = [{"y": np.float32(0.1)}, {"y": np.float32(0.9)}]
    found = _judged(np.array([0.0, 1.0], np.float32), predictions)
    assert found["kind"] == "regression"


@pytest.mark.parametrize("labels, predictions", [
    ([None], [{"classes": np.int64(0)}]),
    (np.zeros([1, 3]), [{"y": np.zeros([3])}]),
    ([0], [{"a": np.zeros([2, 2]), "b": np.zeros([2, 2])}]),
    ([], []),
])
def test_write_gives_a_reason_where_it_cannot_judge(labels, predictions):
    with pytest.raises(ValueError):
        _judged(labels, predictions)


def test_classification_has_the_calibration_error_of_its_paper():
    found = Classification()
    # The model is right in 3 of 4 cases, and 0.95 sure of each.
    for label in (1, 1, 1, 0):
        found.add(label, 1, np.array([0.05, 0.95]), {})
    calibration = found.content()["calibration"]
    assert calibration["expected_error"] == pytest.approx(0.95 - 0.75)
    assert calibration["bins"][9]["examples"] == 4


def test_classification_shows_errors_by_the_probability_of_the_label():
    found = Classification()
    for i in range(20):
        of_label = i / 100
        found.add(0, 1, np.array([of_label, 1 - of_label]), {})
    worst = found.content()["worst"]
    assert [each["position"] for each in worst] == list(range(8))


def test_classification_of_many_classes_shows_confused_pairs():
    found = Classification()
    for label in range(60):
        found.add(label, (label + 1) % 60 if label < 2 else label, None, {})
    content = found.content()
    assert content["matrix"] is None and len(content["confused"]) == 2
    assert {(each["label"], each["predicted"]) for each in content["confused"]} == {
        ("0", "1"), ("1", "2")}


def test_write_makes_images_pngs_and_leaves_rows():
    found = Regression()
    grey = np.linspace(-1, 1, 12).reshape([4, 3, 1]).astype(np.float32)
    found.add(0.0, 1.0, {"image": grey, "photo": np.full([2, 2, 3], 200, np.uint8),
                         "row": np.arange(20), "file": b"\xff\xd8\xff\xe0..."})
    [example] = found.content()["worst"]
    shown = {each["name"]: each for each in example["inputs"]}
    assert shown["image"]["image"].startswith("data:image/png;base64,iVBOR")
    assert shown["photo"]["image"].startswith("data:image/png")
    assert shown["file"]["image"].startswith("data:image/jpeg")
    assert shown["row"]["text"].startswith("0, 1, 2") and shown["row"]["text"].endswith("...")


def test_regression_counts_nan_and_does_not_draw_it():
    found = Regression()
    found.add(1.0, float("nan"), {})
    found.add(1.0, 2.0, {})
    content = found.content()
    assert content["not_finite"] == 1 and content["mean_error"] == 1.0


def test_classification_of_large_labels_takes_no_room():
    found = Classification()
    for i in range(3000):
        found.add(10 ** 12 + i, 10 ** 12 + i % 2999, None, {})
    content = found.content()
    assert content["matrix"] is None and len(content["per_class"]) == 500
    assert content["confused"] == [{"label": str(10 ** 12 + 2999), "predicted": str(10 ** 12),
                                    "count": 1}]
