"""Convolutional classifier of the "deep MNIST" tutorials: 5x5x32, pool, 5x5x64, pool, 1024.

Weights start from a truncated normal distribution of deviation 0.1, biases at 0.1; the network has
ReLUs, 2x2 max-pooling and dropout of 0.5 before the last layer. Adam trains it at a rate of 1e-4,
and histograms show its filters. Prediction and export output only `scores`, and the key that
--forward_key names.

The distributed example for Cloud ML starts its hidden layer with a deviation of 1.0 and its last
layer with 0, and sums the losses of a batch: --param 'initial_stddev=[0.1, 0.1, 1.0, 0.0]' --param
'initial_bias=[0.1, 0.1, 0.1, 0.0]' --param loss_reduction=sum.

Sources:
https://github.com/tensorflow/tensorflow/blob/v1.4.0/tensorflow/examples/tutorials/mnist/mnist_deep.py
https://github.com/GoogleCloudPlatform/cloudml-dist-mnist-example (trainer/mnist_model.py)
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import classifier
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **classifier.DEFAULT_PARAMS,
    "learning_rate": 0.0001,  # for the mean loss of the global batch
    "optimizer": "adam",
    "histograms": True,
    "initial_stddev": [0.1, 0.1, 0.1, 0.1],  # deviations of the truncated normal distributions
    # that the weights of the four layers start from
    "initial_bias": [0.1, 0.1, 0.1, 0.1],  # values that the four layers' biases start at
    "dropout": 0.5,  # part of the 1024 units that a training step leaves out
}
DATA = "images"
LABELS = ("classes",)
FIRST_PARAMS = ("learning_rate", "dropout")
_NUM_LAYERS = 4  # layers with weights


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
    starts = _starts(params)
    network = tf.keras.Sequential([
        layer.Conv2D(32, 5, padding="same", activation="relu", **starts[0]),
        layer.MaxPooling2D(),
        layer.Conv2D(64, 5, padding="same", activation="relu", **starts[1]),
        layer.MaxPooling2D(),
        layer.Flatten(),
        layer.Dense(1024, activation="relu", **starts[2]),
        layer.Dropout(params["dropout"]),
        layer.Dense(classifier.num_classes(params), **starts[3]),
    ])
    logits = network(image, training=mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return classifier.prediction({"scores": tf.nn.softmax(logits)}, params)
    return classifier.spec(logits, labels, mode, params)


def _starts(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the initializers of each layer's weights and biases.

    Raises:
      ParamError: A list does not have one number for each layer.
    """
    for key in ("initial_stddev", "initial_bias"):
        if len(params[key]) != _NUM_LAYERS:
            raise ParamError(
                f"{key} is {params[key]}; expected a list of {_NUM_LAYERS} numbers, one for each"
                f" layer with weights. For example: --param '{key}=[0.1, 0.1, 1.0, 0.0]'")
    initializers = tf.compat.v1
    return [{"kernel_initializer": initializers.truncated_normal_initializer(stddev=stddev),
             "bias_initializer": initializers.constant_initializer(bias)}
            for stddev, bias in zip(params["initial_stddev"], params["initial_bias"])]
