"""Wide & deep model: a linear model of crossed categories beside a network of embeddings.

The wide part has the categorical columns, the numeric columns divided into `buckets`, and `crosses`
of both; the deep part has an embedding of each categorical column, and the scaled numeric columns.
Their outputs are added, and both learn from one loss. FTRL trains the wide part, Adagrad the deep
one. The model is a classifier, or a regressor if `num_classes` is -1.

The columns of a table are prepared as the data say (`model_fns/training/table.py`), and both parts
have all of them; `buckets` and `crosses` are of the columns as they come. Otherwise, or if a param
says what the columns are, the mean and deviation that scale a number come from the data if
`data_params` returns them; `numeric_scale={"age": [0, 1]}` leaves all numbers unchanged. `buckets`
are in the data's units.

Source: Cheng et al., "Wide & Deep Learning for Recommender Systems" (arXiv:1606.07792).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns import canned
from model_fns.training import class_names, columns, head, label_scale, table
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **columns.DEFAULT_PARAMS,
    **table.DEFAULT_PARAMS,
    **label_scale.DEFAULT_PARAMS,
    **class_names.DEFAULT_PARAMS,
    "buckets": {},  # {"age": [18, 25, 40]}: boundaries, for the wide part
    "crosses": [],  # [["education", "age"]]: categorical columns, and numeric ones with buckets
    "hash_bucket_size": 1000,  # hash buckets of each categorical column and each cross
    "embedding_size": 8,  # length of a category's embedding for the deep part
    "hidden_units": [],  # units of each of the deep part's layers; []: [128, 64] for a table, or
    # [100, 50]
    "dropout": 0.0,  # probability that a unit is left out of a training step
    "linear_learning_rate": 0.0,  # rate of FTRL, for the wide part; 0: 0.03 for a table, or 0.1
    "dnn_learning_rate": 0.0,  # rate of Adagrad, for the deep part; 0: 0.02 for a table, or 0.05
    "num_classes": 0,  # number of classes; 0: from the data, or else 2; -1: the label is a number
}
DATA = "tables"
LABELS = ("classes", "numbers")
FIRST_PARAMS = ("hidden_units", "dnn_learning_rate", "linear_learning_rate", "crosses")
# A model_dir from before these params has features and labels as the input_fn yields them.
OLDER_PARAMS = {"prepare_columns": False, "label_scale": {"mean": 0, "deviation": 1}}
_OF_TABLES = {"hidden_units": [128, 64], "linear_learning_rate": 0.03, "dnn_learning_rate": 0.02}
_OF_OTHERS = {"hidden_units": [100, 50], "linear_learning_rate": 0.1, "dnn_learning_rate": 0.05}


def model_fn(features: dict[str, Any], labels: tf.Tensor | None, mode: str,
             params: dict[str, Any], config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
    """Builds the classifier or regressor; the metrics are those of canned Estimators.

    Args:
      features: A dict of tensors, see `model_fns.training.columns`.
      labels: int64 [batch], classes from 0; or numbers; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.
      config: The RunConfig of the Estimator around this one.

    Raises:
      ParamError: A column is not a feature, or a cross is impossible.
    """
    features = columns.dense_or_sparse(features)
    unset = _OF_TABLES if table.is_prepared(params) else _OF_OTHERS
    params = {**params, **{name: params[name] or unset[name] for name in unset}}
    crossed = [name for cross in params["crosses"] for name in cross]
    for field, used in (("buckets", params["buckets"]), ("crosses", crossed)):
        columns.check_names(field, used, features)
    is_number = params["num_classes"] == -1
    make = (tf.estimator.DNNLinearCombinedRegressor if is_number else
            tf.estimator.DNNLinearCombinedClassifier)
    features, wide, deep = _parts(features, params)
    estimator = make(
        config=config, **({} if is_number else {"n_classes": head.num_classes(params)}),
        linear_feature_columns=wide,
        linear_optimizer=canned.optimizer("Ftrl", params["linear_learning_rate"]),
        dnn_feature_columns=deep,
        dnn_optimizer=canned.optimizer("Adagrad", params["dnn_learning_rate"]),
        dnn_hidden_units=params["hidden_units"], dnn_dropout=params["dropout"] or None)
    return canned.spec(estimator, features, labels, mode,
                       {**params, "label_scale": params["label_scale"] if is_number else {}})


def _parts(features: dict[str, Any],
           params: dict[str, Any]) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Returns the features, and their columns for the wide and for the deep part."""
    if table.is_prepared(params):
        made, (crossed, renamed) = columns.of_table(features, params), _as_they_come(
            features, params)
        categories, numbers = made.category_columns(), [made.number_column()]
        return ({**made.features(), **crossed},
                [*categories, *numbers, *_crosses(crossed, renamed)],
                [*_embedded(categories, params), *numbers])
    categorical, numeric = columns.names(features, params)
    categories = columns.hashed(features, categorical, params)
    return (features, [*categories, *_crosses(features, params)],
            [*_embedded(categories, params), *columns.numbers(features, numeric, params)])


def _as_they_come(features: dict[str, Any],
                  params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a table's columns for buckets and crosses, and these with the columns' new names.

    The new names cannot be those of prepared columns. A number without buckets is crossed as text.
    """
    def renamed(names: Any) -> list[str]:
        return [f"column_{name}" for name in names]

    buckets, crosses = params["buckets"], params["crosses"]
    found = {}
    for name in dict.fromkeys([*buckets, *(name for cross in crosses for name in cross)]):
        value = tf.reshape(features[name], [-1])
        if name in buckets and value.dtype.is_floating:
            entry = params["table_columns"].get(name, {})
            mean = entry.get("mean", 0.0) * entry.get("per_day", 1)
            value = tf.where(tf.math.is_nan(value), tf.zeros_like(value) + mean, value)
        found[name] = value if name in buckets else table.as_text(value)
    return dict(zip(renamed(found), found.values())), {
        **params, "buckets": dict(zip(renamed(buckets), buckets.values())),
        "crosses": list(map(renamed, crosses))}


def _crosses(features: dict[str, Any], params: dict[str, Any]) -> list[Any]:
    """Returns the columns of `buckets` and of `crosses`."""
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
    return [*buckets.values(), *crosses]


def _embedded(categories: list[Any], params: dict[str, Any]) -> list[Any]:
    return [tf.feature_column.embedding_column(each, params["embedding_size"])
            for each in categories]
