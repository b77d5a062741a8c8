"""Feature columns of sequences, and the input layer of `tf.contrib.feature_column`.

Source: tensorflow/contrib/feature_column/python/feature_column/sequence_feature_column.py of
TensorFlow 1.15.
"""

from __future__ import annotations

import collections
import math
from typing import Any

import tensorflow as tf
from tensorflow.python.feature_column import feature_column as core

_Categorical: Any = getattr(core, "_SequenceCategoricalColumn")
_Dense: Any = getattr(core, "_SequenceDenseColumn")


def _of_sequences(kind: str, **options: Any) -> Any:
    return _Categorical(getattr(core, f"_categorical_column_with_{kind}")(**options))


def sequence_categorical_column_with_identity(key: str, num_buckets: int,
                                              default_value: Any = None) -> Any:
    """Returns a column of sequences of integers."""
    return _of_sequences("identity", key=key, num_buckets=num_buckets,
                         default_value=default_value)


def sequence_categorical_column_with_hash_bucket(key: str, hash_bucket_size: int,
                                                 dtype: Any = tf.string) -> Any:
    """Returns a column of sequences of values that are hashed."""
    return _of_sequences("hash_bucket", key=key, hash_bucket_size=hash_bucket_size, dtype=dtype)


def sequence_categorical_column_with_vocabulary_file(
        key: str, vocabulary_file: str, vocabulary_size: Any = None, num_oov_buckets: int = 0,
        default_value: Any = None, dtype: Any = tf.string) -> Any:
    """Returns a column of sequences of a file's lines."""
    return _of_sequences(
        "vocabulary_file", key=key, vocabulary_file=vocabulary_file,
        vocabulary_size=vocabulary_size, num_oov_buckets=num_oov_buckets,
        default_value=default_value, dtype=dtype)


def sequence_categorical_column_with_vocabulary_list(
        key: str, vocabulary_list: Any, dtype: Any = None, default_value: int = -1,
        num_oov_buckets: int = 0) -> Any:
    """Returns a column of sequences of a list's values."""
    return _of_sequences(
        "vocabulary_list", key=key, vocabulary_list=vocabulary_list, dtype=dtype,
        default_value=default_value, num_oov_buckets=num_oov_buckets)


class _SequenceNumericColumn(_Dense, collections.namedtuple(
        "_SequenceNumericColumn", ["key", "shape", "default_value", "dtype", "normalizer_fn"])):
    """A column of sequences of numbers."""

    @property
    def name(self) -> str:
        return str(self.key)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.io.VarLenFeature(self.dtype)}

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape(self.shape)

    def _transform_feature(self, inputs: Any) -> Any:
        found = inputs.get(self.key)
        return found if self.normalizer_fn is None else self.normalizer_fn(found)

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None,
                                   trainable: Any = None) -> Any:
        from tensorflow.python.feature_column import utils
        sparse = inputs.get(self)
        dense = tf.sparse.to_dense(sparse, self.default_value)
        size = math.prod(self.shape) if sparse.shape.ndims == 2 else 1
        dense = tf.reshape(dense, tf.concat([tf.shape(dense)[:1], [-1], self.shape], 0))
        return _Dense.TensorSequenceLengthPair(
            dense_tensor=dense, sequence_length=utils.sequence_length_from_sparse_tensor(
                sparse, num_elements=size))


def sequence_numeric_column(key: str, shape: Any = (1,), default_value: float = 0.,
                            dtype: Any = tf.float32, normalizer_fn: Any = None) -> Any:
    """Returns a column of sequences of numbers.

    Raises:
      TypeError: shape holds no integers, or normalizer_fn is no function.
      ValueError: a size is not positive, or dtype is no number.
    """
    shape = getattr(core, "_check_shape")(shape=shape, key=key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return _SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


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
    columns = getattr(core, "_normalize_feature_columns")(feature_columns)
    for column in columns:
        if not isinstance(column, _Dense):
            raise ValueError(f"All feature_columns must be of type _SequenceDenseColumn; {column} "
                             "is none. You can wrap a sequence_categorical_column with an "
                             "embedding_column or indicator_column.")
    v1, values, lengths = tf.compat.v1, [], []
    columns = sorted(columns, key=lambda each: each.name)
    with v1.variable_scope(None, "sequence_input_layer", list(features.values())):
        builder = getattr(core, "_LazyBuilder")(features)
        for column in columns:
            with v1.variable_scope(None, getattr(column, "_var_scope_name")):
                tensor, length = getattr(column, "_get_sequence_dense_tensor")(
                    builder, weight_collections=weight_collections, trainable=trainable)
            size = getattr(column, "_variable_shape").num_elements()
            shape = tf.shape(tensor)
            values.append(tf.reshape(tensor, [shape[0], shape[1], size]))
            lengths.append(length)
        for tensors in (values, lengths):
            getattr(core, "_verify_static_batch_size_equality")(tensors, columns)
        return tf.concat(values, -1), _equal(lengths)


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
