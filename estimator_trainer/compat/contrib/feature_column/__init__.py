<<<<<<< HEAD
"""`tf.contrib.feature_column`: columns of sequences, and the input layer that they had."""
=======
"""`tf.contrib.feature_column`: `tf.feature_column`, and the input layer of sequences."""
>>>>>>> 6266b64 (Recurrent Estimators, towers and exports of tf.contrib.estimator, readers, windows and ARRegressor of tf.contrib.timeseries answer as TensorFlow 1.15; canned Estimators take today's Keras optimizers)

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.feature_column.sequences"

<<<<<<< HEAD
NAMES = {name: f"{_HERE}.{name}" for name in (
    "concatenate_context_input", "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity", "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list", "sequence_input_layer",
    "sequence_numeric_column")}
=======
NAMES = {name: f"{_HERE}.{name}" for name in ("concatenate_context_input", "sequence_input_layer")}
MODULES = ("tf.feature_column",)
>>>>>>> 6266b64 (Recurrent Estimators, towers and exports of tf.contrib.estimator, readers, windows and ARRegressor of tf.contrib.timeseries answer as TensorFlow 1.15; canned Estimators take today's Keras optimizers)
