"""Feature columns of `tf.contrib.layers`: what all have, and the sparse ones.

Columns are tuples whose types and fields are named as in TensorFlow 1.15: a column's `key`, by
which columns are ordered, is made of them. Each is a column of `tf.feature_column` too, so that
Estimators and `tf.feature_column.input_layer` take it.

Source: tensorflow/contrib/layers/python/layers/feature_column.py of TensorFlow 1.15.
"""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

from absl import logging
import tensorflow as tf
from tensorflow.python.feature_column import feature_column as core

from estimator_trainer.compat.tensorflow1 import homes

flatten: Any = homes.resolve("tf_slim.layers.layers._inner_flatten")
model_variable: Any = homes.resolve("tf_slim.ops.variables.model_variable")
Categorical: Any = getattr(core, "_CategoricalColumn")
Dense: Any = getattr(core, "_DenseColumn")


class WideLookup(NamedTuple):
    """A linear model looks up these ids of a column, with weights if there are any."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str


class Features:
    """The features of a batch by name, and by column what was made of them."""

    def __init__(self, tensors: dict[Any, Any]) -> None:
        self.tensors = tensors

    def get(self, key: Any) -> Any:
        """Returns a feature, or a column's tensor, which is made where it is asked for first."""
        if isinstance(key, str) or key in self.tensors:
            return self.tensors[key]
        key.insert_transformed_feature(self.tensors)
        return self.tensors[key]

    transform = get


class _FeatureColumn:
    """A column of `tf.contrib.layers`."""

    name: str
    config: dict[str, Any]

    @property
    def key(self) -> str:
        """The text by which columns are ordered."""
        return str(self)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.config

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Puts the column's tensor beside the features that it is made of."""
        columns_to_tensors[self] = self._transform_feature(Features(columns_to_tensors))

    def _transform_feature(self, inputs: Any) -> Any:
        raise NotImplementedError(f"{self.name} is not transformed.")

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None,
                            trainable: bool = True, output_rank: int = 2) -> Any:
        raise ValueError(f"{type(self).__name__} {self.name!r} is no input of a network; expected "
                         "an embedding_column or one_hot_column of it.")

    def _deep_lookup(self, input_tensor: Any) -> Any:
        """Returns what `dense_columns.embeddings` looks up; None for a column without weights."""
        return None

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        """Returns a WideLookup; None for a column that a linear model multiplies."""
        return None

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} {self.name!r} has no dense tensor.")

    def _checkpoint_path(self) -> Any:
        return None

    def _key_without(self, *left_out: str) -> str:
        fields = ", ".join(f"{field}={getattr(self, field)}" for field in getattr(self, "_fields")
                           if field not in left_out)
        return f"{type(self).__name__}({fields})"


