"""Feature columns of sequences, and the input layer of `tf.contrib.feature_column`.

Source: tensorflow/contrib/feature_column/python/feature_column/sequence_feature_column.py of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_column = tf.feature_column


def sequence_categorical_column_with_identity(key: str, num_buckets: int,
                                              default_value: Any = None) -> Any:
    """Returns a column of sequences of integers."""
    return _column.sequence_categorical_column_with_identity(key, num_buckets, default_value)


def sequence_categorical_column_with_hash_bucket(key: str, hash_bucket_size: int,
                                                 dtype: Any = tf.string) -> Any:
    """Returns a column of sequences of values that are hashed."""
    return _column.sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)


def sequence_categorical_column_with_vocabulary_file(
        key: str, vocabulary_file: str, vocabulary_size: Any = None, num_oov_buckets: int = 0,
        default_value: Any = None, dtype: Any = tf.string) -> Any:
    """Returns a column of sequences of a file's lines."""
    return _column.sequence_categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)


def sequence_categorical_column_with_vocabulary_list(
        key: str, vocabulary_list: Any, dtype: Any = None, default_value: int = -1,
        num_oov_buckets: int = 0) -> Any:
    """Returns a column of sequences of a list's values."""
    return _column.sequence_categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets)


def sequence_numeric_column(key: str, shape: Any = (1,), default_value: float = 0.,
                            dtype: Any = tf.float32, normalizer_fn: Any = None) -> Any:
    """Returns a column of sequences of numbers."""
    return _column.sequence_numeric_column(key, shape, default_value, dtype, normalizer_fn)


def sequence_input_layer(features: Any, feature_columns: Any, weight_collections: Any = None,
                         trainable: bool = True) -> Any:
    """Returns the columns' values side by side, [batch, time, values], and the lengths, [batch].

    Args:
      features: SparseTensors by name.
      feature_columns: Columns of sequences, those of categories inside an embedding or indicator
        column, which are taken in the order of their names.
      weight_collections: Collections of the variables, beside the usual ones.
      trainable: Whether embeddings are trained.

    Raises:
      ValueError: a column is none of sequences.
      InvalidArgumentError: columns have other lengths.
    """
    from tensorflow.python.feature_column import feature_column_v2 as columns_v2
    columns = getattr(columns_v2, "_normalize_feature_columns")(feature_columns)
    for column in columns:
        if not isinstance(column, columns_v2.SequenceDenseColumn):
            raise ValueError(f"All feature_columns must be of type _SequenceDenseColumn; {column} "
                             "is none. You can wrap a sequence_categorical_column with an "
                             "embedding_column or indicator_column.")
    v1, values, lengths = tf.compat.v1, [], []
    made = columns_v2.FeatureTransformationCache(features)
    with v1.variable_scope(None, "sequence_input_layer", list(features.values())):
        manager = _Variables(weight_collections, trainable)
        for column in sorted(columns, key=lambda each: each.name):
            with v1.variable_scope(None, column.name):
                column.create_state(manager)
                tensor, length = column.get_sequence_dense_tensor(made, manager)
            size = column.variable_shape.num_elements()
            values.append(tf.reshape(tensor, [*tf.unstack(tf.shape(tensor)[:2]), size]))
            lengths.append(length)
    return tf.concat(values, -1), _equal(lengths)


class _Variables:
    """The variables of columns, each in the current scope."""

    def __init__(self, collections: Any, trainable: bool) -> None:
        keys = tf.compat.v1.GraphKeys
        self._collections = [*(collections or ()), keys.GLOBAL_VARIABLES, keys.MODEL_VARIABLES]
        self._trainable = trainable
        self._made: dict[Any, Any] = {}

    def create_variable(self, feature_column: Any, name: str, shape: Any, dtype: Any = None,
                        trainable: bool = True, use_resource: bool = True,
                        initializer: Any = None) -> Any:
        """Makes a variable."""
        del use_resource
        self._made[feature_column, name] = tf.compat.v1.get_variable(
            name, shape, dtype, initializer, trainable=trainable and self._trainable,
            collections=list(dict.fromkeys(self._collections)))
        return self._made[feature_column, name]

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Returns whether a column has a table, which none has here."""
        del feature_column, name
        return False

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Does nothing: a column makes its table where it is used."""

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Returns a variable that was made."""
        return self._made[feature_column, name]


def _equal(tensors: list[Any]) -> Any:
    if len(tensors) == 1:
        return tensors[0]
    checks = [tf.compat.v1.assert_equal(tensors[0], each) for each in tensors[1:]]
    with tf.control_dependencies(checks):
        return tf.identity(tensors[0])


def concatenate_context_input(context_input: Any, sequence_input: Any) -> Any:
    """Returns the steps of sequences with what all steps have beside them.

    Args:
      context_input: [batch, n] float32.
      sequence_input: [batch, time, m] float32.

    Returns:
      [batch, time, m + n].
    """
    v1 = tf.compat.v1
    checks = []
    for name, tensor, rank in (("sequence_input", sequence_input, 3),
                               ("context_input", context_input, 2)):
        checks.append(v1.assert_rank(tensor, rank, message=f"{name} must have rank {rank}",
                                     data=[tf.shape(tensor)]))
        checks.append(v1.assert_type(tensor, tf.float32, message=(
            f"{name} must have dtype float32; got {tensor.dtype}.")))
    with tf.control_dependencies([each for each in checks if each is not None]):
        length = tf.shape(sequence_input)[1]
        tiled = tf.tile(tf.expand_dims(context_input, 1), [1, length, 1])
    return tf.concat([sequence_input, tiled], 2)
