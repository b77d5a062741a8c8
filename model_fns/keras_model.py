"""Any compiled Keras model, through `tf.keras.estimator.model_to_estimator`.

`--param keras_model=my_team.models:build`, or `./my_model.py:build`, names a function without
arguments, or with `params`, that returns a compiled `tf.keras` model; or a variable that is one.
A new run starts from the model's weights (a subclass of `tf.keras.Model`: from new ones), and
trains with the optimizer, loss and metrics that the model was compiled with. On TensorFlow 2.16
and newer `tf.keras` means Keras 2.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import keras_conversion

DEFAULT_PARAMS = {
    "keras_model": "model_fns.keras_model:small_cnn",  # MODULE:NAME or FILE.py:NAME
    "num_classes": 0,  # for small_cnn and other functions that take params; 0: from the data
}


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any],
             config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
    """Builds a copy of the Keras model in the current graph.

    Args:
      features: A dict by the names of the model's inputs (others are ignored); for a model with
        one input, also a dict with one entry of any name, or the tensor alone.
      labels: The model's target, or a dict by the names of its outputs; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.
      config: The RunConfig of the Estimator.

    Raises:
      KerasModelError: `keras_model` names no compiled model, or a model with other inputs.
    """
    converted = keras_conversion.convert(params)
    features = converted.named(features)
    if mode != tf.estimator.ModeKeys.TRAIN:
        return _with_whole_loss(converted.estimator.model_fn(features, labels, mode, config))
    initial = keras_conversion.InitialWeights(converted.weights)
    with tf.variable_creator_scope(initial.creator):
        spec = _with_whole_loss(converted.estimator.model_fn(features, labels, mode, config))
    return spec._replace(scaffold=tf.compat.v1.train.Scaffold(init_fn=initial.assign))


def small_cnn(params: dict[str, Any]) -> tf.keras.Model:
    """Builds the default: a compiled classifier of gray images of any size.

    The input is `image`, float32 [batch, height, width, 1], the output logits, float32 [batch,
    num_classes], the target int64 [batch].
    """
    image = tf.keras.Input((None, None, 1), name="image")
    hidden = tf.keras.layers.Conv2D(32, 3, use_bias=False)(image)
    hidden = tf.keras.layers.BatchNormalization()(hidden)
    hidden = tf.keras.layers.ReLU()(hidden)
    hidden = tf.keras.layers.Conv2D(64, 3, activation="relu")(hidden)
    hidden = tf.keras.layers.GlobalMaxPooling2D()(hidden)
    hidden = tf.keras.layers.Dropout(0.25)(hidden)
    logits = tf.keras.layers.Dense(params["num_classes"] or 10, name="logits")(hidden)
    model = tf.keras.Model(image, logits)
    model.compile(optimizer=tf.keras.optimizers.legacy.Adam(0.003),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


def _with_whole_loss(spec: tf.estimator.EstimatorSpec) -> tf.estimator.EstimatorSpec:
    """Multiplies the loss by the number of replicas: Keras divides by it, to sum over replicas."""
    if spec.loss is None:
        return spec
    return spec._replace(loss=spec.loss * tf.distribute.get_strategy().num_replicas_in_sync)
