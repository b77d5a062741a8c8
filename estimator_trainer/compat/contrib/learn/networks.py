"""The model_fns of the canned Estimators of `tf.contrib.learn`.

Variables are called `dnn/hiddenlayer_0/weights`, `dnn/input_from_feature_columns/...`,
`dnn/logits/...` and `linear/COLUMN/weight...`, `linear/bias_weight`.

Source: tensorflow/contrib/learn/python/learn/estimators of TensorFlow 1.15: dnn.py, linear.py and
dnn_linear_combined.py. The combined model: Cheng et al., "Wide & Deep Learning for Recommender
Systems", 2016.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf
from tensorflow.python.feature_column import feature_column as core

from estimator_trainer.compat.contrib.layers import column_inputs
from estimator_trainer.compat.contrib.layers.columns import _FeatureColumn
from estimator_trainer.compat.contrib.learn.keys import ModeKeys
from estimator_trainer.compat.tensorflow1 import homes

_DNN_RATE, _LINEAR_RATE, _SLICE = .05, .2, 64 << 20
_ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh, "sigmoid": tf.nn.sigmoid}


def _slim(name: str) -> Any:
    return homes.resolve(f"tf_slim.{name}")


def _by_name(features: Any) -> dict[str, Any]:
    return features if isinstance(features, dict) else {"": features}


def _partitioner(config: Any, min_slice_size: int = 256 << 10) -> Any:
    return tf.compat.v1.min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas if config else 0, min_slice_size=min_slice_size)


def _summarize(value: Any, tag: str, separator: str) -> None:
    summary = tf.compat.v1.summary
    summary.scalar(f"{tag}{separator}fraction_of_zero_values", tf.nn.zero_fraction(value))
    summary.histogram(f"{tag}{separator}activation", value)


def _activation(name: Any) -> Any:
    if not isinstance(name, str):
        return name
    if name not in _ACTIVATIONS:
        raise ValueError(f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you "
                         f"provided {name}.")
    return _ACTIVATIONS[name]


def _are_old(columns: Any) -> bool:
    return all(isinstance(column, _FeatureColumn) for column in columns)


def _dnn_scope(config: Any) -> Any:
    return tf.compat.v1.variable_scope("dnn", partitioner=_partitioner(config))


def _linear_scope(config: Any) -> Any:
    return tf.compat.v1.variable_scope("linear", partitioner=_partitioner(config, _SLICE))


def _dnn_logits(head: Any, features: Any, columns: Any, mode: str, config: Any, params: Any,
                separator: str) -> tuple[Any, str]:
    """Returns the logits of hidden layers, and the scope of their input."""
    v1, collections = tf.compat.v1, ["dnn"]
    partitioner = params["input_layer_partitioner"] or _partitioner(config, _SLICE)
    with v1.variable_scope("input_from_feature_columns", partitioner=partitioner) as scope:
        net = (column_inputs.input_from_feature_columns(features, columns, collections, scope=scope)
               if _are_old(columns) else core.input_layer(features, columns, collections))
    for number, units in enumerate(params["hidden_units"]):
        with v1.variable_scope(f"hiddenlayer_{number}") as layer:
            net = _slim("fully_connected")(
                net, units, activation_fn=params["activation_fn"],
                variables_collections=collections, scope=layer)
            if params["dropout"] is not None and mode == ModeKeys.TRAIN:
                net = _slim("dropout")(net, keep_prob=1 - params["dropout"])
        _summarize(net, layer.name, separator)
    with v1.variable_scope("logits") as layer:
        logits = _slim("fully_connected")(
            net, head.logits_dimension, activation_fn=None, variables_collections=collections,
            scope=layer)
    _summarize(logits, layer.name, separator)
    return logits, scope.name


def _linear_logits(head: Any, features: Any, columns: Any, joint: bool, scope: Any) -> Any:
    if not _are_old(columns):
        return core.linear_model(features, columns, head.logits_dimension,
                                 weight_collections=["linear"])
    add_up = (column_inputs.joint_weighted_sum_from_feature_columns if joint else
              column_inputs.weighted_sum_from_feature_columns)
    return add_up(features, columns, head.logits_dimension, ["linear"], scope=scope)[0]


def _multipliers(passed: Any, scope: str) -> Any:
    """Returns multipliers of gradients by variable, of those passed by embedding column."""
    found: dict[Any, float] = {}
    for column, multiplier in (passed or {}).items():
        if not getattr(column, "_deep_lookup", None) or not hasattr(column, "sparse_id_column"):
            raise ValueError("learning rate multipler can only be defined for embedding columns. "
                             f"It is defined for {column}")
        variables = tf.compat.v1.get_collection("dnn", f"{scope}/{column.name}")
        if not variables:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found.update((variable, multiplier) for variable in variables)
    return found or None


def _called(optimizer: Any) -> Any:
    return optimizer() if callable(optimizer) else optimizer


def dnn_model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any = None) -> Any:
    """A network of hidden layers; params as `canned.DNNEstimator` has them."""
    head, features = params["head"], _by_name(features)
    params = {**params, "activation_fn": _activation(params["activation_fn"])}
    scope = ""

    def train_op_fn(loss: Any) -> Any:
        return _slim("layers.optimizers.optimize_loss")(
            loss=loss, global_step=tf.compat.v1.train.get_global_step(), learning_rate=_DNN_RATE,
            optimizer=_called(params["optimizer"] or "Adagrad"), name="dnn", summaries=[],
            gradient_multipliers=_multipliers(params["embedding_lr_multipliers"], scope),
            clip_gradients=params["gradient_clip_norm"])

    with _dnn_scope(config):
        logits, scope = _dnn_logits(head, features, params["feature_columns"], mode, config,
                                    params, "_")
        return head.create_model_fn_ops(features=features, mode=mode, labels=labels,
                                        train_op_fn=train_op_fn, logits=logits)


def linear_model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any = None) -> Any:
    """A linear model; params as `canned.LinearEstimator` has them."""
    v1, head, features = tf.compat.v1, params["head"], _by_name(features)
    columns = params["feature_columns"]

    def train_op_fn(loss: Any) -> Any:
        variables = v1.get_collection("linear")
        gradients = tf.compat.v1.gradients(loss, variables)
        if params["gradient_clip_norm"]:
            gradients, _ = tf.clip_by_global_norm(gradients, params["gradient_clip_norm"])
        return _linear_optimizer(params["optimizer"], len(columns)).apply_gradients(
            zip(gradients, variables), v1.train.get_global_step())

    with _linear_scope(config) as scope:
        logits = _linear_logits(head, features, columns, params["joint_weights"], scope)
        return head.create_model_fn_ops(features=features, mode=mode, labels=labels,
                                        train_op_fn=train_op_fn, logits=logits)


def _linear_rate(columns: int) -> float:
    return min(_LINEAR_RATE, 1 / math.sqrt(columns))


def _linear_optimizer(passed: Any, columns: int) -> Any:
    if not passed:
        return tf.compat.v1.train.FtrlOptimizer(_linear_rate(columns))
    if isinstance(passed, str):
        return _slim("OPTIMIZER_CLS_NAMES")[passed](learning_rate=_LINEAR_RATE)
    return _called(passed)


def _two_optimizers(params: Any) -> dict[str, Any]:
    optimizers = {"dnn": _called(params["dnn_optimizer"] or "Adagrad"),
                  "linear": _called(params["linear_optimizer"] or "Ftrl")}
    for optimizer in optimizers.values():
        if isinstance(optimizer, tf.compat.v1.train.SyncReplicasOptimizer):
            raise ValueError("SyncReplicasOptimizer is not supported in DNNLinearCombined model.")
    return optimizers


def combined_model_fn(features: Any, labels: Any, mode: str, params: Any,
                      config: Any = None) -> Any:
    """A linear model and a network, added; params as `canned.DNNLinearCombinedEstimator`."""
    head, features = params["head"], _by_name(features)
    linear, deep = params["linear_feature_columns"], params["dnn_feature_columns"]
    optimizers = _two_optimizers(params)
    parts, deep_scope = [], ""
    if deep:
        if not params["hidden_units"]:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is "
                             "specified.")
        with _dnn_scope(config):
            logits, deep_scope = _dnn_logits(head, features, deep, mode, config, params, "/")
        parts.append(logits)
    if linear:
        with _linear_scope(config) as scope:
            parts.append(_linear_logits(head, features, linear, params["joint_weights"], scope))
            _summarize(parts[-1], scope.name, "/")

    def train_op_fn(loss: Any) -> Any:
        v1, step, ops = tf.compat.v1, tf.compat.v1.train.get_global_step(), []
        fixed = params["fix_global_step_increment_bug"]
        rates = {"dnn": _DNN_RATE if deep else None,
                 "linear": _linear_rate(len(linear)) if linear else None}
        for name, rate in rates.items():
            if rate is not None:
                multipliers = (_multipliers(params["embedding_lr_multipliers"], deep_scope)
                               if name == "dnn" else None)
                ops.append(_slim("layers.optimizers.optimize_loss")(
                    loss=loss, global_step=step, learning_rate=rate, optimizer=optimizers[name],
                    gradient_multipliers=multipliers, clip_gradients=params["gradient_clip_norm"],
                    variables=v1.get_collection(name), name=name, summaries=[],
                    increment_global_step=not fixed))
        if not fixed:
            return tf.group(*ops)
        with tf.control_dependencies(ops):
            return v1.assign_add(step, 1).op

    logits = parts[0] + parts[1] if len(parts) > 1 else parts[0]
    return head.create_model_fn_ops(features=features, mode=mode, labels=labels,
                                    train_op_fn=train_op_fn, logits=logits)
