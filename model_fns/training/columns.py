"""Feature columns for categories and numbers in a dict of features.

Text is a category, and so is a list of integers whose length varies (a SparseTensor or
RaggedTensor); other features are numbers. `categorical_columns` names integers that are ids too.
A dense list of categories ends with "" or -1, which stand for no category.

A model with the params of `model_fns/training/table.py` prepares the columns of a table as the data
say. `categorical_columns`, `numeric_columns` and `numeric_scale` say it in their place: if one of
them is set, the columns are what these params make of them, as without a table.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import numeric_scale, table
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    "categorical_columns": [],  # names, of strings or integers; empty: all strings, and all lists
    # of integers whose length varies
    "numeric_columns": [],  # names; empty: all other numbers
    "numeric_scale": {},  # mean and deviation of each number: {"age": [38, 13]}; {}: from the data
    "hash_bucket_size": 1000,  # hash buckets of each categorical column; of a table's texts
    # those with many values
    "bucket_sizes": {},  # {"city": 50000}: other numbers of hash buckets, by column; of a table's
    # texts those with few values too
}


def dense_or_sparse(features: Any) -> dict[str, Any]:
    """Returns the features by name, with a SparseTensor in place of each RaggedTensor.

    Feature columns do not take RaggedTensors.
    """
    named = features if isinstance(features, dict) else {"feature": features}
    return {name: value.to_sparse() if isinstance(value, tf.RaggedTensor) else value
            for name, value in named.items()}


def names(features: dict[str, Any], params: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Returns the names of the categorical and of the numeric columns.

    Args:
      features: The features by name, dense or sparse.
      params: See DEFAULT_PARAMS.

    Raises:
      ParamError: A column is not a feature, or its feature cannot be a column.
    """
    found = sorted(name for name, value in features.items()
                   if value.dtype == tf.string or _is_sparse(value) and value.dtype.is_integer)
    categorical = params["categorical_columns"] or found
    numeric = params["numeric_columns"] or sorted(features.keys() - {*found, *categorical})
    for field, used in (("categorical_columns", categorical), ("numeric_columns", numeric),
                        ("bucket_sizes", params["bucket_sizes"])):
        check_names(field, used, features)
    numeric_scale.check(params["numeric_scale"], features)
    for name in categorical:
        _check_categorical(name, features[name])
    for name in numeric:
        _check_numeric(name, features[name])
    _check_sizes(params["bucket_sizes"])
    return categorical, numeric


def of_table(features: dict[str, Any], params: dict[str, Any]) -> table.Prepared:
    """Returns a table's columns, prepared as `table_columns` says.

    Raises:
      ParamError: A column is not a feature, or `bucket_sizes` cannot be used.
    """
    check_names("bucket_sizes", params["bucket_sizes"], params["table_columns"])
    _check_sizes(params["bucket_sizes"])
    return table.prepared(features, params["table_columns"], params["hash_bucket_size"],
                          params["bucket_sizes"])


def check_names(field: str, used: Any, features: dict[str, Any]) -> None:
    """Raises ParamError if the param `field` has the name of no feature."""
    unknown = sorted(set(used) - features.keys())
    if unknown:
        raise ParamError(f"{field} names {', '.join(unknown)}; expected some of"
                         f" {', '.join(sorted(features))}.")


def hashed(features: dict[str, Any], categorical: list[str], params: dict[str, Any]) -> list[Any]:
    """Returns a categorical column with hash buckets for each name."""
    return [tf.feature_column.categorical_column_with_hash_bucket(
        name, params["bucket_sizes"].get(name, params["hash_bucket_size"]),
        tf.string if features[name].dtype == tf.string else tf.int64) for name in categorical]


def numbers(features: dict[str, Any], numeric: list[str], params: dict[str, Any]) -> list[Any]:
    """Returns a numeric column, scaled by `numeric_scale`, for each name."""
    return [numeric_scale.column(name, params["numeric_scale"],
                                 tuple(_shape(features[name])) or (1,)) for name in numeric]


def _shape(feature: tf.Tensor) -> list[Any]:
    """Returns the shape of an example; a feature of unknown rank has one number."""
    return [] if feature.shape.rank is None else feature.shape.as_list()[1:]


def _is_sparse(feature: Any) -> bool:
    return isinstance(feature, tf.SparseTensor)


def _check_sizes(bucket_sizes: dict[str, Any]) -> None:
    for name, size in bucket_sizes.items():
        if not isinstance(size, int) or size < 1:
            raise ParamError(f"bucket_sizes has {size!r} for {name!r}; expected a number of hash"
                             f" buckets. For example: --param bucket_sizes='{{\"{name}\": 1000}}'")


def _check_categorical(name: str, feature: Any) -> None:
    if feature.dtype != tf.string and not feature.dtype.is_integer:
        raise ParamError(f"feature {name!r} has dtype {feature.dtype.name}; expected strings or"
                         " integers in a categorical column. For example: --param"
                         f" 'numeric_columns=[\"{name}\"]'")
    if feature.shape.rank is not None and feature.shape.rank > 2:
        raise ParamError(f"feature {name!r} has shape {feature.shape}; expected a category or a"
                         " list of categories for each example, [batch] or [batch, length].")


def _check_numeric(name: str, feature: Any) -> None:
    if feature.dtype == tf.string or _is_sparse(feature):
        what = "strings" if feature.dtype == tf.string else "of varying length"
        raise ParamError(f"feature {name!r} is {what}; expected numbers in a numeric column, as"
                         " many in each example.")
    if None in _shape(feature):
        raise ParamError(f"feature {name!r} has shape {feature.shape}; expected a known shape of"
                         " the numbers in an example. For integers that are ids: --param"
                         f" 'categorical_columns=[\"{name}\"]'")
