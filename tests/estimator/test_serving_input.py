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


def _fed(receiver, kind, values):
    """Returns the features and the key when one kind of inputs is fed, and no other."""
    inputs = receiver.receiver_tensors_alternatives[kind]
    features, key = passthrough.without_key(receiver.features)
    with tf.compat.v1.Session() as session:
        return session.run((features, [] if key is None else key),
                           {inputs[name]: value for name, value in values.items()})


@pytest.mark.parametrize("kinds", ["raw,example,csv", "csv,example,raw"])
def test_several_kinds_of_inputs_give_the_same_features(kinds):
    specs = {"age": tf.TensorSpec([None], tf.float64), "job": tf.TensorSpec([None], tf.string),
             "rooms": tf.TensorSpec([None], tf.int32)}
    example = tf.train.Example()
    example.features.feature["age"].float_list.value.append(30.5)
    example.features.feature["job"].bytes_list.value.append(b"a,b")
    example.features.feature["rooms"].int64_list.value.append(3)
    example.features.feature["id"].bytes_list.value.append(b"C1")
    requests = {"raw": {"age": [30.5], "job": [b"a,b"], "rooms": [3], "id": [b"C1"]},
                "csv": {"csv_row": [b'30.5,"a,b",3,C1']},
                "example": {"examples": [example.SerializeToString()]}}
    with tf.Graph().as_default():
        receiver = serving_input.receiver_fn(specs, kinds, key="id")()
        assert list(receiver.receiver_tensors_alternatives) == kinds.split(",")
        assert list(receiver.receiver_tensors) == list(requests[kinds.partition(",")[0]])
        for kind, values in requests.items():
            features, key = _fed(receiver, kind, values)
            assert key.tolist() == [b"C1"] and {
                name: value.tolist() for name, value in features.items()} == {
                    "age": [30.5], "job": [b"a,b"], "rooms": [3]}
            assert features["age"].dtype == "float64" and features["rooms"].dtype == "int32"


def test_sparse_and_ragged_features_come_as_tensors_and_in_examples():
    specs = {"ids": SPARSE, "words": tf.RaggedTensorSpec([None, None], tf.string)}
    example = tf.train.Example()
    example.features.feature["ids"].int64_list.value.extend([7, 8])
    example.features.feature["words"].bytes_list.value.extend([b"a", b"b", b"c"])
    with tf.Graph().as_default():
        receiver = serving_input.receiver_fn(specs, "raw,example")()
        parsed, _ = _fed(receiver, "example", {"examples": [example.SerializeToString()]})
        fed, _ = _fed(receiver, "raw", parsed)
    assert fed["ids"].values.tolist() == [7, 8] and fed["words"].to_list() == [[b"a", b"b", b"c"]]


def test_lines_hold_the_one_feature_of_an_input_fn_without_names():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        receiver = serving_input.receiver_fn(tf.TensorSpec([None], tf.float32), "csv")()
        found = session.run(receiver.features, {receiver.receiver_tensors["csv_row"]: ["2", "3e1"]})
        assert found.tolist() == [2, 30]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 1 fields but have 0"):
            session.run(receiver.features, {receiver.receiver_tensors["csv_row"]: [""]})


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
    ("raw,csv", IMAGE, "a field of a line of CSV cannot hold; expected a number or a text"),
    ("csv", SPARSE, "--serving_input=raw"),
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
