"""Examples are parsed for feature columns of `tf.contrib.layers`.

Source: tensorflow/contrib/layers/python/layers/feature_column.py and feature_column_ops.py of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer.compat.contrib.layers import column_inputs
from estimator_trainer.compat.contrib.layers.columns import Features


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """Returns what `tf.parse_example` needs to read the features of columns.

    Args:
      feature_columns: Columns, or a dict of them.

    Raises:
      TypeError: a column is none of `tf.contrib.layers`.
    """
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    return {key: value for column in feature_columns
            for key, value in column_inputs.column_config(column).items()}


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """Returns placeholders of the features of columns, sparse or [batch, dimension]."""
    v1 = tf.compat.v1
    return {
        name: v1.sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
        if isinstance(feature, tf.io.VarLenFeature) else
        v1.placeholder(feature.dtype, (None, feature.shape[0]), f"Placeholder_{name}")
        for name, feature in create_feature_spec_for_parsing(feature_columns).items()}


def parse_feature_columns_from_examples(serialized: Any, feature_columns: Any, name: Any = None,
                                        example_names: Any = None) -> dict[Any, Any]:
    """Returns the features of Examples by name, and the columns' tensors by column.

    Args:
      serialized: [batch] strings.
      feature_columns: Columns of any kind.
      name: Name of the operations.
      example_names: [batch] strings, which errors mention.
    """
    column_inputs.check_feature_columns(feature_columns)
    tensors: dict[Any, Any] = tf.compat.v1.parse_example(
        serialized, create_feature_spec_for_parsing(feature_columns), name, example_names)
    for column in sorted(set(feature_columns), key=lambda each: each.key):
        Features(tensors).get(column)
    return tensors


def parse_feature_columns_from_sequence_examples(serialized: Any, context_feature_columns: Any,
                                                 sequence_feature_columns: Any, name: Any = None,
                                                 example_name: Any = None) -> Any:
    """Returns two dicts of features of one SequenceExample: of its context, and of its steps.

    Args:
      serialized: One string.
      context_feature_columns, sequence_feature_columns: Columns, or None.
      name: Name of the operations.
      example_name: A string, which errors mention.

    Raises:
      ValueError: serialized is more than one string.
    """
    context, sequence = context_feature_columns or [], sequence_feature_columns or []
    for columns in (context, sequence):
        column_inputs.check_feature_columns(columns)
    return tf.compat.v1.parse_single_sequence_example(
        tf.reshape(serialized, []), create_feature_spec_for_parsing(context),
        sequence_feature_spec(sequence), example_name, name)


def sequence_feature_spec(sequence_feature_columns: Any,
                          allow_missing_by_default: bool = False) -> dict[str, Any]:
    """Returns what `tf.parse_single_sequence_example` needs to read the features of steps."""
    return {key: _of_steps(key, feature, allow_missing_by_default)
            for key, feature in create_feature_spec_for_parsing(sequence_feature_columns).items()}


def _of_steps(key: str, feature: Any, allow_missing: bool) -> Any:
    if isinstance(feature, tf.io.VarLenFeature):
        return feature
    has_default = feature.default_value is not None
    if has_default:
        logging.warning("The default of feature %r is not used in sequences, where it may be "
                        "missing.", key)
    return tf.io.FixedLenSequenceFeature(feature.shape, feature.dtype,
                                         allow_missing=allow_missing or has_default)
