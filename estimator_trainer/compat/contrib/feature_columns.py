"""The feature columns of `tf.contrib.layers`, made by `tf.feature_column`."""

from __future__ import annotations

from typing import Any, Callable, Optional

from estimator_trainer.errors import ConfigError


def _columns() -> Any:
    import tensorflow as tf
    return tf.compat.v1.feature_column


def real_valued_column(column_name: str, dimension: int = 1, default_value: Any = None,
                       dtype: Any = None, normalizer: Optional[Callable[[Any], Any]] = None) -> Any:
    """Returns a numeric column of `dimension` values."""
    import tensorflow as tf
    if dimension is None:
        raise ConfigError(f"tf.contrib.layers.real_valued_column({column_name!r}) has "
                          "dimension=None; expected a number.")
    return _columns().numeric_column(column_name, (dimension,), default_value,
                                     dtype or tf.float32, normalizer)


def sparse_column_with_hash_bucket(column_name: str, hash_bucket_size: int, combiner: Any = "sum",
                                   dtype: Any = None, hash_keys: Any = None) -> Any:
    """Returns a categorical column whose values are hashed; `dtype` is string or an integer."""
    import tensorflow as tf
    _check("sparse_column_with_hash_bucket", combiner, hash_keys)
    return _columns().categorical_column_with_hash_bucket(column_name, hash_bucket_size,
                                                          dtype or tf.string)


def sparse_column_with_integerized_feature(column_name: str, bucket_size: int,
                                           combiner: Any = "sum", dtype: Any = None) -> Any:
    """Returns a categorical column of integers from 0 to `bucket_size` - 1."""
    _check("sparse_column_with_integerized_feature", combiner)
    return _columns().categorical_column_with_identity(column_name, bucket_size)


def sparse_column_with_keys(column_name: str, keys: Any, default_value: int = -1,
                            combiner: Any = "sum", dtype: Any = None) -> Any:
    """Returns a categorical column of the values in `keys`."""
    _check("sparse_column_with_keys", combiner)
    return _columns().categorical_column_with_vocabulary_list(column_name, list(keys), dtype,
                                                              default_value)


def sparse_column_with_vocabulary_file(column_name: str, vocabulary_file: str,
                                       num_oov_buckets: int = 0, vocab_size: Optional[int] = None,
                                       default_value: int = -1, combiner: Any = "sum",
                                       dtype: Any = None) -> Any:
    """Returns a categorical column of the lines of a file."""
    import tensorflow as tf
    _check("sparse_column_with_vocabulary_file", combiner)
    return _columns().categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets,
        None if num_oov_buckets else default_value, dtype or tf.string)


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str,
                           dtype: Any = None) -> Any:
    """Returns a categorical column with a weight for each value."""
    import tensorflow as tf
    return _columns().weighted_categorical_column(sparse_id_column, weight_column_name,
                                                  dtype or tf.float32)


def crossed_column(columns: Any, hash_bucket_size: int, combiner: Any = "sum",
                   ckpt_to_load_from: Any = None, tensor_name_in_ckpt: Any = None,
                   hash_key: Any = None) -> Any:
    """Returns a column of the combinations of several columns' values."""
    _check("crossed_column", combiner, ckpt_to_load_from)
    # tf.feature_column crosses the strings themselves, not what they were hashed to.
    keys = [column.key if hasattr(column, "hash_bucket_size") and hasattr(column, "key") else column
            for column in columns]
    return _columns().crossed_column(keys, hash_bucket_size, hash_key)


def input_from_feature_columns(columns_to_tensors: Any, feature_columns: Any,
                               weight_collections: Any = None, trainable: bool = True,
                               scope: Any = None) -> Any:
    """Returns the columns' values of a batch, [batch, values] float32."""
    import tensorflow as tf
    with tf.compat.v1.variable_scope(scope, "input_from_feature_columns"):
        return _columns().input_layer(columns_to_tensors, feature_columns, weight_collections,
                                      trainable)


def _check(function: str, combiner: Any, unsupported: Any = None) -> None:
    if combiner not in (None, "sum") or unsupported is not None:
        raise ConfigError(f"tf.contrib.layers.{function} was given {combiner!r} as combiner, or "
                          "hash keys or a checkpoint; expected combiner='sum' and none of these. "
                          "tf.feature_column.linear_model and embedding_column take a combiner.")


NAMES = {
    **{each.__name__: each for each in (
        real_valued_column, sparse_column_with_hash_bucket, sparse_column_with_integerized_feature,
        sparse_column_with_keys, sparse_column_with_vocabulary_file, weighted_sparse_column,
        crossed_column, input_from_feature_columns)},
    "bucketized_column": "tf.feature_column.bucketized_column",
    "create_feature_spec_for_parsing": "tf.feature_column.make_parse_example_spec",
    "embedding_column": "tf.feature_column.embedding_column",
    "one_hot_column": "tf.feature_column.indicator_column",
    "shared_embedding_columns": "tf.feature_column.shared_embedding_columns",
    "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY": 0xDECAFCAFFE,
}
INSTEAD = {
    "weighted_sum_from_feature_columns": "use tf.feature_column.linear_model",
    "joint_weighted_sum_from_feature_columns": "use tf.feature_column.linear_model",
    "parse_feature_columns_from_examples": "use tf.io.parse_example with "
                                           "tf.feature_column.make_parse_example_spec",
    "sequence_input_from_feature_columns": "use tf.keras.experimental.SequenceFeatures",
}
