"""Small convolutional classifier of TensorFlow's multi-worker Estimator tutorial.

A 3x3 convolution with 32 filters, 2x2 max-pooling, a dense layer of 64 units and one of the
classes, trained with SGD. The images' shape comes from the data.

Source: https://www.tensorflow.org/tutorials/distribute/multi_worker_with_estimator
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import classifier

DEFAULT_PARAMS = {**classifier.DEFAULT_PARAMS}


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, height, width, channels]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: The params of `model_fns.training.classifier`.
    """
    image = classifier.image(features)
    network = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(classifier.num_classes(params)),
    ])
    logits = network(image, training=mode == tf.estimator.ModeKeys.TRAIN)
    return classifier.spec(logits, labels, mode, params)
