"""Convolutional classifier of the "deep MNIST" tutorials: 5x5x32, pool, 5x5x64, pool, 1024.

Weights start from a truncated normal distribution of deviation 0.1, biases at 0.1; the network has
ReLUs, 2x2 max-pooling and dropout of 0.5 before the last layer. Adam trains it with 1e-4, and
histograms show its filters. Prediction and export give `scores` alone, and the key that
--forward_key names.

Source: https://github.com/tensorflow/tensorflow/blob/v1.4.0/tensorflow/examples/tutorials/mnist/mnist_deep.py
"""  # noqa: E501

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import classifier

DEFAULT_PARAMS = {
    **classifier.DEFAULT_PARAMS,
    "learning_rate": 0.0001,  # for the mean loss of the global batch
    "optimizer": "adam",
    "histograms": True,
    "dropout": 0.5,  # part of the 1024 units that a training step leaves out
}


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, height, width, channels]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS and `model_fns.training.classifier`.
    """
    image = classifier.image(features)
    layer = tf.keras.layers
    start: dict[str, Any] = {
        "kernel_initializer": tf.compat.v1.truncated_normal_initializer(stddev=0.1),
        "bias_initializer": tf.compat.v1.constant_initializer(0.1)}
    network = tf.keras.Sequential([
        layer.Conv2D(32, 5, padding="same", activation="relu", **start),
        layer.MaxPooling2D(),
        layer.Conv2D(64, 5, padding="same", activation="relu", **start),
        layer.MaxPooling2D(),
        layer.Flatten(),
        layer.Dense(1024, activation="relu", **start),
        layer.Dropout(params["dropout"]),
        layer.Dense(classifier.num_classes(params), **start),
    ])
    logits = network(image, training=mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return classifier.prediction({"scores": tf.nn.softmax(logits)}, params)
    return classifier.spec(logits, labels, mode, params)
