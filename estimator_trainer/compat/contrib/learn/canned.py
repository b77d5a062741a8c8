"""The canned Estimators of `tf.contrib.learn`.

Source: tensorflow/contrib/learn/python/learn/estimators of TensorFlow 1.15: dnn.py, linear.py,
dnn_linear_combined.py and logistic_regressor.py.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.learn import class_heads, heads, networks
from estimator_trainer.compat.contrib.learn.estimator import Estimator
from estimator_trainer.compat.contrib.learn.keys import (MetricKey, ModeKeys, PredictionKey,
                                                         ProblemType)
from estimator_trainer.compat.contrib.learn.metric_spec import MetricSpec
from estimator_trainer.compat.contrib.learn.model_fn import ModelFnOps


class _OneOutput(Estimator):
    """An Estimator whose `predict` returns one kind of predictions by default."""

    _feature_columns: Any
    _predicting: str  # The method of the predictions by default.

    def predict(self, x: Any = None, input_fn: Any = None, batch_size: Any = None,
                outputs: Any = None, as_iterable: bool = True,
                iterate_batches: bool = False) -> Any:
        """Returns the classes or numbers of examples, or the `outputs` as an Estimator does."""
        if not outputs:
            return getattr(self, self._predicting)(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)

    def _predict_one(self, key: str, x: Any, input_fn: Any, batch_size: Any,
                     as_iterable: bool) -> Any:
        found = Estimator.predict(self, x, input_fn, batch_size, [key], as_iterable)
        return (each[key] for each in found) if as_iterable else found[key]


class _Classifier(_OneOutput):
    _predicting = "predict_classes"

    def predict_classes(self, x: Any = None, input_fn: Any = None, batch_size: Any = None,
                        as_iterable: bool = True) -> Any:
        """Returns the classes of examples."""
        return self._predict_one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x: Any = None, input_fn: Any = None, batch_size: Any = None,
                      as_iterable: bool = True) -> Any:
        """Returns the probabilities of the classes of examples."""
        return self._predict_one(PredictionKey.PROBABILITIES, x, input_fn, batch_size,
                                 as_iterable)


class _Regressor(_OneOutput):
    _predicting = "predict_scores"

    def predict_scores(self, x: Any = None, input_fn: Any = None, batch_size: Any = None,
                       as_iterable: bool = True) -> Any:
        """Returns the numbers of examples."""
        return self._predict_one(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)


class _NumberMetrics(_Regressor):
    """A regressor whose metrics may be functions by names: they are of the numbers."""

    def _evaluate_model(self, input_fn: Any, steps: Any, feed_fn: Any = None, metrics: Any = None,
                        *args: Any, **kwargs: Any) -> Any:
        chosen = {key if isinstance(metric, MetricSpec) or isinstance(key, tuple)
                  else (key, PredictionKey.SCORES): metric
                  for key, metric in (metrics or {}).items()}
        return super()._evaluate_model(input_fn, steps, feed_fn, chosen, *args, **kwargs)


def _dnn_params(head: Any, hidden_units: Any, feature_columns: Any, optimizer: Any,
                activation_fn: Any, dropout: Any, gradient_clip_norm: Any, config: Any,
                embedding_lr_multipliers: Any, input_layer_min_slice_size: Any) -> dict[str, Any]:
    return {"head": head, "hidden_units": hidden_units, "feature_columns": tuple(feature_columns),
            "optimizer": optimizer, "activation_fn": activation_fn, "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
            "input_layer_partitioner": _partitioner(input_layer_min_slice_size, config)}


def _partitioner(min_slice_size: Any, config: Any) -> Any:
    if not min_slice_size:
        return None
    return tf.compat.v1.min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas if config else 0, min_slice_size=min_slice_size)


class DNNClassifier(_Classifier):
    """A network that finds a class of `n_classes`."""

    def __init__(self, hidden_units: Any, feature_columns: Any, model_dir: Any = None,
                 n_classes: int = 2, weight_column_name: Any = None, optimizer: Any = None,
                 activation_fn: Any = tf.nn.relu, dropout: Any = None,
                 gradient_clip_norm: Any = None, enable_centered_bias: bool = False,
                 config: Any = None, feature_engineering_fn: Any = None,
                 embedding_lr_multipliers: Any = None, input_layer_min_slice_size: Any = None,
                 label_keys: Any = None) -> None:
        head = class_heads.multi_class_head(
            n_classes, weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias, label_keys=label_keys)
        super().__init__(networks.dnn_model_fn, model_dir, config, _dnn_params(
            head, hidden_units, feature_columns or (), optimizer, activation_fn, dropout,
            gradient_clip_norm, config, embedding_lr_multipliers, input_layer_min_slice_size),
            feature_engineering_fn)


class DNNRegressor(_NumberMetrics):
    """A network that finds `label_dimension` numbers."""

    def __init__(self, hidden_units: Any, feature_columns: Any, model_dir: Any = None,
                 weight_column_name: Any = None, optimizer: Any = None,
                 activation_fn: Any = tf.nn.relu, dropout: Any = None,
                 gradient_clip_norm: Any = None, enable_centered_bias: bool = False,
                 config: Any = None, feature_engineering_fn: Any = None, label_dimension: int = 1,
                 embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None) -> None:
        head = heads.regression_head(
            label_dimension=label_dimension, weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias)
        super().__init__(networks.dnn_model_fn, model_dir, config, _dnn_params(
            head, hidden_units, feature_columns or (), optimizer, activation_fn, dropout,
            gradient_clip_norm, config, embedding_lr_multipliers, input_layer_min_slice_size),
            feature_engineering_fn)


class DNNEstimator(Estimator):
    """A network of any head."""

    def __init__(self, head: Any, hidden_units: Any, feature_columns: Any, model_dir: Any = None,
                 optimizer: Any = None, activation_fn: Any = tf.nn.relu, dropout: Any = None,
                 gradient_clip_norm: Any = None, config: Any = None,
                 feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None) -> None:
        super().__init__(networks.dnn_model_fn, model_dir, config, _dnn_params(
            head, hidden_units, feature_columns, optimizer, activation_fn, dropout,
            gradient_clip_norm, config, embedding_lr_multipliers, input_layer_min_slice_size),
            feature_engineering_fn)


def _linear_params(head: Any, feature_columns: Any, optimizer: Any, gradient_clip_norm: Any,
                   joint_weights: bool) -> dict[str, Any]:
    assert feature_columns, "feature_columns is empty; expected columns."
    return {"head": head, "feature_columns": tuple(feature_columns), "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm, "joint_weights": joint_weights}


class LinearClassifier(_Classifier):
    """A linear model that finds a class of `n_classes`."""

    def __init__(self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
                 weight_column_name: Any = None, optimizer: Any = None,
                 gradient_clip_norm: Any = None, enable_centered_bias: bool = False,
                 _joint_weight: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None, label_keys: Any = None) -> None:
        head = class_heads.multi_class_head(
            n_classes, weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias, label_keys=label_keys)
        super().__init__(networks.linear_model_fn, model_dir, config, _linear_params(
            head, feature_columns, optimizer, gradient_clip_norm, _joint_weight),
            feature_engineering_fn)


class LinearRegressor(_Regressor):
    """A linear model that finds `label_dimension` numbers."""

    def __init__(self, feature_columns: Any, model_dir: Any = None, weight_column_name: Any = None,
                 optimizer: Any = None, gradient_clip_norm: Any = None,
                 enable_centered_bias: bool = False, label_dimension: int = 1,
                 _joint_weights: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None) -> None:
        head = heads.regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias)
        super().__init__(networks.linear_model_fn, model_dir, config, _linear_params(
            head, feature_columns, optimizer, gradient_clip_norm, _joint_weights),
            feature_engineering_fn)


class LinearEstimator(Estimator):
    """A linear model of any head."""

    def __init__(self, feature_columns: Any, head: Any, model_dir: Any = None,
                 weight_column_name: Any = None, optimizer: Any = None,
                 gradient_clip_norm: Any = None, _joint_weights: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None) -> None:
        super().__init__(networks.linear_model_fn, model_dir, config, _linear_params(
            head, feature_columns, optimizer, gradient_clip_norm, _joint_weights),
            feature_engineering_fn)


def _combined_params(head: Any, linear: Any, deep: Any, activation_fn: Any, **others: Any) -> Any:
    if not linear and not deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return {"head": head, "linear_feature_columns": tuple(linear or ()),
            "dnn_feature_columns": tuple(deep or ()),
            "activation_fn": activation_fn or tf.nn.relu, **others}


class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and a network that find a class of `n_classes`."""

    def __init__(self, model_dir: Any = None, n_classes: int = 2, weight_column_name: Any = None,
                 linear_feature_columns: Any = None, linear_optimizer: Any = None,
                 _joint_linear_weights: bool = False, dnn_feature_columns: Any = None,
                 dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
                 dnn_activation_fn: Any = tf.nn.relu, dnn_dropout: Any = None,
                 gradient_clip_norm: Any = None, enable_centered_bias: bool = False,
                 config: Any = None, feature_engineering_fn: Any = None,
                 embedding_lr_multipliers: Any = None, input_layer_min_slice_size: Any = None,
                 label_keys: Any = None, fix_global_step_increment_bug: bool = False) -> None:
        head = class_heads.multi_class_head(
            n_classes, weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias, label_keys=label_keys)
        super().__init__(networks.combined_model_fn, model_dir, config, _combined_params(
            head, linear_feature_columns, dnn_feature_columns, dnn_activation_fn,
            linear_optimizer=linear_optimizer, joint_weights=_joint_linear_weights,
            dnn_optimizer=dnn_optimizer, hidden_units=dnn_hidden_units, dropout=dnn_dropout,
            gradient_clip_norm=gradient_clip_norm,
            embedding_lr_multipliers=embedding_lr_multipliers,
            input_layer_partitioner=_partitioner(input_layer_min_slice_size, config),
            fix_global_step_increment_bug=fix_global_step_increment_bug), feature_engineering_fn)


