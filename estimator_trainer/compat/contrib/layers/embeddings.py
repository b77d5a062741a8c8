"""Embeddings of sparse ids, of unique ids, and of values that are hashed into one vector.

Source: tensorflow/contrib/layers/python/layers/embedding_ops.py of TensorFlow 1.15. Scattered
embeddings: Chen et al., "Compressing Neural Networks with the Hashing Trick", ICML 2015.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.layers.crosses import sparse_feature_cross

# Values for examples without one.
_NO_STRING, _NO_NUMBER = "6ZxWzWOHxZ", 1288896567


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any,
                                 sparse_weights: Any = None, combiner: Any = None,
                                 default_id: Any = None, name: Any = None,
                                 partition_strategy: str = "div", max_norm: Any = None) -> Any:
    """Looks up sparse ids; ids below 0 and weights that are not positive count as missing.

    Args:
      embedding_weights: The embeddings, or a list of their partitions.
      sparse_ids: SparseTensor [d1, ..., n] of int64.
      sparse_weights: SparseTensor of floats, one for each id.
      combiner: "mean" (None too), "sqrtn" or "sum".
      default_id: The id of an example without ids; None for zeros.
      name: Name of the operations.
      partition_strategy: "div" or "mod".
      max_norm: The norm to which an embedding is clipped.

    Returns:
      [d1, ..., size] of the embeddings' type.

    Raises:
      ValueError: embedding_weights is empty, or types differ.
    """
    if embedding_weights is None or isinstance(embedding_weights, (list, tuple)) and (
            not embedding_weights):
        raise ValueError(f"embedding_weights is {embedding_weights!r} (from "
                         "safe_embedding_lookup_sparse); expected embeddings.")
    weights = [each if hasattr(each, "op") else tf.convert_to_tensor(each)
               for each in _partitions(embedding_weights)]
    tf.debugging.assert_same_float_dtype(
        weights if sparse_weights is None else [*weights, sparse_weights])
    return tf.compat.v1.nn.safe_embedding_lookup_sparse(
        weights, sparse_ids, sparse_weights, combiner or "mean", default_id, name,
        partition_strategy, max_norm)


def embedding_lookup_sparse_with_distributed_aggregation(
        params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod",
        name: Any = None, combiner: Any = None, max_norm: Any = None) -> Any:
    """Is `tf.nn.embedding_lookup_sparse`; each partition's rows are gathered where it is."""
    return tf.compat.v1.nn.embedding_lookup_sparse(
        params, sp_ids, sp_weights, partition_strategy, name, combiner or "mean", max_norm)


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod",
                            name: Any = None) -> Any:
    """Looks up each id of a batch once, however often it is there.

    Args:
      params: The embeddings, or a list of their partitions.
      ids: Tensor of integers of any shape.
      partition_strategy: "div" or "mod".
      name: Name of the operations.

    Returns:
      A tensor of the shape of ids and that of an embedding.
    """
    with tf.compat.v1.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        each, where = tf.unique(tf.reshape(ids, tf.reduce_prod(shape, keepdims=True)))
        rows = tf.compat.v1.nn.embedding_lookup(params, each, partition_strategy)
        found = tf.reshape(tf.gather(rows, where), tf.concat([shape, tf.shape(rows)[1:]], 0))
        found.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return found


def scattered_embedding_lookup(params: Any, values: Any, dimension: Any, name: Any = None,
                               hash_key: Any = None) -> Any:
    """Makes embeddings of numbers that each value's hash chooses out of one vector.

    Args:
      params: [n] floats, or a list of such partitions, of which none is longer than another by
        more than 1.
      values: Tensor of strings or integers of any shape.
      dimension: Size of an embedding.
      name: Name of the operations.
      hash_key: The key of the hash.

    Returns:
      A tensor of the shape of values, and dimension.

    Raises:
      ValueError: dimension is missing, or partitions are of other sizes.
    """
    if not dimension or dimension < 0:
        raise ValueError(f"dimension is {dimension!r} (from scattered_embedding_lookup); expected "
                         "a positive number.")
    params = _partitions(params)
    with tf.compat.v1.name_scope(name, "scattered_embedding_lookup", params + [dimension, values]):
        shape = tf.shape(values)
        values = tf.reshape(values, [-1, 1])
        numbers = tf.tile(tf.expand_dims(tf.range(dimension), 0), tf.shape(values))
        ids = sparse_feature_cross([numbers, values], hashed_output=True,
                                   num_buckets=_total(params), hash_key=hash_key)
        rows = tf.compat.v1.nn.embedding_lookup(params, tf.sparse.to_dense(ids), "div")
        return tf.reshape(rows, tf.concat([shape, [dimension]], 0))


def _partitions(params: Any) -> list[Any]:
    if hasattr(params, "_get_variable_list"):
        return list(params)
    return list(params) if isinstance(params, (list, tuple)) else [params]


def _total(params: list[Any]) -> int:
    """Returns how many numbers the partitions have, which are to be split evenly."""
    for each in params:
        each.shape.assert_has_rank(1)
        each.shape.assert_is_fully_defined()
    sizes = [each.shape.as_list()[0] for each in params]
    expected = [(sum(sizes) - number - 1) // len(sizes) + 1 for number in range(len(sizes))]
    if sizes != expected:
        raise ValueError(f"params has partitions of {sizes} numbers (from "
                         f"scattered_embedding_lookup); expected {expected}.")
    return sum(sizes)


def scattered_embedding_lookup_sparse(params: Any, sparse_values: Any, dimension: Any,
                                      combiner: Any = None, default_value: Any = None,
                                      name: Any = None, hash_key: Any = None) -> Any:
    """Combines the scattered embeddings of an example's values.

    Args:
      params: As in `scattered_embedding_lookup`.
      sparse_values: SparseTensor [batch, n] of strings or integers.
      dimension: Size of an embedding.
      combiner: "mean" (None too), "sqrtn" or "sum".
      default_value: The value of an example without values.
      name: Name of the operations.
      hash_key: The key of the hash.

    Returns:
      [batch, dimension] floats.

    Raises:
      TypeError: sparse_values is no SparseTensor.
      ValueError: combiner is another.
    """
    if not isinstance(sparse_values, tf.sparse.SparseTensor):
        raise TypeError(f"sparse_values is {sparse_values!r} (from "
                        "scattered_embedding_lookup_sparse); expected a SparseTensor.")
    combine = {"sum": tf.compat.v1.sparse_segment_sum, "mean": tf.compat.v1.sparse_segment_mean,
               "sqrtn": tf.compat.v1.sparse_segment_sqrt_n}.get(combiner or "mean")
    if combine is None:
        raise ValueError(f"combiner is {combiner!r} (from scattered_embedding_lookup_sparse); "
                         "expected 'mean', 'sqrtn' or 'sum'.")
    with tf.compat.v1.name_scope(name, "scattered_embedding_lookup_sparse",
                                 _partitions(params) + [sparse_values]):
        if default_value is None:
            default_value = _NO_STRING if sparse_values.dtype == tf.string else _NO_NUMBER
        filled, _ = tf.sparse.fill_empty_rows(sparse_values, default_value)
        each, where = tf.unique(filled.values)
        rows = scattered_embedding_lookup(params, each, dimension, hash_key=hash_key)
        return combine(rows, where, tf.cast(filled.indices[:, 0], tf.int32))
