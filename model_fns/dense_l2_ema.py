"""Classifier with one hidden layer of ReLUs, L2 penalty and moving averages: 784-500-10 for MNIST.

Weights start from a truncated normal distribution of deviation 0.1 and have an L2 penalty of 1e-4.
The rate of SGD decays by 0.99 per epoch, evaluation and export use moving averages (0.99) of the
variables, and histograms show variables and gradients. The network is the running example of a
book on TensorFlow 1.

Source: https://github.com/caicloud/tensorflow-tutorial (chapters 5, 7 and 10)
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import classifier, one_layer

DEFAULT_PARAMS = {
    **classifier.DEFAULT_PARAMS,
    "learning_rate": 0.8,  # for the mean loss of the global batch, in the first epoch
    "decay": "exponential",
    "decay_rate": 0.99,
    "decay_epochs": 1.0,
    "moving_average": 0.99,
    "weight_decay": 1e-4,  # the book's l2_regularizer(1e-4): 1e-4 times sum(v^2) / 2
    "histograms": True,
    "hidden_units": 500,  # units of the hidden layer
}
DATA = "images"
LABELS = ("classes",)
FIRST_PARAMS = ("hidden_units", "learning_rate", "weight_decay")


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, ...]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS and `model_fns.training.classifier`.
    """
    start = tf.compat.v1.truncated_normal_initializer(stddev=0.1)
    logits = one_layer.logits(features, params, tf.nn.relu, start)
    return classifier.spec(logits, labels, mode, params)
