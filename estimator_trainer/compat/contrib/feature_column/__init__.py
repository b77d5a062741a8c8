"""`tf.contrib.feature_column`: columns of sequences, and the input layer that they had."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.feature_column.sequences"

NAMES = {name: f"{_HERE}.{name}" for name in (
    "concatenate_context_input", "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity", "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list", "sequence_input_layer",
    "sequence_numeric_column")}
