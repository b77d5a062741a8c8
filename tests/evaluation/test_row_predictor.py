"""Rows that are predicted batch after batch by an Estimator, in one graph."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.coordination.stop import Stop
from estimator_trainer.estimator import passthrough
from estimator_trainer.evaluation import columns, row_predictor
from estimator_trainer.evaluation.columns import Judged
from estimator_trainer.evaluation.kept_rows import KeptRows


def _model_fn(features, labels, mode):
    del labels
    weight = tf.compat.v1.get_variable("weight", [], initializer=tf.compat.v1.ones_initializer())
    is_b = tf.cast(tf.equal(features["name"], "b"), tf.float32)
    total = weight * features["x"] + 10.0 * is_b
    step = tf.compat.v1.train.get_or_create_global_step()
    return tf.estimator.EstimatorSpec(
        mode, predictions={"y": total}, loss=tf.reduce_sum(total),
        train_op=tf.compat.v1.assign_add(step, 1))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns a model that predicts `x`, and 10 more where `name` is "b", and its checkpoint."""
    model = tf.estimator.Estimator(_model_fn, str(tmp_path_factory.mktemp("model")))
    model.train(lambda: tf.data.Dataset.from_tensors(_features()), steps=1)
    return model, model.latest_checkpoint()


def _features(rows=40):
    return {"x": np.arange(rows, dtype=np.float32), "name": np.array([b"a", b"b"] * (rows // 2))}


def _kept(features, batch_size=None):
    kept = KeptRows()
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensor_slices(features).batch(
            batch_size or 8, drop_remainder=bool(batch_size))
        dataset.map(kept.mark)
    size = len(features["x"])
    rows = ({name: values[i] for name, values in features.items()} for i in range(size))
    assert sum(1 for _ in kept.passed(passthrough.Answer({}, row) for row in rows)) == size
    return kept


@pytest.mark.parametrize("batch_size", [None, 7])
def test_batches_of_any_size_are_predicted_in_one_graph(trained, batch_size):
    model, path = trained
    kept = _kept(_features(), batch_size)
    found = kept.columns(40)
    with row_predictor.RowPredictor(model, path, kept.specs, 0) as predictor:
        for rows in (40, 3):
            part = {name: values[:rows] for name, values in found.items()}
            np.testing.assert_allclose(predictor.predict(part), [
                i + 10 * (i % 2) for i in range(rows)])


def test_the_columns_of_an_estimator(trained):
    model, path = trained
    kept = _kept(_features())
    labels = np.array([i + 10.0 * (i % 2) for i in range(40)])
    found = columns.of_model(model, path, kept, Judged(labels, labels), Stop(), lambda: None)
    assert {each["name"] for each in found["importance"]["found"]} == {"x", "name"}
    assert {each["name"]: each["kind"] for each in found["responses"]} == {
        "x": "number", "name": "category"}


def test_a_stopped_job_shows_no_columns(trained):
    model, path = trained
    stop, labels = Stop(), np.arange(40.0)
    stop.request_end("stopped", "SIGTERM", "local")
    found = columns.of_model(
        model, path, _kept(_features()), Judged(labels, labels), stop, lambda: None)
    assert found == {"reason": "the job was requested to end"}


def test_features_that_are_no_columns_have_a_reason():
    kept = KeptRows()
    for features in (np.zeros([2, 3]), {"image": np.zeros([2, 3])}):
        kept.mark(features)
        assert not kept.specs and not kept.reason
    kept.mark({"a": np.zeros(2), "b": np.float32(1)})
    assert kept.reason == "the feature 'b' is not a dense tensor of 1 to 4 dimensions"


@pytest.mark.parametrize("predictions, classes, expected", [
    ({"probabilities": np.array([[0.2, 0.8]]), "classes": np.array([1])}, 2, [[0.2, 0.8]]),
    ({"logistic": np.array([[0.8]]), "class_ids": np.array([[1]])}, 2, [[0.2, 0.8]]),
    ({"dense": np.array([[0.8]])}, 2, [[0.2, 0.8]]),
    ({"logits": np.array([[0.0, np.log(3)]])}, 2, [[0.25, 0.75]]),
    ({"classes": np.array([1, 0])}, 3, [[0, 1, 0], [1, 0, 0]]),
    ({"predictions": np.array([[3.0], [4.0]])}, 0, [3.0, 4.0]),
    ({"y": np.array([3, 4])}, 0, [3.0, 4.0]),
])
def test_outputs_of_any_names(predictions, classes, expected):
    np.testing.assert_allclose(row_predictor.outputs(predictions, classes), expected)


def test_other_outputs_are_refused():
    with pytest.raises(ValueError, match="neither probabilities nor single numbers"):
        row_predictor.outputs({"y": np.zeros([2, 3])}, 0)
