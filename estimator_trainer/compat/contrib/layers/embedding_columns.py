"""Feature columns of `tf.contrib.layers` that are dense: embeddings, and one for each category.

Source: tensorflow/contrib/layers/python/layers/feature_column.py of TensorFlow 1.15.
"""

from __future__ import annotations

import collections
import math
from typing import Any, NamedTuple, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.layers import embeddings
from estimator_trainer.compat.contrib.layers.columns import (_FeatureColumn, _SparseColumn,
                                                             _WeightedSparseColumn, Dense, Features,
                                                             flatten, model_variable)


class DeepLookup(NamedTuple):
    """The embeddings of a column, and what is looked up in them."""

    ids: Any
    weights: Any
    shape: list[int]
    dimension: int
    initializer: Any
    combiner: str
    shared_name: Any = None
    hash_key: Any = None
    max_norm: Any = None
    trainable: bool = True


def look_up(column: Any, wanted: DeepLookup, weight_collections: Any, trainable: bool,
            output_rank: int = 2) -> Any:
    """Makes or reuses a column's embeddings in the current variable scope, and looks ids up."""
    ids = flatten(wanted.ids, output_rank)
    weights = None if wanted.weights is None else flatten(wanted.weights, output_rank)
    parts = partitions(_variable(wanted, weight_collections, trainable))
    if wanted.hash_key:
        return embeddings.scattered_embedding_lookup_sparse(
            parts, ids, wanted.dimension, wanted.combiner, name="lookup", hash_key=wanted.hash_key)
    restore(getattr(column, "_checkpoint_path")(), parts)
    return embeddings.safe_embedding_lookup_sparse(
        parts, ids, weights, wanted.combiner, name=f"{column.name}weights",
        max_norm=wanted.max_norm)


def _variable(wanted: DeepLookup, collections: Any, trainable: bool) -> Any:
    def make(name: str) -> Any:
        return model_variable(
            name, shape=wanted.shape, dtype=tf.float32, initializer=wanted.initializer,
            trainable=trainable and wanted.trainable, collections=collections)

    if wanted.shared_name is None:
        return make("weights")
    shared = tf.compat.v1.get_collection_ref(
        f"SHARED_EMBEDDING_COLLECTION_{wanted.shared_name.upper()}")
    if not shared:
        shared.append(make(wanted.shared_name))
    if shared[0].shape.as_list() != wanted.shape:
        raise ValueError(f"shared_embedding_name is {wanted.shared_name!r}, whose embeddings have "
                         f"the shape {shared[0].shape}; expected {wanted.shape}.")
    return shared[0]


def partitions(variable: Any) -> list[Any]:
    """Returns the variables that a variable consists of."""
    parts = getattr(variable, "_get_variable_list", None)
    return list(parts()) if parts else [variable]


def restore(checkpoint: Any, parts: Sequence[Any]) -> None:
    """Lets a variable start with a value of a checkpoint, if a column names one."""
    if checkpoint is not None:
        path, tensor_name = checkpoint
        tf.compat.v1.train.init_from_checkpoint(
            path, {tensor_name: list(parts) if len(parts) > 1 else parts[0]})


class _Deep(_FeatureColumn, Dense):
    """A column of embeddings."""

    dimension: int

    @property
    def key(self) -> str:
        return self._key_without("initializer")

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None,
                          trainable: Any = None) -> Any:
        return look_up(self, self._deep_lookup(inputs.get(self)), weight_collections, trainable)


