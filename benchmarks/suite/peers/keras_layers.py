"""Builds the networks from layers of tf.keras, Keras 2 or 3."""

from __future__ import annotations

import tensorflow as tf


def network(case: str) -> tf.keras.Sequential:
    """Returns the network of a case, which makes logits of images."""
    layer = tf.keras.layers
    if case == "cnn":
        return tf.keras.Sequential([
            layer.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            layer.MaxPooling2D(), layer.Flatten(), layer.Dense(64, activation="relu"),
            layer.Dense(10)])
    normal = tf.keras.initializers.RandomNormal(stddev=1.0)
    return tf.keras.Sequential([
        layer.Flatten(), layer.Dense(100, activation="sigmoid", kernel_initializer=normal),
        layer.Dense(10, kernel_initializer=normal)])
