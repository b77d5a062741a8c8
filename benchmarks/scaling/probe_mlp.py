"""Builds a network for measurements: sigmoid layers of any number, width and delay.

Params, in addition to those of `model_fns.training.classifier`:

  hidden_layers  number of hidden layers
  hidden_units   number of units in each of them
  late_secs      mean of the exponential distribution of waits before training steps, in
                 seconds; a wait keeps no core busy
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import tensorflow as tf

from model_fns.training import classifier

DEFAULT_PARAMS = {**classifier.DEFAULT_PARAMS, "learning_rate": 0.0005, "hidden_layers": 1,
                  "hidden_units": 100, "late_secs": 0.0}


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, ...]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See above.
    """
    image = classifier.image(features)
    if mode == tf.estimator.ModeKeys.TRAIN and params["late_secs"]:
        image = _waited(image, params["late_secs"])
    layer = tf.keras.layers
    hidden = layer.Flatten()(image)
    for _ in range(params["hidden_layers"]):
        hidden = layer.Dense(params["hidden_units"], tf.sigmoid)(hidden)
    logits = layer.Dense(classifier.num_classes(params))(hidden)
    return classifier.spec(logits, labels, mode, params)


def _waited(tensor: tf.Tensor, mean_secs: float) -> tf.Tensor:
    dice = np.random.default_rng()

    def wait(value: np.ndarray) -> np.ndarray:
        time.sleep(dice.exponential(mean_secs))
        return value

    return tf.ensure_shape(tf.numpy_function(wait, [tensor], tensor.dtype), tensor.shape)
