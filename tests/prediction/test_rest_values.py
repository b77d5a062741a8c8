"""Values of TensorFlow Serving's JSON become tensors, and tensors become values."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.prediction import rest_values

pytestmark = pytest.mark.any_tensorflow


@pytest.mark.parametrize("value, expected", [
    (np.float32(0.2), "0.2"), (np.float32(1 / 3), "0.333333343"),
    (np.float64(1 / 3), "0.33333333333333331"),
    (np.float32(9e6), "9e+06"), (np.float32(3), "3.0"), (np.float32(16777216), "16777216.0"),
    (np.float64(0.1) + np.float64(0.2), "0.30000000000000004"), (np.int64(3), "3"),
    (np.bool_(True), "true"), (b'a"\xc3\xa4', '"a\\"\u00e4"'),
    (np.array([[1, 2], [3, 4]], np.int8), "[[1, 2], [3, 4]]"),
    (np.array([b"a", b"b"], object), '["a", "b"]')])
def test_a_value_is_written_as_the_real_server_writes_it(value, expected):
    assert rest_values.text(value) == expected


@pytest.mark.parametrize("value, dtype, expected", [
    ([[1, 2.5]], tf.float32, [[1, 2.5]]), ([], tf.float32, []), (7, tf.int64, 7),
    (["a", {"b64": "AAE="}], tf.string, [b"a", b"\0\x01"]), ([True], tf.bool, [True])])
def test_an_array_has_the_shape_of_the_lists(value, dtype, expected):
    found = rest_values.array(value, dtype)
    assert found.dtype == dtype.as_numpy_dtype and found.tolist() == expected


@pytest.mark.parametrize("value, dtype, expected", [
    ([[1], 2], tf.int64, "found at incorrect level: 2"),
    ([1, [2]], tf.int64, "Encountered list at unexpected level: 1 expected < 1"),
    ([[1], [2, 3]], tf.int64, "unexpected size: 2 at level: 1 expected size: 1"),
    ([True], tf.float32, "is not of expected type: float"),
    ([1], tf.bool, "is not of expected type: bool"), ([300], tf.uint8, "expected type: uint8"),
    ([2 ** 24], tf.float32, "to float without loss of precision"),
    ([1.0], tf.int32, "expected type: int32"), ([{"b": 1}], tf.string, "for base64 data")])
def test_a_value_that_the_real_server_refuses_is_refused(value, dtype, expected):
    with pytest.raises(rest_values.ValueProblem, match=expected):
        rest_values.array(value, dtype)


def test_an_example_has_features_of_the_kinds_of_its_values():
    made = tf.train.Example.FromString(rest_values.example(
        {"a": 1, "b": [1.5, 2.0], "c": "x", "d": {"b64": "AA=="}, "e": True, "f": []}, {"g": 2.0}))
    features = made.features.feature
    assert features["a"].int64_list.value == [1] and features["b"].float_list.value == [1.5, 2]
    assert features["c"].bytes_list.value == [b"x"] and features["d"].bytes_list.value == [b"\0"]
    assert features["e"].int64_list.value == [1] and features["g"].float_list.value == [2]
    assert features["f"].WhichOneof("kind") is None
    with pytest.raises(rest_values.ValueProblem, match="Example must be JSON object but got JSON"):
        rest_values.example([1], None)
