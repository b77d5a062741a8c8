"""Softmax regression: one dense layer from the flattened image to the classes, with SGD."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import classifier

DEFAULT_PARAMS = {**classifier.DEFAULT_PARAMS}
DATA = "images"
LABELS = ("classes",)
FIRST_PARAMS = ("learning_rate", "optimizer")


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, ...]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: The params of `model_fns.training.classifier`.
    """
    image = classifier.image(features)
    flat = tf.keras.layers.Flatten()(image)
    logits = tf.keras.layers.Dense(classifier.num_classes(params), name="logits")(flat)
    return classifier.spec(logits, labels, mode, params)
