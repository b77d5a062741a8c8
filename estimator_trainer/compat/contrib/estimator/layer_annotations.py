"""Deep networks whose graph may say, in collections, what their input layer reads and makes.

TensorFlow 1.15 filled the collections for columns of an older kind alone, which `tf.feature_column`
does not make; they stay empty.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/dnn_with_layer_annotations.py
of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_V1: Any = tf.compat.v1
_Estimator: Any = tf.compat.v1.estimator.Estimator
_SUM = tf.compat.v1.losses.Reduction.SUM


class LayerAnnotationsCollectionNames:
    """Names of collections: `NAME/keys` and `NAME/values` for the first two."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name: str) -> str:
        """Returns the collection of the Tensors' keys."""
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name: str) -> str:
        """Returns the collection of the Tensors, as TensorInfo in Any."""
        return f"{collection_name}/values"


def _annotated(original: Any, model_dir: Any, config: Any, warm_start_from: Any) -> Any:
    return _Estimator(original.model_fn, model_dir, config, warm_start_from=warm_start_from)


def DNNClassifierWithLayerAnnotations(  # pylint: disable=invalid-name
        hidden_units: Any, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
        weight_column: Any = None, label_vocabulary: Any = None, optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu, dropout: Any = None, input_layer_partitioner: Any = None,
        config: Any = None, warm_start_from: Any = None, loss_reduction: str = _SUM) -> Any:
    """Returns a DNNClassifier with annotations; the arguments are the same."""
    return _annotated(_V1.estimator.DNNClassifier(
        hidden_units=hidden_units, feature_columns=feature_columns, model_dir=model_dir,
        n_classes=n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary,
        optimizer=optimizer, activation_fn=activation_fn, dropout=dropout,
        input_layer_partitioner=input_layer_partitioner, config=config,
        warm_start_from=warm_start_from, loss_reduction=loss_reduction),
        model_dir, config, warm_start_from)


def DNNRegressorWithLayerAnnotations(  # pylint: disable=invalid-name
        hidden_units: Any, feature_columns: Any, model_dir: Any = None, label_dimension: int = 1,
        weight_column: Any = None, optimizer: Any = "Adagrad", activation_fn: Any = tf.nn.relu,
        dropout: Any = None, input_layer_partitioner: Any = None, config: Any = None,
        warm_start_from: Any = None, loss_reduction: str = _SUM) -> Any:
    """Returns a DNNRegressor with annotations; the arguments are the same."""
    return _annotated(_V1.estimator.DNNRegressor(
        hidden_units=hidden_units, feature_columns=feature_columns, model_dir=model_dir,
        label_dimension=label_dimension, weight_column=weight_column, optimizer=optimizer,
        activation_fn=activation_fn, dropout=dropout,
        input_layer_partitioner=input_layer_partitioner, config=config,
        warm_start_from=warm_start_from, loss_reduction=loss_reduction),
        model_dir, config, warm_start_from)
