"""Convolutional classifiers: that of TensorFlow's multi-worker tutorial, and one for pictures.

`network=tutorial` has a 3x3 convolution with 32 filters, 2x2 max-pooling, a dense layer of 64
units and one of the classes, trained with SGD at a rate of 0.1.

`network=blocks` has a 5x5 convolution with 32 filters and stride 2, and then halves the image
until it is 4 to 7 pixels high, in blocks of a 3x3 convolution and 2x2 max-pooling, each with twice
as many filters, at most 256. Each convolution has a batch norm. The mean over the image goes
through dropout to the classes. Adam trains it, at a rate of 0.004 after a warm-up, and evaluation
uses moving averages of the weights.

By default images of less than 32 pixels get the tutorial's network, larger ones the blocks. Where
`optimizer` is set, as in a record of version 1.0, and `network` is not, it is the tutorial's. The
images' shape comes from the data.

Source: https://www.tensorflow.org/tutorials/distribute/multi_worker_with_estimator
"""

from __future__ import annotations

from typing import Any

from absl import logging
import tensorflow as tf

from model_fns.training import classifier
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **classifier.DEFAULT_PARAMS,
    "network": "",  # tutorial or blocks; empty: by the size of the images
    "optimizer": "",  # empty: sgd for the tutorial's network, adam for blocks
    "learning_rate": 0.0,  # 0: 0.1 for the tutorial's network, 0.004 for blocks
    "warmup_steps": -1,  # -1: 0 for the tutorial's network, 100 for blocks
    "moving_average": -1.0,  # -1: none for the tutorial's network, 0.95 for blocks
}
DATA = "images"
LABELS = ("classes",)
FIRST_PARAMS = ("network", "learning_rate", "optimizer")
_RECIPES: dict[str, dict[str, Any]] = {
    "tutorial": {"optimizer": "sgd", "learning_rate": 0.1, "warmup_steps": 0,
                 "moving_average": 0.0},
    "blocks": {"optimizer": "adam", "learning_rate": 0.004, "warmup_steps": 100,
               "moving_average": 0.95}}
_LEAST_OF_BLOCKS = 32  # pixels
_FILTERS, _MOST_FILTERS, _SMALLEST = 32, 256, 4
# The statistics of a batch norm lag behind as much as the moving averages of the weights do.
_DROPOUT, _BATCH_NORM_MOMENTUM = 0.3, 0.95


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier.

    Args:
      features: `{"image": float32 [batch, height, width, channels]}`, or the image alone.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: The params of `model_fns.training.classifier`.

    Raises:
      ParamError: There is no such network.
    """
    image = classifier.image(features)
    network = _network_for(image, {**DEFAULT_PARAMS, **params})
    params = classifier.with_recipe({**DEFAULT_PARAMS, **params}, _RECIPES[network])
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    if is_training:
        logging.info("network=%s optimizer=%s learning_rate=%g", network, params["optimizer"],
                     params["learning_rate"])
    if network == "tutorial":
        return classifier.spec(_tutorial(image, params, is_training), labels, mode, params)
    logits, updates = _blocks(image, params, is_training)
    spec = classifier.spec(logits, labels, mode, params)
    return spec._replace(train_op=tf.group(spec.train_op, *updates)) if is_training else spec


def _network_for(image: tf.Tensor, params: dict[str, Any]) -> str:
    name: str = params["network"]
    if name and name not in _RECIPES:
        raise ParamError(f"network is {name!r}; expected one of {', '.join(sorted(_RECIPES))}. For"
                         " example: --param network=blocks")
    sides = [side for side in image.shape.as_list()[1:3] if side is not None]
    is_small = len(sides) < 2 or min(sides) < _LEAST_OF_BLOCKS
    return name or ("tutorial" if params["optimizer"] or is_small else "blocks")


def _tutorial(image: tf.Tensor, params: dict[str, Any], is_training: bool) -> tf.Tensor:
    network = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(classifier.num_classes(params)),
    ])
    return network(image, training=is_training)


def _blocks(image: tf.Tensor, params: dict[str, Any],
            is_training: bool) -> tuple[tf.Tensor, list[Any]]:
    """Returns the logits, and the operations that update the batch norms' averages."""
    layer = tf.keras.layers
    updates: list[Any] = []

    def convolved(x: tf.Tensor, filters: int, size: int, stride: int) -> tf.Tensor:
        # The batch norm has a bias.
        convolution = layer.Conv2D(filters, size, stride, padding="same", use_bias=False,
                                   kernel_initializer="he_normal")
        norm = layer.BatchNormalization(momentum=_BATCH_NORM_MOMENTUM)
        y = tf.nn.relu(norm(convolution(x), training=is_training))
        updates.extend(norm.updates)
        return y

    filters = _FILTERS
    x = convolved((image - 0.5) / 0.25, filters, 5, 2)
    while min(x.shape.as_list()[1:3]) >= 2 * _SMALLEST:
        filters = min(2 * filters, _MOST_FILTERS)
        x = layer.MaxPooling2D()(convolved(x, filters, 3, 1))
    x = layer.Dropout(_DROPOUT)(tf.reduce_mean(x, axis=[1, 2]), training=is_training)
    return layer.Dense(classifier.num_classes(params))(x), updates
