"""Feature columns of `tf.contrib.layers`: numbers, their buckets, and crosses of columns.

Source: tensorflow/contrib/layers/python/layers/feature_column.py of TensorFlow 1.15.
"""

from __future__ import annotations

import collections
from typing import Any, Callable, Optional

import tensorflow as tf

from estimator_trainer.compat.contrib.layers.columns import (_FeatureColumn, _Ids, _SparseColumn,
                                                             Categorical, Dense, WideLookup,
                                                             with_rank)
from estimator_trainer.compat.contrib.layers.crosses import sparse_feature_cross
from estimator_trainer.compat.contrib.layers.embedding_columns import check_checkpoint


class _Numbers(_FeatureColumn):
    """A column of numbers, of which a function may make others."""

    column_name: str
    normalizer: Any

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.column_name

    @property
    def key(self) -> str:
        return self._key_without("normalizer")

    @property
    def normalizer_fn(self) -> Any:
        """The function that makes other numbers of the feature."""
        return self.normalizer

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if self.normalizer is not None and isinstance(tensor, tf.sparse.SparseTensor):
            tensor = tf.sparse.SparseTensor(tensor.indices, self.normalizer(tensor.values),
                                            tensor.dense_shape)
        elif self.normalizer is not None:
            tensor = self.normalizer(tensor)
        return tf.cast(tensor, tf.float32)

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None,
                            trainable: bool = True, output_rank: int = 2) -> Any:
        tensor = tf.cast(self._to_dense_tensor(input_tensor), tf.float32)
        return with_rank(tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return input_tensor


class _RealValuedColumn(_Numbers, Dense, collections.namedtuple(
        "_RealValuedColumn", ["column_name", "dimension", "default_value", "dtype",
                              "normalizer"])):
    """A column of a fixed number of numbers."""

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: tf.io.FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None,
                          trainable: Any = None) -> Any:
        return inputs.get(self)


class _RealValuedVarLenColumn(_Numbers, collections.namedtuple(
        "_RealValuedVarLenColumn", ["column_name", "default_value", "dtype", "normalizer",
                                    "is_sparse"])):
    """A column of any number of numbers."""

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        if self.is_sparse:
            return {self.column_name: tf.io.VarLenFeature(self.dtype)}
        return {self.column_name: tf.io.FixedLenSequenceFeature(
            [], self.dtype, allow_missing=True, default_value=self.default_value)}

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        if self.is_sparse:
            raise ValueError("Set is_sparse to False if you want a dense Tensor (from column "
                             f"{self.name!r}).")
        return input_tensor


class _BucketizedColumn(_FeatureColumn, Categorical, Dense,
                        collections.namedtuple("_BucketizedColumn", ["source_column",
                                                                     "boundaries"])):
    """A column of the buckets in which numbers are."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """The number of buckets."""
        return len(self.boundaries) + 1

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        return dict(self.source_column.config)

    @property
    def _num_buckets(self) -> int:
        return int(self.length * self.source_column.dimension)

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self._num_buckets])

    def to_sparse_tensor(self, input_tensor: Any) -> Any:
        """Returns ids, which differ for each of a column's numbers."""
        dimension = self.source_column.dimension
        batch = tf.shape(input_tensor)[0]
        rows = tf.repeat(tf.range(batch), dimension)
        places = tf.tile(tf.range(dimension), [batch])
        return tf.sparse.SparseTensor(
            tf.cast(tf.stack([rows, places], 1), tf.int64),
            tf.reshape(input_tensor, [-1]) + self.length * places,
            tf.cast(tf.stack([batch, dimension]), tf.int64))

    def _transform_feature(self, inputs: Any) -> Any:
        return tf.raw_ops.Bucketize(input=inputs.get(self.source_column),
                                    boundaries=list(self.boundaries))

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None,
                            trainable: bool = True, output_rank: int = 2) -> Any:
        if output_rank != 2:
            raise ValueError(f"output_rank is {output_rank} (from column {self.name!r}); "
                             "expected 2.")
        hot = tf.one_hot(tf.cast(input_tensor, tf.int64), self.length, 1.0, 0.0)
        return tf.reshape(hot, [-1, self._num_buckets])

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        return WideLookup(self.to_sparse_tensor(input_tensor), None, self._num_buckets,
                          tf.compat.v1.zeros_initializer(), "sum")

    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None,
                            trainable: Any = None) -> Any:
        return Categorical.IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None,
                          trainable: Any = None) -> Any:
        return self._to_dnn_input_layer(inputs.get(self))


