"""DeepFM: a factorisation machine beside a network, on the same embeddings.

A categorical column's table has, for each category, a vector and a weight; a number has a vector
and a weight that it is multiplied by, and so has the flag that a number is missing. The logit is
the sum of the weights, of the dot products of each pair of vectors, and of the network's output;
its inputs are the vectors of the categories and the numbers themselves. With several classes each
has its own weights, and a layer of its own for the products.

Which features are categories and which are numbers, see `model_fns/training/columns.py`. A table's
columns are prepared as the data say (`model_fns/training/table.py`), where a category of few values
is numbers, and a label that is a number is learned in units of its deviation.

Source: Guo et al., "DeepFM: A Factorization-Machine based Neural Network for CTR Prediction"
(arXiv:1703.04247).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import fields, head, label_scale, table, tower

DEFAULT_PARAMS = {
    **fields.DEFAULT_PARAMS,
    **tower.DEFAULT_PARAMS,
    **head.DEFAULT_PARAMS,
    **table.DEFAULT_PARAMS,
    **label_scale.DEFAULT_PARAMS,
    "optimizer": "lazy_adam",
    "learning_rate": 0.001,  # for the mean loss of the global batch
    "weight_decay": -1.0,  # adds this times sum(v^2) / 2 over the kernels v of all layers, without
    # the embeddings, to the training loss; -1: 0.001 for a table, or 0
}
DATA = "tables"
LABELS = ("classes", "numbers")
FIRST_PARAMS = ("hidden_units", "embedding_size", "learning_rate", "weight_decay")
# A model_dir from before these params has features and labels as the input_fn yields them.
OLDER_PARAMS = {"prepare_columns": False, "label_scale": {"mean": 0, "deviation": 1}}


def model_fn(features: Any, labels: tf.Tensor | None, mode: str,
             params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the classifier, or the regressor if `num_classes` is -1.

    Args:
      features: A dict of tensors, see `model_fns.training.fields`.
      labels: int [batch], classes from 0; or numbers; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.
    """
    params = tower.with_decay(params, of_table=0.001)
    size, outputs = params["embedding_size"], head.of_labels(params).logits_dimension
    inputs = fields.read(features, params, size + outputs)
    numbers = tf.concat([inputs.numbers, inputs.missing], axis=1)
    everything = tf.concat([inputs.embeddings, _of_numbers(numbers, size + outputs)], axis=1)
    vectors, weights = tf.split(everything, [size, outputs], axis=2)
    network = tf.concat([fields.flat(inputs.embeddings[:, :, :size]), numbers], axis=1)
    logits = (tf.reduce_sum(weights, axis=1) + _pairs(vectors, outputs)
              + tower.dense(tower.hidden(network, mode, params), outputs, "logits"))
    penalties = fields.penalty(inputs.embeddings, params) + tower.penalty(params)
    return head.spec(logits, features, labels, mode, params, penalties)


def _of_numbers(numbers: tf.Tensor, size: int) -> tf.Tensor:
    """Returns each number times its vector: float32 [batch, numbers, size]."""
    vectors = tf.compat.v1.get_variable(
        "fields/numbers", [numbers.shape[1], size], use_resource=True,
        initializer=tf.compat.v1.truncated_normal_initializer(stddev=0.01))
    return numbers[:, :, tf.newaxis] * vectors


def _pairs(vectors: tf.Tensor, outputs: int) -> tf.Tensor:
    """Returns the sum of the dot products of all pairs of vectors: float32 [batch, outputs]."""
    sums = tf.square(tf.reduce_sum(vectors, axis=1)) - tf.reduce_sum(tf.square(vectors), axis=1)
    if outputs == 1:
        return 0.5 * tf.reduce_sum(sums, axis=1, keepdims=True)
    return tower.dense(0.5 * sums, outputs, "pairs", has_bias=False)
