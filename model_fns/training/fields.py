"""Inputs of models that multiply features: embeddings of categories, and numbers.

Each categorical column has a table of its own, `fields/input_layer/COLUMN_embedding/
embedding_weights`, with a row for each hash bucket. The embedding of a list is the mean of its
rows; an empty list and a missing category have zeros. A number that is missing is NaN: 0, the
mean, stands in its place, and a flag beside the numbers is 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from model_fns.training import columns, table
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **columns.DEFAULT_PARAMS,
    "embedding_size": 16,  # numbers in the embedding of a category
    "embedding_stddev": 0.05,  # deviation of the truncated normal distribution that they start from
    "combiner": "mean",  # of the embeddings of a list: mean, sum or sqrtn
    "embedding_l2": 0.0,  # adds this times the mean of sum(v^2) / 2 over the embeddings v of an
    # example to the training loss
}
_COMBINERS = ("mean", "sqrtn", "sum")


class Fields(NamedTuple):
    """The inputs of a batch.

    Attributes:
      embeddings: float32 [batch, categorical columns, size].
      numbers: float32 [batch, numbers], scaled; 0 where a number is missing.
      missing: float32 [batch, numbers]; 1 where a number is missing.
    """

    embeddings: tf.Tensor
    numbers: tf.Tensor
    missing: tf.Tensor


def read(features: Any, params: dict[str, Any], size: int) -> Fields:
    """Returns the inputs of a batch.

    Args:
      features: A dict of tensors: strings, integers and numbers [batch] or [batch, length], and
        SparseTensors and RaggedTensors of strings and integers; or one tensor.
      params: See DEFAULT_PARAMS.
      size: Numbers in a row of a table.

    Raises:
      ParamError: A column is not a feature, or its feature cannot be a column.
    """
    if params["combiner"] not in _COMBINERS:
        raise ParamError(f"combiner is {params['combiner']!r}; expected one of"
                         f" {', '.join(_COMBINERS)}. For example: --param combiner=mean")
    features = columns.dense_or_sparse(features)
    if table.is_prepared(params):
        return _of_table(features, params, size)
    categorical, numeric = columns.names(features, params)
    if not categorical and not numeric:
        raise ParamError("the features are empty; expected one or more.")
    batch = tf.shape(next(iter(features.values())), tf.int64)[0]
    numbers, missing = _numbers(features, numeric, params, batch)
    hashed = columns.hashed(features, categorical, params)
    return Fields(_embeddings(features, hashed, params, size, batch), numbers, missing)


def flat(embeddings: tf.Tensor) -> tf.Tensor:
    """Returns the embeddings of an example beside each other: float32 [batch, numbers]."""
    _, count, size = embeddings.shape
    return tf.reshape(embeddings, [tf.shape(embeddings)[0], count * size])


def penalty(embeddings: tf.Tensor, params: dict[str, Any]) -> tf.Tensor:
    """Returns the L2 penalty of a batch's embeddings, float32 []."""
    if not params["embedding_l2"]:
        return tf.constant(0.0)
    of_examples = tf.reduce_sum(tf.square(embeddings), axis=[1, 2]) / 2.0
    return params["embedding_l2"] * tf.reduce_mean(of_examples)


def _of_table(features: dict[str, Any], params: dict[str, Any], size: int) -> Fields:
    made = columns.of_table(features, params)
    batch = tf.shape(made.numbers, tf.int64)[0]
    embeddings = _embeddings(made.ids(), made.category_columns(), params, size, batch)
    return Fields(embeddings, made.numbers, tf.zeros([batch, 0]))


def _embeddings(features: dict[str, Any], categorical: list[Any], params: dict[str, Any],
                size: int, batch: tf.Tensor) -> tf.Tensor:
    if not categorical:
        return tf.zeros([batch, 0, size])
    start = tf.compat.v1.truncated_normal_initializer(stddev=params["embedding_stddev"])
    embedded = [tf.feature_column.embedding_column(column, size, params["combiner"], start)
                for column in categorical]
    with tf.compat.v1.variable_scope("fields"):
        flat = tf.compat.v1.feature_column.input_layer(features, embedded)
    return tf.reshape(flat, [batch, len(categorical), size])


def _numbers(features: dict[str, Any], numeric: list[str], params: dict[str, Any],
             batch: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the scaled numbers, and the flags of those that are missing."""
    if not numeric:
        return tf.zeros([batch, 0]), tf.zeros([batch, 0])
    scaled = tf.compat.v1.feature_column.input_layer(
        features, columns.numbers(features, numeric, params))
    is_missing = tf.math.is_nan(scaled)
    return tf.where(is_missing, tf.zeros_like(scaled), scaled), tf.cast(is_missing, tf.float32)