class _CrossedColumn(_Ids, collections.namedtuple(
        "_CrossedColumn", ["columns", "hash_bucket_size", "hash_key", "combiner",
                           "ckpt_to_load_from", "tensor_name_in_ckpt"])):
    """A column of the combinations of several columns' values."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return int(self.hash_bucket_size)

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        return {key: value for column in self.columns for key, value in column.config.items()}

    def _checkpoint_path(self) -> Any:
        path = self.ckpt_to_load_from
        return None if path is None else (path, self.tensor_name_in_ckpt)

    def _transform_feature(self, inputs: Any) -> Any:
        return sparse_feature_cross(
            [_crossed_tensor(each, inputs) for each in self._leaves()], hashed_output=True,
            num_buckets=self.hash_bucket_size, hash_key=self.hash_key, name="cross")

    def _leaves(self) -> list[Any]:
        leaves = []
        for column in self.columns:
            leaves += column._leaves() if isinstance(column, _CrossedColumn) else [column]
        return leaves


def _crossed_tensor(column: Any, inputs: Any) -> Any:
    if isinstance(column, _BucketizedColumn):
        return column.to_sparse_tensor(inputs.get(column))
    try:
        return inputs.get(column.name)  # The values themselves, not their ids.
    except KeyError:
        raise ValueError(f"features has no {column.name!r} (from a crossed column).") from None


def real_valued_column(column_name: str, dimension: int = 1, default_value: Any = None,
                       dtype: Any = tf.float32,
                       normalizer: Optional[Callable[[Any], Any]] = None) -> Any:
    """Returns a column of `dimension` numbers.

    Args:
      column_name: The feature's name.
      dimension: How many numbers an example has.
      default_value: The number, or the list of them, of an example without the feature.
      dtype: The feature's type; the column's tensor is float32.
      normalizer: A function of the feature.

    Raises:
      TypeError: dimension is no integer, or default_value is of another type.
      ValueError: dimension is less than 1, dtype is no number, or default_value of another length.
    """
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer, and is {dimension!r} (from column "
                        f"{column_name!r}).")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0, and is {dimension} (from column "
                         f"{column_name!r}).")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float, and is {dtype} (from column "
                         f"{column_name!r}).")
    if default_value is not None:
        default_value = _default(column_name, dimension, default_value, dtype)
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


def _default(column_name: str, dimension: int, value: Any, dtype: Any) -> tuple[Any, ...]:
    if isinstance(value, list) and len(value) != dimension:
        raise ValueError(f"The length of default_value must be equal to dimension: {value} (from "
                         f"column {column_name!r}) is not of {dimension} numbers.")
    values = value if isinstance(value, list) else [value] * dimension
    kinds = (int, float) if dtype.is_floating else int
    if not all(isinstance(each, kinds) for each in values):
        raise TypeError(f"default_value must be compatible with dtype: {value!r} (from column "
                        f"{column_name!r}) is no {dtype}.")
    return tuple(float(each) if dtype.is_floating else each for each in values)


def real_valued_var_len_column(column_name: str, default_value: Any = None,
                               dtype: Any = tf.float32, normalizer: Any = None,
                               is_sparse: bool = False) -> Any:
    """Returns a column of any number of numbers; `_real_valued_var_len_column` in TensorFlow 1.

    Raises:
      TypeError: dtype is no number.
      ValueError: default_value is a list, or missing where the column is dense.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float, and is {dtype} (from column "
                        f"{column_name!r}).")
    if default_value is None and not is_sparse:
        raise ValueError("default_value must be provided when is_sparse=False (from column "
                         f"{column_name!r}).")
    if isinstance(default_value, list):
        raise ValueError(f"Only scalar default value; {default_value} was given (from column "
                         f"{column_name!r}).")
    if default_value is not None:
        default_value = (int if dtype.is_integer else float)(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


def bucketized_column(source_column: Any, boundaries: Any) -> Any:
    """Returns a column of the buckets between `boundaries` in which a column's numbers are.

    Raises:
      TypeError: source_column is no real-valued column.
      ValueError: boundaries is no sorted list.
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError("source_column must be an instance of _RealValuedColumn, and is "
                        f"{source_column!r} (from bucketized_column).")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError("boundaries must be a non-empty list or tuple, and is "
                         f"{boundaries!r} (from bucketized_column).")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list, and is {boundaries!r} (from "
                         "bucketized_column).")
    return _BucketizedColumn(source_column, tuple(dict.fromkeys(boundaries)))


def crossed_column(columns: Any, hash_bucket_size: int, combiner: str = "sum",
                   ckpt_to_load_from: Any = None, tensor_name_in_ckpt: Any = None,
                   hash_key: Any = None) -> Any:
    """Returns a column of the hashed combinations of several columns' values.

    Raises:
      TypeError: a column is no sparse, bucketized or crossed column.
      ValueError: there are less than 2 columns or ids, or one of the checkpoint's names is missing.
    """
    for column in columns:
        if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
            raise TypeError("columns must be a set of _SparseColumn, _CrossedColumn, or "
                            f"_BucketizedColumn instances; {column!r} is none.")
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements, and is {columns!r}.")
    if hash_bucket_size < 2:
        raise ValueError(f"hash_bucket_size must be at least 2, and is {hash_bucket_size} (from "
                         "crossed_column).")
    check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    return _CrossedColumn(tuple(sorted(columns, key=lambda column: column.name)), hash_bucket_size,
                          hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt)
