"""Predictions have the classes as the data call them."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from model_fns.training import class_names, classifier, head

pytestmark = pytest.mark.any_tensorflow

INFER = tf.estimator.ModeKeys.PREDICT
LOGITS = np.float32([[0.0, 1.0], [3.0, 1.0]])


def _run(fetches):
    with tf.compat.v1.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize("params, expected", [
    ({"class_names": ["no", "yes"]}, ["no", "yes"]),
    ({"class_names": [], "label_vocabulary": ["low", "high"]}, ["low", "high"]),
    ({}, []), ({"class_names": [], "label_vocabulary": []}, []),
    # Folders, or texts, may be called so; those of a table without texts are numbers.
    ({"class_names": ["0", "1"]}, ["0", "1"]), ({"label_vocabulary": ["0", "1"]}, ["0", "1"]),
    ({"class_names": ["0", "1"], "label_vocabulary": []}, []),
    ({"class_names": ["one"]}, ["one", "1"]), ({"class_names": ["a", "b", "c"]}, ["a", "b"]),
    ({"class_names": [-1, 1]}, ["-1", "1"])])
def test_classes_without_a_name_are_called_by_their_numbers(params, expected):
    assert class_names.of(params, 2) == expected


def test_a_classifier_predicts_the_name_beside_the_number():
    with tf.Graph().as_default():
        named, unnamed = (classifier.spec(tf.constant(LOGITS), None, INFER, {"class_names": names})
                          for names in (["nö", "yes"], []))
        assert _run(named.predictions["class"]).tolist() == [b"yes", "nö".encode()]
        assert set(named.export_outputs["serving_default"].outputs) == {
            "classes", "probabilities", "class"}
        assert set(unnamed.predictions) == {"classes", "probabilities"}


def test_a_canned_classifier_predicts_names_in_every_signature():
    params = {"num_classes": 2, "label_vocabulary": ["no", "yes"]}
    with tf.Graph().as_default():
        logits = tf.constant(LOGITS[:, :1] - LOGITS[:, 1:])
        spec = head.spec(logits, {}, None, INFER, params, tf.constant(0.0))
        found = _run({**spec.predictions,
                      "scored": spec.export_outputs["classification"].classes})
        assert found["classes"].tolist() == [[b"no"], [b"yes"]]
        assert found["class"].tolist() == [b"no", b"yes"]
        assert found["class_ids"].tolist() == [[0], [1]]
        assert found["all_classes"].tolist() == found["scored"].tolist() == [[b"no", b"yes"]] * 2
        assert spec.export_outputs["predict"].outputs["class"] is spec.predictions["class"]
        without = head.spec(logits, {}, None, INFER, {"num_classes": 2}, tf.constant(0.0))
        assert _run(without.predictions["classes"]).tolist() == [[b"0"], [b"1"]]


def test_a_regressor_has_no_names():
    with tf.Graph().as_default():
        spec = head.spec(tf.constant(LOGITS[:, :1]), {}, None, INFER,
                         {"num_classes": -1, "label_dimension": 1, "class_names": ["a", "b"]},
                         tf.constant(0.0))
        assert set(spec.predictions) == {"predictions"}
