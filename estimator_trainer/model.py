"""The user's model_fn, adapted: checked, watched for progress, instance keys forwarded."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer import data
from estimator_trainer import errors
from estimator_trainer import plugins
from estimator_trainer import progress
from estimator_trainer import training_end

ModelFn = Callable[..., tf.estimator.EstimatorSpec]


def adapt(function: ModelFn, name: str, forward_key: str, is_synchronous: bool) -> ModelFn:
    """Makes `function` callable with every argument that the Estimator passes.

    Args:
      function: The plug-in's function, with any subset of the Estimator's arguments.
      name: What the user calls it, for messages.
      forward_key: Name of the feature to copy into predictions and exports, or "".
      is_synchronous: Whether several processes make each training step together.

    Returns:
      A model_fn; it raises ConfigError when `function` returns no EstimatorSpec.
    """
    takes = plugins.arguments(function)

    def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any],
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        if is_training:
            features, is_last = features[data.FEATURES], features[data.IS_LAST]
        passed = {"features": features, "labels": labels, "mode": mode, "params": params,
                  "config": config}
        spec = function(**{key: value for key, value in passed.items() if key in takes})
        if not isinstance(spec, tf.estimator.EstimatorSpec):
            raise errors.ConfigError(
                f"model_fn {name!r} returned a {type(spec).__name__} in mode {mode!r}; expected"
                " a tf.estimator.EstimatorSpec. For example: return"
                " tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)")
        progress.watch(features, spec.loss)
        if is_training:
            training_end.watch(features, is_last, spec.train_op, is_synchronous)
        if forward_key and mode == tf.estimator.ModeKeys.PREDICT:
            return _with_key(spec, forward_key, features[forward_key])
        return spec

    return model_fn


def _with_key(spec: tf.estimator.EstimatorSpec, name: str,
              key: tf.Tensor) -> tf.estimator.EstimatorSpec:
    """Adds the instance key to the predictions and to every exported signature.

    `tf.contrib.estimator.forward_features` did this in TensorFlow 1.
    """
    key = tf.identity(key)
    predictions = spec.predictions
    if not isinstance(predictions, dict):
        predictions = {"predictions": predictions}
    outputs = {
        signature: tf.estimator.export.PredictOutput({**_output_tensors(output), name: key})
        for signature, output in (spec.export_outputs or {}).items()
    }
    return spec._replace(predictions={**predictions, name: key}, export_outputs=outputs or None)


def _output_tensors(output: tf.estimator.export.ExportOutput) -> dict[str, tf.Tensor]:
    if isinstance(output, tf.estimator.export.PredictOutput):
        return dict(output.outputs)
    if isinstance(output, tf.estimator.export.RegressionOutput):
        return {"outputs": output.value}
    tensors = {"scores": output.scores, "classes": output.classes}
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}
