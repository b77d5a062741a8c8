"""The model of the tests of TensorFlow Serving: y is half of x, and two."""

from __future__ import annotations

import pathlib

import tensorflow as tf

v1 = tf.compat.v1


def write(folder: pathlib.Path) -> str:
    """Writes the model, with signatures of every method and some odd tensors; returns its path."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 1], "x")
        serialized = v1.placeholder(tf.string, [None], "serialized")
        of_examples = tf.io.parse_example(
            serialized, {"x": tf.io.FixedLenFeature([1], tf.float32, [0.0])})["x"]
        count = v1.placeholder(tf.int32, [None], "count")
        name = v1.placeholder(tf.string, [None], "name")
        ids = v1.sparse_placeholder(tf.int64, [None, 9], name="ids")
        info = v1.saved_model.build_tensor_info
        half = {"y": info(x * 0.5 + 2)}
        signature = v1.saved_model.build_signature_def
        signatures = {
            "serving_default": signature({"x": info(x)}, half, "tensorflow/serving/predict"),
            "named": signature(
                {"count": info(count), "name": info(name)},
                {"twice": info(count * 2), "name_bytes": info(name), "name": info(name)},
                "tensorflow/serving/predict"),
            "sum": signature({"count": info(count)}, {"sum": info(tf.reduce_sum(count))},
                             "tensorflow/serving/predict"),
            "ids": signature({"ids": info(ids)}, {"values": info(tf.sparse.to_dense(ids))},
                             "tensorflow/serving/predict"),
            "regress_x_to_y": signature(
                {"inputs": info(serialized)}, {"outputs": info(of_examples * 0.5 + 2)},
                "tensorflow/serving/regress"),
            "classify_x_to_y": signature(
                {"inputs": info(serialized)}, {"scores": info(of_examples * 0.5 + 2)},
                "tensorflow/serving/classify")}
        builder = v1.saved_model.Builder(str(folder / "123"))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    return str(folder / "123")
