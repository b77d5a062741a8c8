"""Serving inputs, derived from what an input_fn yields."""

from __future__ import annotations

import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.estimator import passthrough, serving_input

IMAGE = tf.TensorSpec([64, 8, 8, 1], tf.float32)
SPARSE = tf.SparseTensorSpec([None, 100], tf.int64)


def _receiver(features, kind):
    with tf.Graph().as_default():
        return serving_input.receiver_fn(features, kind)()


def test_receiver_fn_of_raw_inputs_keeps_names_and_shapes():
    receiver = _receiver({"image": IMAGE, "id": tf.TensorSpec([None], tf.string)}, "raw")
    assert receiver.receiver_tensors["image"].shape.as_list() == [None, 8, 8, 1]
    assert receiver.receiver_tensors["id"].dtype == tf.string


def test_receiver_fn_of_raw_inputs_takes_any_names():
    names = ["fixed acidity", "gr\u00f6\u00dfe", "_c0", "a:b", "", "fixed_acidity"]
    receiver = _receiver({name: tf.TensorSpec([None], tf.float32) for name in names}, "raw")
    assert list(receiver.receiver_tensors) == list(receiver.features) == names
    assert receiver.receiver_tensors["fixed acidity"].op.name == "fixed_acidity"


def test_receiver_fn_of_a_single_tensor():
    receiver = _receiver(IMAGE, "raw")
    assert receiver.features.shape.as_list() == [None, 8, 8, 1]


def test_receiver_fn_parses_examples_to_the_models_dtypes():
    specs = {"image": IMAGE, "count": tf.TensorSpec([None], tf.int32), "ids": SPARSE}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        receiver = serving_input.receiver_fn(specs, "example")()
        example = tf.train.Example()
        example.features.feature["image"].float_list.value.extend([0.5] * 64)
        example.features.feature["count"].int64_list.value.append(3)
        example.features.feature["ids"].int64_list.value.extend([7, 8])
        assert list(receiver.receiver_tensors) == ["examples"]
        features = session.run(receiver.features, {
            receiver.receiver_tensors["examples"]: [example.SerializeToString()]})
    assert features["image"].shape == (1, 8, 8, 1) and features["image"][0, 0, 0, 0] == 0.5
    assert features["count"].tolist() == [3] and features["count"].dtype == "int32"
    assert features["ids"].values.tolist() == [7, 8]


@pytest.mark.parametrize("features", [IMAGE, {"image": IMAGE}])
def test_a_key_that_is_no_feature_goes_past_the_model(features):
    with tf.Graph().as_default():
        receiver = serving_input.receiver_fn(features, "raw", key="customer_id")()
        name = "image" if isinstance(features, dict) else "feature"
        assert set(receiver.receiver_tensors) == {name, "customer_id"}
        model_features, key = passthrough.without_key(receiver.features)
        assert key is receiver.receiver_tensors["customer_id"] and key.dtype == tf.string
        image = model_features["image"] if isinstance(features, dict) else model_features
        assert image is receiver.receiver_tensors[name]


def test_a_key_may_be_missing_in_an_example():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        receiver = serving_input.receiver_fn(
            {"n": tf.TensorSpec([None], tf.int64)}, "example", key="id")()
        example = tf.train.Example()
        example.features.feature["n"].int64_list.value.append(3)
        without = example.SerializeToString()
        example.features.feature["id"].bytes_list.value.append(b"C1")
        _, key = passthrough.without_key(receiver.features)
        found = session.run(key, {receiver.receiver_tensors["examples"]: [
            without, example.SerializeToString()]})
    assert found.tolist() == [b"", b"C1"]


@pytest.mark.parametrize("kind, spec, expected", [
    ("raw", tf.TensorArraySpec([None], tf.int32), "cannot be a raw serving input"),
    ("example", tf.RaggedTensorSpec([None, None, None], tf.int32), "expected [batch, None]"),
    ("example", tf.TensorSpec([None, None], tf.float32), "--serving_input=raw"),
    ("example", tf.TensorSpec([None, 2], tf.complex64), "dtype complex64"),
])
def test_receiver_fn_refuses_with_advice(kind, spec, expected):
    with pytest.raises(errors.ConfigError) as raised:
        serving_input.receiver_fn({"odd": spec}, kind)
    assert expected in str(raised.value) and "'odd'" in str(raised.value)


def test_receiver_fn_is_checked_only_for_an_export():
    receive = serving_input.receiver_fn({"odd": {"a": tf.TensorSpec([None])}}, "raw",
                                        is_needed=False)
    with pytest.raises(errors.ConfigError, match="feature 'odd' is a dict"):
        receive()
