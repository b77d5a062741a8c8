"""Dense layers, hidden layers of ReLUs with dropout, and the penalty of their kernels."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import classifier, table

DEFAULT_PARAMS = {
    "hidden_units": [128, 64],  # units of each hidden layer
    "dropout": 0.0,  # probability that a unit is left out of a training step
    "weight_decay": 0.0,  # adds this times sum(v^2) / 2 over the kernels v of all layers, without
    # the embeddings, to the training loss
}
_SCOPE = "layers"


def with_decay(params: dict[str, Any], of_table: float) -> dict[str, Any]:
    """Returns the params with a `weight_decay` of -1 replaced: by `of_table` for a table, or by 0.

    A table has few rows for the many numbers that its columns become.
    """
    if params["weight_decay"] != -1:
        return params
    return {**params, "weight_decay": of_table if table.is_prepared(params) else 0.0}


def hidden(inputs: tf.Tensor, mode: str, params: dict[str, Any]) -> tf.Tensor:
    """Returns the units of the last hidden layer, float32 [batch, units].

    Args:
      inputs: float32 [batch, numbers].
      mode: A `tf.estimator.ModeKeys`; "train" has dropout.
      params: See DEFAULT_PARAMS.
    """
    for i, units in enumerate(params["hidden_units"]):
        inputs = tf.nn.relu(dense(inputs, units, f"hidden_{i}"))
        if params["dropout"] and mode == tf.estimator.ModeKeys.TRAIN:
            inputs = tf.nn.dropout(inputs, params["dropout"])
    return inputs


def dense(inputs: tf.Tensor, units: int, name: str, has_bias: bool = True,
          from_zero: bool = False) -> tf.Tensor:
    """Returns a linear layer's units, float32 [batch, units]; they start at 0 if `from_zero`."""
    start = (tf.compat.v1.zeros_initializer if from_zero else
             tf.compat.v1.glorot_uniform_initializer)()
    with tf.compat.v1.variable_scope(f"{_SCOPE}/{name}"):
        kernel = tf.compat.v1.get_variable(
            "kernel", [inputs.shape[-1], units], initializer=start, use_resource=True)
        product = tf.matmul(inputs, kernel)
        return product + tf.compat.v1.get_variable(
            "bias", [units], initializer=tf.compat.v1.zeros_initializer(),
            use_resource=True) if has_bias else product


def penalty(params: dict[str, Any]) -> tf.Tensor:
    """Returns the penalty of the kernels of all layers made so far, float32 []."""
    return classifier.weight_penalty(params["weight_decay"], f"{_SCOPE}/")