class _Ids(_FeatureColumn, Categorical):
    """A column whose tensor is ids, with or without weights."""

    length: int

    @property
    def _num_buckets(self) -> int:
        return self.length

    def id_tensor(self, input_tensor: Any) -> Any:
        """Returns the ids of what `insert_transformed_feature` made."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """Returns the weights of what `insert_transformed_feature` made, or None."""
        del input_tensor

    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None,
                            trainable: Any = None) -> Any:
        tensor = inputs.get(self)
        return Categorical.IdWeightPair(self.id_tensor(tensor), self.weight_tensor(tensor))

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        return WideLookup(self.id_tensor(input_tensor), self.weight_tensor(input_tensor),
                          self.length, tf.compat.v1.zeros_initializer(), self._wide_combiner())

    def _wide_combiner(self) -> str:
        return str(getattr(self, "combiner"))


_SparseIdLookupConfig = collections.namedtuple(
    "_SparseIdLookupConfig",
    ["vocabulary_file", "keys", "num_oov_buckets", "vocab_size", "default_value"],
    defaults=[None, None, 0, None, -1])


class _SparseColumn(_Ids, collections.namedtuple(
        "_SparseColumn", ["column_name", "is_integerized", "bucket_size", "lookup_config",
                          "combiner", "dtype"])):
    """A column of categories."""

    def __new__(cls, column_name: str, is_integerized: bool = False, bucket_size: Any = None,
                lookup_config: Any = None, combiner: str = "sum", dtype: Any = tf.string) -> Any:
        if is_integerized and not dtype.is_integer or not (
                dtype == tf.string or dtype.is_integer):
            kind = "an integer" if is_integerized else "string or integer"
            raise ValueError(f"dtype must be {kind}, and is {dtype} (from column {column_name!r}).")
        if lookup_config is None and (bucket_size is None or bucket_size < 1):
            raise ValueError(f"bucket_size must be at least 1, and is {bucket_size} (from column "
                             f"{column_name!r}).")
        return super().__new__(cls, column_name, is_integerized, bucket_size, lookup_config,
                               combiner, dtype)

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.column_name)

    @property
    def length(self) -> int:  # type: ignore[override]
        """The number of ids."""
        if self.bucket_size is not None:
            return int(self.bucket_size)
        return int(self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets)

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        return {self.column_name: tf.io.VarLenFeature(self.dtype)}

    def is_compatible(self, other_column: Any) -> bool:
        """Returns whether two columns can share an embedding."""
        if self.lookup_config and other_column.lookup_config:
            return bool(self.lookup_config == other_column.lookup_config)
        if self.length != other_column.length or self.dtype != other_column.dtype and not (
                self.dtype.is_integer and other_column.dtype.is_integer):
            return False
        logging.warning("Columns %s and %s may have other vocabularies.", self.name,
                        other_column.name)
        return True

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if not isinstance(tensor, tf.sparse.SparseTensor):
            missing = "" if tensor.dtype == tf.string else -1
            tensor = dense_to_sparse(with_rank(tensor, 2, self.name), missing)
        return self._ids(tensor)

    def _ids(self, tensor: Any) -> Any:
        raise NotImplementedError


def with_rank(tensor: Any, rank: int, column_name: str) -> Any:
    """Returns a tensor with its last dimensions joined, or with one added.

    Raises:
      ValueError: the tensor's rank is less than rank - 1.
    """
    ndims = tensor.shape.ndims
    if ndims is not None and rank > ndims + 1:
        raise ValueError(f"Error while processing column {column_name!r}: Rank of input Tensor "
                         f"({ndims}) should be the same as output_rank ({rank}).")
    if ndims is not None and rank == ndims + 1:
        return tf.expand_dims(tensor, -1)
    return tensor if rank == ndims else flatten(tensor, rank)


def dense_to_sparse(dense_tensor: Any, ignore_value: Any = None) -> Any:
    """Returns a SparseTensor of those values that are not `ignore_value`, by default 0 or ""."""
    tensor = tf.convert_to_tensor(dense_tensor)
    if ignore_value is None:
        ignore_value = "" if tensor.dtype == tf.string else 0
    where = tf.where(tf.not_equal(tensor, tf.cast(ignore_value, tensor.dtype)))
    return tf.sparse.SparseTensor(where, tf.gather_nd(tensor, where), tf.shape(tensor, tf.int64))


def _with_values(tensor: Any, values: Any) -> Any:
    return tf.sparse.SparseTensor(tensor.indices, values, tensor.dense_shape)


class _SparseColumnIntegerized(_SparseColumn):
    def _ids(self, tensor: Any) -> Any:
        return _with_values(tensor, tf.math.floormod(
            tensor.values, tf.cast(self.bucket_size, tensor.values.dtype)))


class _SparseColumnHashed(_SparseColumn):
    def __new__(cls, *args: Any, hash_keys: Any = None, **kwargs: Any) -> Any:
        if hash_keys is not None and not (
                isinstance(hash_keys, list) and hash_keys
                and all(isinstance(pair, list) and [type(key) for key in pair] == [int, int]
                        for pair in hash_keys)):
            raise ValueError("hash_keys must be a non-empty list. Each element of hash_keys must "
                             f"be a pair of integers; hash_keys is {hash_keys!r}.")
        column = super().__new__(cls, *args, **kwargs)
        column.hash_keys = hash_keys
        return column

    def _ids(self, tensor: Any) -> Any:
        values = tensor.values
        if self.dtype.is_integer:
            values = tf.as_string(values)
        if not self.hash_keys:
            return _with_values(tensor, tf.strings.to_hash_bucket_fast(values, self.bucket_size))
        return tf.sparse.concat(1, [
            _with_values(tensor, tf.strings.to_hash_bucket_strong(values, self.bucket_size, key))
            for key in self.hash_keys])


class _SparseColumnKeys(_SparseColumn):
    def _ids(self, tensor: Any) -> Any:
        from tensorflow.python.ops import lookup_ops
        return lookup_ops.index_table_from_tensor(
            tuple(self.lookup_config.keys), default_value=self.lookup_config.default_value,
            dtype=self.dtype, name="lookup").lookup(tensor)


class _SparseColumnVocabulary(_SparseColumn):
    def _ids(self, tensor: Any) -> Any:
        from tensorflow.python.ops import lookup_ops
        if self.dtype.is_integer:
            tensor = _with_values(tensor, tf.as_string(tensor.values))
        wanted = self.lookup_config
        return lookup_ops.index_table_from_file(
            wanted.vocabulary_file, wanted.num_oov_buckets, wanted.vocab_size, wanted.default_value,
            name=f"{self.name}_lookup").lookup(tensor)


class _WeightedSparseColumn(_Ids, collections.namedtuple(
        "_WeightedSparseColumn", ["sparse_id_column", "weight_column_name", "dtype"])):
    """A column of categories that have weights; its tensor is a pair."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return int(self.sparse_id_column.length)

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        return {**self.sparse_id_column.config,
                self.weight_column_name: tf.io.VarLenFeature(self.dtype)}

    @property
    def lookup_config(self) -> Any:
        """How ids are looked up."""
        return self.sparse_id_column.lookup_config

    def id_tensor(self, input_tensor: Any) -> Any:
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        return input_tensor[1]

    def is_compatible(self, other_column: Any) -> bool:
        """Returns whether two columns can share an embedding."""
        other = getattr(other_column, "sparse_id_column", other_column)
        return bool(self.sparse_id_column.is_compatible(other))

    def _wide_combiner(self) -> str:
        return str(self.sparse_id_column.combiner)

    def _transform_feature(self, inputs: Any) -> Any:
        ids, weights = inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name)
        if not isinstance(weights, tf.sparse.SparseTensor):
            weights = dense_to_sparse(weights, 0)
        return ids, weights if self.dtype.is_floating else tf.cast(weights, tf.float32)


