"""Softmax regression: one dense layer from the flattened image to the classes, with SGD."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns import _classifier

DEFAULT_PARAMS = {
    "learning_rate": 0.1,  # of SGD, for the mean loss of the global batch
    "num_classes": 0,  # 0: from the data
}


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, ...]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.
    """
    image = features["image"] if isinstance(features, dict) else features
    flat = tf.keras.layers.Flatten()(image)
    logits = tf.keras.layers.Dense(_classifier.num_classes(params), name="logits")(flat)
    return _classifier.spec(logits, labels, mode, params["learning_rate"])
