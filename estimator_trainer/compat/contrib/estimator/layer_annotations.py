"""Deep networks whose graph says, in collections, what their input layer reads and makes.

Definition: tensorflow_estimator/contrib/estimator/python/estimator/dnn_with_layer_annotations.py
of TensorFlow 1.15.
"""

from __future__ import annotations

import contextlib
import importlib
import pickle
from typing import Any, Iterator

import tensorflow as tf
from tensorflow.python.feature_column import feature_column

_V1: Any = tf.compat.v1
_Estimator: Any = tf.compat.v1.estimator.Estimator
_Columns: Any = feature_column
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


_Names = LayerAnnotationsCollectionNames


def _add(name: str, key: str, tensor: Any) -> None:
    info: Any = importlib.import_module("google.protobuf.any_pb2").Any()
    info.Pack(_V1.saved_model.build_tensor_info(tensor))
    _V1.add_to_collection(_Names.keys(name), key)
    _V1.add_to_collection(_Names.values(name), info)


@contextlib.contextmanager
def _annotations() -> Iterator[None]:
    """Annotates the input layers that are made inside."""
    original = _Columns._internal_input_layer

    def annotated(features: Any, feature_columns: Any, **options: Any) -> Any:
        outputs = options.pop("cols_to_output_tensors", None)
        outputs = {} if outputs is None else outputs
        layer = original(features, feature_columns, cols_to_output_tensors=outputs, **options)
        for key in _V1.feature_column.make_parse_example_spec(feature_columns):
            _add(_Names.UNPROCESSED_FEATURES, key,
                 _V1.convert_to_tensor_or_sparse_tensor(features[key]))
        for column in feature_columns:
            if "layer_creator" in getattr(column, "_fields", ()):
                column = column._replace(layer_creator=None)  # A function, which has no bytes.
            _V1.add_to_collection(_Names.FEATURE_COLUMNS, pickle.dumps(column))
        for column, tensor in outputs.items():
            _add(_Names.PROCESSED_FEATURES, column.name, tensor)
        return layer

    _Columns._internal_input_layer = annotated
    try:
        yield
    finally:
        _Columns._internal_input_layer = original


def _annotated(original: Any, model_dir: Any, config: Any, warm_start_from: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        with _annotations():
            return original.model_fn(features, labels, mode, config)

    return _Estimator(model_fn, model_dir, config, warm_start_from=warm_start_from)


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