def sparse_column_with_integerized_feature(column_name: str, bucket_size: int,
                                           combiner: str = "sum", dtype: Any = tf.int64) -> Any:
    """Returns a column of integers, modulo `bucket_size`.

    Raises:
      ValueError: bucket_size is less than 1, or dtype is no integer.
    """
    return _SparseColumnIntegerized(column_name, True, bucket_size, combiner=combiner, dtype=dtype)


def sparse_column_with_hash_bucket(column_name: str, hash_bucket_size: int, combiner: str = "sum",
                                   dtype: Any = tf.string, hash_keys: Any = None) -> Any:
    """Returns a column of strings or integers that are hashed, by each of `hash_keys` if given.

    Raises:
      ValueError: hash_bucket_size is less than 1, dtype is another, or a key is no pair of numbers.
    """
    return _SparseColumnHashed(column_name, bucket_size=hash_bucket_size, combiner=combiner,
                               dtype=dtype, hash_keys=hash_keys)


def sparse_column_with_keys(column_name: str, keys: Any, default_value: int = -1,
                            combiner: str = "sum", dtype: Any = tf.string) -> Any:
    """Returns a column of the values in `keys`; others are `default_value`."""
    keys = tuple(keys)
    return _SparseColumnKeys(
        column_name, lookup_config=_SparseIdLookupConfig(
            keys=keys, vocab_size=len(keys), default_value=default_value),
        combiner=combiner, dtype=dtype)


def sparse_column_with_vocabulary_file(column_name: str, vocabulary_file: str,
                                       num_oov_buckets: int = 0, vocab_size: Any = None,
                                       default_value: int = -1, combiner: str = "sum",
                                       dtype: Any = tf.string) -> Any:
    """Returns a column of the first `vocab_size` lines of a file.

    Raises:
      ValueError: vocab_size is None.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined (from column {column_name!r}).")
    return _SparseColumnVocabulary(
        column_name, lookup_config=_SparseIdLookupConfig(
            vocabulary_file, None, num_oov_buckets, vocab_size, default_value),
        combiner=combiner, dtype=dtype)


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str,
                           dtype: Any = tf.float32) -> Any:
    """Returns a column of categories whose weights are the feature `weight_column_name`.

    Raises:
      ValueError: dtype is no number.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float: {dtype} (from column "
                         f"{weight_column_name!r}).")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
