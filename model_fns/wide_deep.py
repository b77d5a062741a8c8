"""Wide & deep classifier: a linear model of crossed categories beside a network of embeddings.

The wide part (FTRL) has the categorical columns, the numeric columns divided into `buckets`, and
`crosses` of both; the deep part (Adagrad) has an embedding of each categorical column, and the
scaled numeric columns. Their logits are added, and both learn from one loss.

The mean and deviation that scale a number come from the data if `data_params` returns them;
`numeric_scale={"age": [0, 1]}` leaves all numbers unchanged. `buckets` are in the data's units.

Source: Cheng et al., "Wide & Deep Learning for Recommender Systems" (arXiv:1606.07792).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns import canned
from model_fns.training import columns, head
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **columns.DEFAULT_PARAMS,
    "buckets": {},  # {"age": [18, 25, 40]}: boundaries, for the wide part
    "crosses": [],  # [["education", "age"]]: categorical columns, and numeric ones with buckets
    "hash_bucket_size": 1000,  # hash buckets of each categorical column and each cross
    "embedding_size": 8,  # length of a category's embedding for the deep part
    "hidden_units": [100, 50],  # units of each of the deep part's layers
    "dropout": 0.0,  # probability that a unit is left out of a training step
    "linear_learning_rate": 0.1,  # rate of FTRL, for the wide part
    "dnn_learning_rate": 0.05,  # rate of Adagrad, for the deep part
    "num_classes": 0,  # number of classes; 0: from the data, or else 2
}


def model_fn(features: dict[str, Any], labels: tf.Tensor | None, mode: str,
             params: dict[str, Any], config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
    """Builds the classifier; its metrics are accuracy and, for two classes, auc and others.

    Args:
      features: A dict of tensors, see `model_fns.training.columns`.
      labels: int64 [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.
      config: The RunConfig of the Estimator around this one.

    Raises:
      ParamError: A column is not a feature, or a cross is impossible.
    """
    features = columns.dense_or_sparse(features)
    categorical, numeric = _names(features, params)
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        config=config, n_classes=head.num_classes(params),
        linear_feature_columns=_wide(features, categorical, params),
        linear_optimizer=canned.optimizer("Ftrl", params["linear_learning_rate"]),
        dnn_feature_columns=_deep(features, categorical, numeric, params),
        dnn_optimizer=canned.optimizer("Adagrad", params["dnn_learning_rate"]),
        dnn_hidden_units=params["hidden_units"], dnn_dropout=params["dropout"] or None)
    return canned.spec(estimator, features, labels, mode)


def _names(features: dict[str, Any], params: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Returns the categorical and the numeric columns' names."""
    crossed = [name for cross in params["crosses"] for name in cross]
    for field, used in (("buckets", params["buckets"]), ("crosses", crossed)):
        columns.check_names(field, used, features)
    return columns.names(features, params)


def _wide(features: dict[str, Any], categorical: list[str],
          params: dict[str, Any]) -> list[Any]:
    column = tf.feature_column
    buckets = {name: column.bucketized_column(column.numeric_column(name), boundaries)
               for name, boundaries in params["buckets"].items()}
    for cross in params["crosses"]:
        uncut = [name for name in cross if name not in buckets and features[name].dtype.is_floating]
        if uncut:
            raise ParamError(f"crosses has {', '.join(uncut)}, of numbers without buckets. For"
                             f" example: --param 'buckets={{\"{uncut[0]}\": [1, 2, 5]}}'")
    size = params["hash_bucket_size"]
    crosses = [column.crossed_column([buckets.get(name, name) for name in cross], size)
               for cross in params["crosses"]]
    return [*columns.hashed(features, categorical, params), *buckets.values(), *crosses]


def _deep(features: dict[str, Any], categorical: list[str], numeric: list[str],
          params: dict[str, Any]) -> list[Any]:
    embedded = [tf.feature_column.embedding_column(each, params["embedding_size"])
                for each in columns.hashed(features, categorical, params)]
    return [*embedded, *columns.numbers(features, numeric, params)]
