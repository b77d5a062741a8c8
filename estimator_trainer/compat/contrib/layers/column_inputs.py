"""Models get inputs of networks, and linear sums, of feature columns of `tf.contrib.layers`.

Columns are taken in the order of their keys. Variables are called `SCOPE/COLUMN/weights`, or
`SCOPE/COLUMN/weight` for numbers in a sum, and `SCOPE/bias_weight`.

Source: tensorflow/contrib/layers/python/layers/feature_column_ops.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Iterable

import tensorflow as tf

from estimator_trainer.compat.contrib.layers import (embedding_columns as deep,
                                                     numeric_columns as numeric)
from estimator_trainer.compat.contrib.layers.columns import (_FeatureColumn, _WeightedSparseColumn,
                                                             Features, flatten, model_variable,
                                                             with_rank)
from estimator_trainer.compat.contrib.layers.embeddings import safe_embedding_lookup_sparse


def check_feature_columns(feature_columns: Any) -> None:
    """Raises a ValueError where columns are in a dict, or two have one key."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(f"Duplicate feature column key found for column: {column.name}.")
        seen.add(column.key)


def _sorted(feature_columns: Iterable[Any]) -> list[Any]:
    check_feature_columns(feature_columns)
    return sorted(set(feature_columns), key=lambda column: column.key)


def _collections(weight_collections: Any) -> Any:
    if not weight_collections:
        return weight_collections
    return list({*weight_collections, tf.compat.v1.GraphKeys.GLOBAL_VARIABLES})


def _column_scope(column: Any, tensors: dict[Any, Any]) -> Any:
    return tf.compat.v1.variable_scope(None, column.name, list(tensors.values()))


def input_from_feature_columns(columns_to_tensors: Any, feature_columns: Any,
                               weight_collections: Any = None, trainable: bool = True,
                               scope: Any = None, cols_to_outs: Any = None) -> Any:
    """Returns the columns' values side by side.

    Args:
      columns_to_tensors: Features by name.
      feature_columns: Real-valued, bucketized, one-hot, embedding and scattered columns.
      weight_collections: Collections of the variables, beside the usual ones.
      trainable: Whether embeddings are trained.
      scope: Name of the variable scope, `input_from_feature_columns` by default.
      cols_to_outs: A dict that gets each column's own values.

    Returns:
      [batch, values] float32.

    Raises:
      ValueError: a column cannot be an input, or is there twice, or cols_to_outs is no dict.
    """
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError(f"cols_to_outs is {cols_to_outs!r}; expected a dict.")
    return _inputs(columns_to_tensors, feature_columns, weight_collections, trainable,
                   (scope, "input_from_feature_columns"), 2, cols_to_outs)


def sequence_input_from_feature_columns(columns_to_tensors: Any, feature_columns: Any,
                                        weight_collections: Any = None, trainable: bool = True,
                                        scope: Any = None) -> Any:
    """Returns the values of columns of sequences side by side.

    Args:
      columns_to_tensors: Features by name, [batch, time, ...].
      feature_columns: Real-valued, one-hot and embedding columns.
      weight_collections, trainable, scope: As in `input_from_feature_columns`.

    Returns:
      [batch, time, values] float32.

    Raises:
      ValueError: a column, or one that it is made of, cannot be of sequences.
    """
    for column in feature_columns:
        _check_sequence(column)
    return _inputs(columns_to_tensors, feature_columns, weight_collections, trainable,
                   (scope, "sequence_input_from_feature_columns"), 3)


def _check_sequence(column: Any) -> None:
    allowed = (getattr(deep, "_OneHotColumn"), getattr(deep, "_EmbeddingColumn"),
               getattr(numeric, "_Numbers"))
    ids = getattr(column, "sparse_id_column", None)
    ids = ids.sparse_id_column if isinstance(ids, _WeightedSparseColumn) else ids
    if not isinstance(column, allowed):
        raise ValueError(f"FeatureColumn type {type(column).__name__} is not currently supported "
                         f"for sequence data (from column {column.name!r}).")
    if isinstance(ids, getattr(numeric, "_CrossedColumn")):
        raise ValueError(f"Column {ids.name} is of type _CrossedColumn, which is not currently "
                         "supported for sequences.")