class _EmbeddingColumn(_Deep, collections.namedtuple(
        "_EmbeddingColumn", [
            "sparse_id_column", "dimension", "combiner", "initializer", "ckpt_to_load_from",
            "tensor_name_in_ckpt", "shared_embedding_name", "shared_vocab_size", "max_norm",
            "trainable"])):
    """A column of embeddings of categories."""

    def __new__(cls, sparse_id_column: Any, dimension: int, combiner: str = "mean",
                initializer: Any = None, ckpt_to_load_from: Any = None,
                tensor_name_in_ckpt: Any = None, shared_embedding_name: Any = None,
                shared_vocab_size: Any = None, max_norm: Any = None,
                trainable: bool = True) -> Any:
        _check_initializer(initializer, sparse_id_column.name)
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        initializer = initializer or tf.compat.v1.truncated_normal_initializer(
            0.0, 1 / math.sqrt(sparse_id_column.length))
        return super().__new__(cls, sparse_id_column, dimension, combiner, initializer,
                               ckpt_to_load_from, tensor_name_in_ckpt, shared_embedding_name,
                               shared_vocab_size, max_norm, trainable)

    @property
    def name(self) -> str:  # type: ignore[override]
        shared = "" if self.shared_embedding_name is None else "shared_"
        return f"{self.sparse_id_column.name}_{shared}embedding"

    @property
    def length(self) -> int:
        """The number of embeddings."""
        return int(self.shared_vocab_size or self.sparse_id_column.length)

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        return dict(self.sparse_id_column.config)

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)

    def _deep_lookup(self, input_tensor: Any) -> Any:
        column = self.sparse_id_column
        return DeepLookup(
            column.id_tensor(input_tensor), column.weight_tensor(input_tensor),
            [self.length, self.dimension], self.dimension, self.initializer, self.combiner,
            self.shared_embedding_name, None, self.max_norm, self.trainable)

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        raise ValueError(f"Column {self.name!r} is an embedding, and not supported in linear "
                         "models; expected a sparse column.")

    def _checkpoint_path(self) -> Any:
        path = self.ckpt_to_load_from
        return None if path is None else (path, self.tensor_name_in_ckpt)


def _check_initializer(initializer: Any, name: str) -> None:
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified, and is {initializer!r} "
                         f"(from column {name!r}).")


def check_checkpoint(path: Any, tensor_name: Any) -> None:
    """Raises a ValueError where one of the two is missing."""
    if (path is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none "
                         f"of them; they are {path!r} and {tensor_name!r}.")


