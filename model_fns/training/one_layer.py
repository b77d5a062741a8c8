"""Builds a network of one hidden layer between a flattened image and the classes."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from model_fns.training import classifier


def logits(features: Any, params: dict[str, Any], activation: Callable[[tf.Tensor], tf.Tensor],
           start: Any) -> tf.Tensor:
    """Builds the network.

    Args:
      features: `{"image": float32 [batch, ...]}`, or the image alone.
      params: The params, of which `hidden_units` and `num_classes` are used.
      activation: The hidden layer's activation function.
      start: Initializer of both kernels; biases start at 0.

    Returns:
      float32 [batch, classes].
    """
    layer = tf.keras.layers
    image = layer.Flatten()(classifier.image(features))
    hidden = layer.Dense(params["hidden_units"], activation, kernel_initializer=start,
                         name="hidden")(image)
    return layer.Dense(classifier.num_classes(params), kernel_initializer=start,
                       name="logits")(hidden)