def _inputs(columns_to_tensors: Any, feature_columns: Any, weight_collections: Any,
            trainable: bool, scope: Any, output_rank: int, outputs: Any = None) -> Any:
    tensors, made = dict(columns_to_tensors), {}
    columns = _sorted(feature_columns)
    collections = _collections(weight_collections)
    with tf.compat.v1.variable_scope(*scope, list(tensors.values())):
        for column in columns:
            with _column_scope(column, tensors):
                made[column] = _input(column, _transformed(column, tensors, output_rank),
                                      collections, trainable, output_rank)
        if outputs is not None:
            outputs.update(made)
        return tf.concat(list(made.values()), output_rank - 1)


def _transformed(column: Any, tensors: dict[Any, Any], output_rank: int) -> Any:
    tensor = Features(tensors).get(column)
    if output_rank == 2:
        return tensor
    if isinstance(tensor, tuple):
        return tuple(_with_rank(each, output_rank, column.name) for each in tensor)
    return _with_rank(tensor, output_rank, column.name)


def _with_rank(tensor: Any, rank: int, column_name: str) -> Any:
    if not isinstance(tensor, tf.sparse.SparseTensor):
        if tensor.shape.ndims is None:
            raise ValueError(f"Error while processing column {column_name!r}: Rank of input Tensor "
                             "can not be None.")
        return with_rank(tensor, rank, column_name)
    known = tensor.dense_shape.shape.as_list()[0]
    if known is None or rank > known + 1:
        raise ValueError(f"Error while processing column {column_name!r}: Rank of input Tensor "
                         f"({known}) should be the same as output_rank ({rank}).")
    if rank == known + 1:
        return tf.sparse.reshape(tensor, tf.concat([tensor.dense_shape, [1]], 0))
    return flatten(tensor, rank) if rank < known else tensor


def _input(column: Any, tensor: Any, collections: Any, trainable: bool, output_rank: int) -> Any:
    wanted = getattr(column, "_deep_lookup")(tensor)
    if wanted is not None:
        return deep.look_up(column, wanted, collections, trainable, output_rank)
    make = getattr(column, "_to_dnn_input_layer")
    try:
        return make(tensor, collections, trainable, output_rank=output_rank)
    except ValueError as error:
        raise ValueError(f"Error creating input layer for column: {column.name}.\n"
                         f"{error}") from error


def weighted_sum_from_feature_columns(columns_to_tensors: Any, feature_columns: Any,
                                      num_outputs: int, weight_collections: Any = None,
                                      trainable: bool = True, scope: Any = None) -> Any:
    """Returns the outputs of a linear model, of which each column has its own weights.

    Args:
      columns_to_tensors: Features by name.
      feature_columns: Sparse, weighted, crossed, bucketized and real-valued columns.
      num_outputs: How many sums.
      weight_collections: Collections of the variables, beside the usual ones.
      trainable: Whether the weights are trained.
      scope: Name of the variable scope, `weighted_sum_from_feature_columns` by default.

    Returns:
      [batch, num_outputs] float32, the variables of each column, and the bias.

    Raises:
      ValueError: a column is an embedding, or is there twice.
    """
    tensors, sums, variables = dict(columns_to_tensors), [], {}
    columns = _sorted(feature_columns)
    with tf.compat.v1.variable_scope(scope, "weighted_sum_from_feature_columns",
                                     list(tensors.values())):
        for column in columns:
            tensor = Features(tensors).get(column)
            wanted = _wide(column, tensor)
            with _column_scope(column, tensors):
                made = (_product(column, tensor, num_outputs, weight_collections, trainable)
                        if wanted is None else
                        _looked_up(wanted, num_outputs, weight_collections, trainable,
                                   f"{column.name}_weights"))
            variables[column] = made[0]
            sums.append(tf.reshape(made[1], [-1, num_outputs]))
            deep.restore(getattr(column, "_checkpoint_path")(), made[0])
        return _with_bias(tf.add_n(sums), variables, num_outputs, weight_collections, trainable)


def joint_weighted_sum_from_feature_columns(columns_to_tensors: Any, feature_columns: Any,
                                            num_outputs: int, weight_collections: Any = None,
                                            trainable: bool = True, scope: Any = None) -> Any:
    """Returns the outputs of a linear model whose columns share one variable of weights.

    Args:
      columns_to_tensors, num_outputs, weight_collections, trainable, scope: As in
        `weighted_sum_from_feature_columns`.
      feature_columns: Sparse, crossed and bucketized columns, whose combiner is "sum".

    Returns:
      [batch, num_outputs] float32, the variables, and the bias.

    Raises:
      NotImplementedError: a column is real-valued.
      AssertionError: a column has weights, or another combiner.
    """
    tensors, wanted = dict(columns_to_tensors), []
    columns = _sorted(feature_columns)
    with tf.compat.v1.variable_scope(scope, "joint_weighted_sum_from_feature_columns",
                                     list(tensors.values())):
        for column in columns:
            wanted.append(_wide(column, Features(tensors).get(column)))
            if wanted[-1] is None:
                raise NotImplementedError(f"Column {column.name!r} is real-valued; expected a "
                                          "bucketized_column of it.")
        joint = _joint(wanted)
        with tf.compat.v1.variable_scope(None, "linear_weights", list(tensors.values())):
            variables, sums = _looked_up(joint, num_outputs, weight_collections, trainable,
                                         "_weights")
        return _with_bias(sums, variables, num_outputs, weight_collections, trainable)


