"""Classifier with one hidden layer of sigmoids: 784-100-10 for MNIST.

Weights start from a standard normal distribution, biases at 0, and SGD at a rate of 0.0005
minimises the mean cross-entropy: the network of a well-known example of asynchronous training with
TensorFlow 1.2.

Source: https://github.com/ischlag/distributed-tensorflow-example
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import classifier, one_layer

DEFAULT_PARAMS = {
    **classifier.DEFAULT_PARAMS,
    "learning_rate": 0.0005,  # for the mean loss of the global batch
    "hidden_units": 100,  # units of the hidden layer
}
DATA = "images"
LABELS = ("classes",)
FIRST_PARAMS = ("hidden_units", "learning_rate")


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, ...]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS and `model_fns.training.classifier`.
    """
    start = tf.compat.v1.random_normal_initializer()
    logits = one_layer.logits(features, params, tf.sigmoid, start)
    return classifier.spec(logits, labels, mode, params)
