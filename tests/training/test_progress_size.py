"""The size of a model is what training changes, by layer."""

from __future__ import annotations

import tensorflow as tf

from estimator_trainer.training import progress


def test_parameters_are_counted_by_layer():
    with tf.Graph().as_default():
        for name, shape, trainable in (
                ("net/dense/kernel", [4, 3], True), ("net/dense/bias", [3], True),
                ("net/norm/mean", [3], False), ("slope", [], True),
                ("net/dense/kernel/replica_1", [4, 3], True),
                ("table/part_0", [5, 2], True), ("table/part_1", [5, 2], True)):
            tf.compat.v1.get_variable(name, shape, trainable=trainable)
        layers = progress.layers_of(tf.compat.v1.trainable_variables())
    assert [(layer["name"], layer["parameters"]) for layer in layers] == [
        ("net/dense", 15), ("slope", 1), ("table", 20)]
    assert layers[0]["shapes"] == {"kernel": [4, 3], "bias": [3]}