def _joint(wanted: Any) -> Any:
    assert wanted, "feature_columns is empty; expected a column."
    assert all(each.weight_tensor is None and each.combiner == "sum" for each in wanted), (
        "feature_columns has a column with weights, or with another combiner than 'sum'; "
        "expected neither in a joint sum.")
    before, parts = 0, []
    for each in wanted:
        ids = each.input_tensor
        parts.append(tf.sparse.SparseTensor(ids.indices, ids.values + before, ids.dense_shape))
        before += each.vocab_size
    return wanted[0]._replace(input_tensor=tf.sparse.concat(1, parts), vocab_size=before)


def _wide(column: Any, tensor: Any) -> Any:
    try:
        return getattr(column, "_wide_embedding_lookup_arguments")(tensor)
    except ValueError as error:
        raise ValueError(f"Error creating weighted sum for column: {column.name}.\n"
                         f"{error}") from error


def _looked_up(wanted: Any, num_outputs: int, collections: Any, trainable: bool, name: str) -> Any:
    weights = deep.partitions(model_variable(
        "weights", shape=[wanted.vocab_size, num_outputs], dtype=tf.float32,
        initializer=wanted.initializer, trainable=trainable, collections=collections))
    return weights, safe_embedding_lookup_sparse(weights, wanted.input_tensor, wanted.weight_tensor,
                                                 wanted.combiner, name=name)


def _product(column: Any, tensor: Any, num_outputs: int, collections: Any,
             trainable: bool) -> Any:
    tensor = _with_rank(getattr(column, "_to_dense_tensor")(tensor), 2, column.name)
    weight = model_variable(
        "weight", shape=[tensor.shape.as_list()[1], num_outputs],
        initializer=tf.compat.v1.zeros_initializer(), trainable=trainable, collections=collections)
    return [weight], tf.matmul(tensor, weight)


def _with_bias(sums: Any, weights: Any, num_outputs: int, weight_collections: Any,
               trainable: bool) -> Any:
    bias = model_variable(
        "bias_weight", shape=[num_outputs], initializer=tf.compat.v1.zeros_initializer(),
        trainable=trainable, collections=_collections(weight_collections))
    return tf.nn.bias_add(sums, bias), weights, bias


def transform_features(features: Any, feature_columns: Any) -> dict[Any, Any]:
    """Returns the tensors of columns, by column.

    Args:
      features: Features by name.
      feature_columns: Columns of any kind.
    """
    tensors = dict(features)
    for column in _sorted(feature_columns):
        Features(tensors).get(column)
    return {key: value for key, value in tensors.items() if key in feature_columns}


def infer_real_valued_columns(features: Any) -> list[Any]:
    """Returns a real-valued column for each feature, or for the one tensor.

    Raises:
      ValueError: a feature is sparse, or no number.
    """
    if not isinstance(features, dict):
        return [_inferred("", features)]
    return [_inferred(name, tensor) for name, tensor in features.items()]


def _inferred(name: str, tensor: Any) -> Any:
    if isinstance(tensor, tf.sparse.SparseTensor) or not (
            tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(f"Feature {name!r} is {tensor} (from infer_real_valued_columns); "
                         "expected a dense tensor of numbers, for columns of non integer or non "
                         "floating types are not supported.")
    dimension = 1
    for size in tensor.shape.as_list()[1:]:
        dimension *= size
    return numeric.real_valued_column(name, dimension, dtype=tensor.dtype)


def column_config(column: Any) -> dict[str, Any]:
    """Returns what a column reads of an Example.

    Raises:
      TypeError: column is none of `tf.contrib.layers`.
    """
    if not isinstance(column, _FeatureColumn):
        raise TypeError(f"feature_columns has {column!r}; expected columns of tf.contrib.layers.")
    return dict(column.config)