class DNNLinearCombinedRegressor(_NumberMetrics):
    """A linear model and a network that find `label_dimension` numbers."""

    def __init__(self, model_dir: Any = None, weight_column_name: Any = None,
                 linear_feature_columns: Any = None, linear_optimizer: Any = None,
                 _joint_linear_weights: bool = False, dnn_feature_columns: Any = None,
                 dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
                 dnn_activation_fn: Any = tf.nn.relu, dnn_dropout: Any = None,
                 gradient_clip_norm: Any = None, enable_centered_bias: bool = False,
                 label_dimension: int = 1, config: Any = None, feature_engineering_fn: Any = None,
                 embedding_lr_multipliers: Any = None, input_layer_min_slice_size: Any = None,
                 fix_global_step_increment_bug: bool = False) -> None:
        head = heads.regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias)
        super().__init__(networks.combined_model_fn, model_dir, config, _combined_params(
            head, linear_feature_columns, dnn_feature_columns, dnn_activation_fn,
            linear_optimizer=linear_optimizer, joint_weights=_joint_linear_weights,
            dnn_optimizer=dnn_optimizer, hidden_units=dnn_hidden_units, dropout=dnn_dropout,
            gradient_clip_norm=gradient_clip_norm,
            embedding_lr_multipliers=embedding_lr_multipliers,
            input_layer_partitioner=_partitioner(input_layer_min_slice_size, config),
            fix_global_step_increment_bug=fix_global_step_increment_bug), feature_engineering_fn)


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a network of any head."""

    def __init__(self, head: Any, model_dir: Any = None, linear_feature_columns: Any = None,
                 linear_optimizer: Any = None, _joint_linear_weights: bool = False,
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = None,
                 dnn_hidden_units: Any = None, dnn_activation_fn: Any = None,
                 dnn_dropout: Any = None, gradient_clip_norm: Any = None, config: Any = None,
                 feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
                 fix_global_step_increment_bug: bool = False,
                 input_layer_partitioner: Any = None) -> None:
        super().__init__(networks.combined_model_fn, model_dir, config, _combined_params(
            head, linear_feature_columns, dnn_feature_columns, dnn_activation_fn,
            linear_optimizer=linear_optimizer, joint_weights=_joint_linear_weights,
            dnn_optimizer=dnn_optimizer, hidden_units=dnn_hidden_units, dropout=dnn_dropout,
            gradient_clip_norm=gradient_clip_norm,
            embedding_lr_multipliers=embedding_lr_multipliers,
            input_layer_partitioner=input_layer_partitioner,
            fix_global_step_increment_bug=fix_global_step_increment_bug), feature_engineering_fn)


def LogisticRegressor(  # pylint: disable=invalid-name
        model_fn: Any, thresholds: Any = None, model_dir: Any = None, config: Any = None,
        feature_engineering_fn: Any = None) -> Estimator:
    """Returns an Estimator of a model_fn that returns probabilities, a loss and a train_op."""
    def with_metrics(features: Any, labels: Any, mode: str, params: Any) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = None
        if mode == ModeKeys.EVAL:
            metrics = _logistic_metrics(labels, predictions, params["thresholds"] or [.5])
        return ModelFnOps(mode, predictions, loss, train_op, metrics, output_alternatives={
            "head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})})

    return Estimator(with_metrics, model_dir, config, {"thresholds": thresholds},
                     feature_engineering_fn)


def _logistic_metrics(labels: Any, predictions: Any, thresholds: Any) -> dict[str, Any]:
    metrics = tf.compat.v1.metrics
    if isinstance(labels, dict) and len(labels) == 1:
        labels = next(iter(labels.values()))
    found = {MetricKey.PREDICTION_MEAN: metrics.mean(predictions),
             MetricKey.LABEL_MEAN: metrics.mean(labels),
             MetricKey.ACCURACY_BASELINE: metrics.mean(labels),
             MetricKey.AUC: metrics.auc(labels, predictions)}
    for each in thresholds:
        chosen = tf.cast(predictions >= each, tf.float32)
        found[MetricKey.ACCURACY_MEAN % each] = metrics.accuracy(labels, chosen)
        found[MetricKey.PRECISION_MEAN % each] = metrics.precision(labels, chosen)
        found[MetricKey.RECALL_MEAN % each] = metrics.recall(labels, chosen)
    return found
