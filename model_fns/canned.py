"""TensorFlow's canned Estimators, by name, on any features.

`estimator` is one of DNNClassifier, LinearClassifier, DNNLinearCombinedClassifier and
BaselineClassifier, or of the same four as Regressors; without it the model is a DNNClassifier, or a
DNNRegressor if the label is no class.

The columns of a table are prepared as the data say (`model_fns/training/table.py`), and a label
that is a number is learned in units of its deviation (`model_fns/training/label_scale.py`). Other
features become feature columns: a number, or an array of numbers such as an image, is a numeric
column of its shape; a string is a categorical column of `hash_buckets`, embedded for the DNN part.
Such a number is standardised by its mean and deviation in `numeric_scale`, which `data_params`
fills if the input_fn knows them; `{"age": [0, 1]}` leaves all numbers unchanged. A classifier's
labels are int [batch], classes from 0; a regressor's are numbers [batch] or [batch,
label_dimension].

Units, optimizers and learning rates that are not set are those of `benchmarks/tables` for a table,
and otherwise those of the Estimators.

Source: https://www.tensorflow.org/api_docs/python/tf/estimator (Cheng et al., "TensorFlow
Estimators", arXiv:1708.02637).
"""

from __future__ import annotations

import difflib
from typing import Any

import tensorflow as tf

from model_fns.training import class_names, classifier, head, label_scale, numeric_scale, table
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **table.DEFAULT_PARAMS,
    **label_scale.DEFAULT_PARAMS,
    **class_names.DEFAULT_PARAMS,
    "estimator": "",  # DNN, Linear, DNNLinearCombined or Baseline, and Classifier or Regressor;
    # empty: DNNClassifier, or DNNRegressor if the label is no class
    "features": [],  # names of the features to use; empty: all
    "num_classes": 0,  # number of a classifier's classes; 0: from the data
    "label_dimension": 1,  # numbers in a regressor's label
    "numeric_scale": {},  # mean and deviation of each number: {"age": [38, 13]}; {}: from the data
    "hash_buckets": 1000,  # number of hash buckets of each string feature
    "hidden_units": [],  # units of each of the DNN's layers; []: [128, 64] for a table, or [64, 32]
    "embedding_size": 8,  # length of a string's embedding for the DNN
    "dropout": 0.0,  # probability that a unit of the DNN is left out of a training step
    "batch_norm": False,  # whether a batch norm follows each hidden layer
    "dnn_optimizer": "",  # Adagrad, Adam, Ftrl, RMSProp or SGD; empty: Adam for a table, or Adagrad
    "dnn_learning_rate": 0.0,  # for the mean loss of the batch; 0: 0.001 for a table, or 0.05
    "linear_optimizer": "",  # the same names; the baseline's too; empty: Adam for a table, or Ftrl
    "linear_learning_rate": 0.0,  # for the mean loss of the batch; 0: 0.005 for a table, or 0.1
}
DATA = "tables, and any other features"
LABELS = ("classes", "numbers")
FIRST_PARAMS = ("estimator", "hidden_units", "dnn_learning_rate", "dropout")
# A model_dir from before these params has features and labels as the input_fn yields them.
OLDER_PARAMS = {"prepare_columns": False, "label_scale": {"mean": 0, "deviation": 1}}
_OF_TABLES = {"hidden_units": [128, 64], "dnn_optimizer": "Adam", "dnn_learning_rate": 0.001,
              "linear_optimizer": "Adam", "linear_learning_rate": 0.005}
_OF_OTHERS = {"hidden_units": [64, 32], "dnn_optimizer": "Adagrad", "dnn_learning_rate": 0.05,
              "linear_optimizer": "Ftrl", "linear_learning_rate": 0.1}
_OPTIMIZERS = {"Adagrad": "Adagrad", "Adam": "Adam", "Ftrl": "Ftrl", "RMSProp": "RMSprop",
               "SGD": "SGD"}
_PARTS = ("Baseline", "DNN", "DNNLinearCombined", "Linear")
_KINDS = ("Classifier", "Regressor")