class _ScatteredEmbeddingColumn(_Deep, collections.namedtuple(
        "_ScatteredEmbeddingColumn", ["column_name", "size", "dimension", "hash_key", "combiner",
                                      "initializer"])):
    """A column of embeddings whose numbers are chosen out of one vector."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        return {self.column_name: tf.io.VarLenFeature(tf.string)}

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.column_name)

    def _deep_lookup(self, input_tensor: Any) -> Any:
        return DeepLookup(input_tensor, None, [self.size], self.dimension, self.initializer,
                          self.combiner, hash_key=self.hash_key)


class _OneHotColumn(_FeatureColumn, Dense, collections.namedtuple(
        "_OneHotColumn", ["sparse_id_column"])):
    """A column of a number for each category: how often, or with what weight, it is there."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        """The number of categories."""
        return int(self.sparse_id_column.length)

    @property
    def config(self) -> dict[str, Any]:  # type: ignore[override]
        return dict(self.sparse_id_column.config)

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self.length])

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        columns_to_tensors[self] = Features(columns_to_tensors).get(self.sparse_id_column)

    def _transform_feature(self, inputs: Any) -> Any:
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None,
                          trainable: Any = None) -> Any:
        return inputs.get(self)

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None,
                            trainable: bool = True, output_rank: int = 2) -> Any:
        ids = flatten(self.sparse_id_column.id_tensor(input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is None:
            hot = tf.one_hot(tf.sparse.to_dense(ids, -1), self.length, 1.0, 0.0)
            return tf.reduce_sum(hot, axis=[output_rank - 1])
        merged = tf.compat.v1.sparse_merge(ids, weights, self.length)
        # Ids below 0 count as missing.
        merged = tf.sparse.slice(merged, tf.zeros_like(merged.dense_shape), merged.dense_shape)
        found = tf.sparse.to_dense(merged)
        return tf.reshape(found, tf.concat([tf.shape(found)[:-1], [self.length]], 0))


def one_hot_column(sparse_id_column: Any) -> Any:
    """Returns a column of a number for each category of a sparse column."""
    return _OneHotColumn(sparse_id_column)


def embedding_column(sparse_id_column: Any, dimension: int, combiner: str = "mean",
                     initializer: Any = None, ckpt_to_load_from: Any = None,
                     tensor_name_in_ckpt: Any = None, max_norm: Any = None,
                     trainable: bool = True) -> Any:
    """Returns a column of embeddings of a sparse column's categories.

    Args:
      sparse_id_column: A sparse, weighted or crossed column.
      dimension: Size of an embedding.
      combiner: "mean", "sqrtn" or "sum".
      initializer: A truncated normal distribution by default, stddev 1 / sqrt(categories).
      ckpt_to_load_from, tensor_name_in_ckpt: What the embeddings start with.
      max_norm: The norm to which an embedding is clipped.
      trainable: Whether the embeddings are trained.

    Raises:
      ValueError: initializer is no function, or one of the checkpoint's two names is missing.
    """
    return _EmbeddingColumn(sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from,
                            tensor_name_in_ckpt, max_norm=max_norm, trainable=trainable)


def shared_embedding_columns(sparse_id_columns: Any, dimension: int, combiner: str = "mean",
                             shared_embedding_name: Optional[str] = None, initializer: Any = None,
                             ckpt_to_load_from: Any = None, tensor_name_in_ckpt: Any = None,
                             max_norm: Any = None, trainable: bool = True) -> Any:
    """Returns columns, one for each given, that share embeddings.

    Raises:
      TypeError: sparse_id_columns is no list or tuple of sparse and weighted columns.
      ValueError: sparse_id_columns is empty, or the columns have other categories.
    """
    if not isinstance(sparse_id_columns, (list, tuple)) or isinstance(
            sparse_id_columns, _FeatureColumn):
        raise TypeError(f"sparse_id_columns is {sparse_id_columns!r}; expected a list or tuple.")
    if not sparse_id_columns:
        raise ValueError("sparse_id_columns is empty; expected columns.")
    wrong = [each for each in sparse_id_columns
             if not isinstance(each, (_SparseColumn, _WeightedSparseColumn))]
    if wrong:
        raise TypeError(f"sparse_id_columns has {wrong[0]!r}; expected sparse columns.")
    first, size = sparse_id_columns[0], None
    if len(sparse_id_columns) > 1:
        _check_compatible(first, sparse_id_columns[1:])
        size = first.length
        shared_embedding_name = shared_embedding_name or _shared_name(sparse_id_columns)
    made = [_EmbeddingColumn(each, dimension, combiner, initializer, ckpt_to_load_from,
                             tensor_name_in_ckpt, shared_embedding_name, size, max_norm, trainable)
            for each in sparse_id_columns]
    return tuple(made) if len(made) > 1 else made


def _check_compatible(first: Any, others: Any) -> None:
    is_weighted = isinstance(first, _WeightedSparseColumn)
    for each in others:
        pair = (first, each) if is_weighted else (each, first)
        if not pair[0].is_compatible(pair[1]):
            raise ValueError(f"sparse_id_columns has {first.name!r} and {each.name!r}, whose "
                             "categories differ; expected the same.")


def _shared_name(columns: Sequence[Any]) -> str:
    plain = sorted(each for each in columns if isinstance(each, _SparseColumn))
    weighted = sorted((each for each in columns if each not in plain), key=lambda each: each.name)
    names = [each.name for each in (*plain, *weighted)]
    rest = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return f"{'_'.join(names[:3])}{rest}_shared_embedding"


def scattered_embedding_column(column_name: str, size: int, dimension: int, hash_key: int,
                               combiner: str = "mean", initializer: Any = None) -> Any:
    """Returns a column of embeddings whose numbers a hash chooses out of `size` numbers.

    Raises:
      ValueError: a size is less than 1, combiner is another, or initializer is no function.
    """
    if dimension < 1 or size < 1:
        raise ValueError("Dimension and size must be greater than 0, and are "
                         f"{(dimension, size)} (from column {column_name!r}).")
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum', and is "
                         f"{combiner!r} (from column {column_name!r}).")
    _check_initializer(initializer, column_name)
    return _ScatteredEmbeddingColumn(
        column_name, size, dimension, hash_key, combiner,
        initializer or tf.compat.v1.truncated_normal_initializer(0.0, 0.1))