def model_fn(features: Any, labels: tf.Tensor | None, mode: str, params: dict[str, Any],
             config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
    """Builds the EstimatorSpec of the Estimator that the params name.

    Args:
      features: A dict of [batch, ...] tensors, or one tensor.
      labels: [batch], or [batch, label_dimension] for a regressor; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS.
      config: The RunConfig of the Estimator around this one.
    """
    features = features if isinstance(features, dict) else {"feature": features}
    is_table = table.is_prepared(params)
    unset = _OF_TABLES if is_table else _OF_OTHERS
    params = {**params, **{name: params[name] or unset[name] for name in unset}}
    if is_table:
        features, columns = _of_table(features, params)
    else:
        numeric_scale.check(params["numeric_scale"], features)
        columns = [_column(name, feature, params)
                   for name, feature in _used(features, params["features"]).items()]
    name = _name(params)
    scale = params["label_scale"] if name.endswith("Regressor") else {}
    return spec(_estimator(name, columns, params, config), features, labels, mode,
                {**params, "label_scale": scale})


def spec(estimator: tf.estimator.Estimator, features: dict[str, Any], labels: tf.Tensor | None,
         mode: str, params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Returns a canned Estimator's EstimatorSpec, with all predictions in the default signature.

    Labels that are numbers are scaled by the param `label_scale`, which is {} for classes; these
    have the names of `class_names`.
    """
    scale = params["label_scale"]
    is_scaled = label_scale.is_set(scale)
    learned = label_scale.scaled(labels, scale) if is_scaled and labels is not None else labels
    made = estimator.model_fn(features, learned, mode, estimator.config)
    return head.with_all_predictions(
        label_scale.spec(made, labels, scale) if is_scaled else made, params)


def optimizer(name: str, learning_rate: float) -> Any:
    """Returns the optimizer as a Keras optimizer, which canned Estimators expect.

    Raises:
      ParamError: The name is unknown.
    """
    if name not in _OPTIMIZERS:
        raise ParamError(f"optimizer is {name!r}; expected one of {', '.join(_OPTIMIZERS)}. For"
                         " example: --param dnn_optimizer=Adam")
    return getattr(tf.keras.optimizers.legacy, _OPTIMIZERS[name])(learning_rate)


def _used(features: dict[str, Any], names: list[str]) -> dict[str, Any]:
    unknown = set(names) - set(features)
    if unknown:
        raise ParamError(f"features is {names}, but there is no {', '.join(sorted(unknown))};"
                         f" expected some of {', '.join(sorted(features))}.")
    return {name: features[name] for name in names or sorted(features)}


def _name(params: dict[str, Any]) -> str:
    """Returns the Estimator's name; without one, the label decides.

    Raises:
      ParamError: There is no such Estimator.
    """
    name = str(params["estimator"]) or (
        "DNNRegressor" if params["num_classes"] == -1 else "DNNClassifier")
    known = [part + kind for part in _PARTS for kind in _KINDS]
    if name not in known:
        near = (difflib.get_close_matches(name, known, n=1) or ["LinearClassifier"])[0]
        raise ParamError(f"estimator is {name!r}; expected one of {', '.join(known)}. For"
                         f" example: --param estimator={near}")
    return name


def _of_table(features: dict[str, Any], params: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Returns a table's prepared features, and their columns."""
    used = _used(params["table_columns"], params["features"])
    made = table.prepared(features, used, params["hash_buckets"])
    return made.features(), [made.number_column(), *made.category_columns()]


def _estimator(name: str, columns: list[Any], params: dict[str, Any],
               config: tf.estimator.RunConfig) -> tf.estimator.Estimator:
    if name.endswith("Classifier"):
        other = f"--param estimator={name.removesuffix('Classifier')}Regressor"
        output = {"n_classes": classifier.num_classes(params, other)}
    else:
        output = {"label_dimension": params["label_dimension"]}
    return getattr(tf.estimator, name)(config=config, **output, **_parts(name, columns, params))


def _parts(name: str, columns: list[Any], params: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments for the Estimator's linear and DNN parts, by name."""
    linear = {"optimizer": optimizer(params["linear_optimizer"], params["linear_learning_rate"])}
    if name.startswith("Baseline"):
        return linear
    linear["feature_columns"] = columns
    if name.startswith("Linear"):
        return linear
    dnn = {"optimizer": optimizer(params["dnn_optimizer"], params["dnn_learning_rate"]),
           "feature_columns": [_dense(column, params) for column in linear["feature_columns"]]}
    common = {"dropout": params["dropout"] or None, "batch_norm": params["batch_norm"]}
    if name.startswith("DNNLinear"):
        return {**{f"dnn_{key}": value for key, value in dnn.items()},
                **{f"linear_{key}": value for key, value in linear.items()},
                "dnn_hidden_units": params["hidden_units"], "dnn_dropout": common["dropout"],
                "batch_norm": common["batch_norm"]}
    return {**dnn, **common, "hidden_units": params["hidden_units"]}


def _column(name: str, feature: Any, params: dict[str, Any]) -> Any:
    if feature.dtype == tf.string:
        return tf.feature_column.categorical_column_with_hash_bucket(name, params["hash_buckets"])
    return numeric_scale.column(name, params["numeric_scale"],
                                tuple(feature.shape.as_list()[1:]) or (1,))


def _dense(column: Any, params: dict[str, Any]) -> Any:
    is_categorical = hasattr(column, "num_buckets")
    if not is_categorical:
        return column
    return tf.feature_column.embedding_column(column, params["embedding_size"])
