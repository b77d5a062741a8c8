"""The user's model_fn, adapted: checked, watched for progress, instance keys forwarded."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any, Callable, ContextManager

import tensorflow as tf

from estimator_trainer import batches
from estimator_trainer import data
from estimator_trainer import errors
from estimator_trainer import iteration_model
from estimator_trainer import plugins
from estimator_trainer import progress
from estimator_trainer import step_loop
from estimator_trainer import train_op
from estimator_trainer import training_end
from estimator_trainer.config import TrainerConfig
from estimator_trainer.task_config import TaskConfig

ModelFn = Callable[..., tf.estimator.EstimatorSpec]


def adapt(function: ModelFn, config: TrainerConfig, task: TaskConfig) -> ModelFn:
    """Makes `function` callable with every argument that the Estimator passes.

    Args:
      function: The plug-in's function, with any subset of the Estimator's arguments, or class.
      config: The settings.
      task: This process's place among the trainers.

    Returns:
      A model_fn; it raises ConfigError when `function` returns no EstimatorSpec. Its argument
      `is_looped` says whether one session run of training is to make several steps.
    """
    if inspect.isclass(function):
        function = iteration_model.adapt(function)
    forward_key = config.forward_key
    is_all_reduce = task.num_trainers > 1 and config.train_distribute == "multi_worker_mirrored"

    def one(features: Any, labels: Any, mode: str, params: dict[str, Any],
            run_config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        passed = {"features": features, "labels": labels, "mode": mode, "params": params,
                  "config": run_config}
        with _placed(config.device):
            spec = plugins.call(function, passed)
        if not isinstance(spec, tf.estimator.EstimatorSpec):
            raise errors.ConfigError(
                f"model_fn {config.model_fn!r} returned a {type(spec).__name__} in mode {mode!r};"
                " expected a tf.estimator.EstimatorSpec. For example: return"
                " tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)")
        return spec

    def train(features: Any, labels: Any, params: dict[str, Any],
              run_config: tf.estimator.RunConfig, is_looped: bool) -> tf.estimator.EstimatorSpec:
        def step(batch: Any) -> tuple[tf.estimator.EstimatorSpec, Any, tf.Tensor]:
            marked, labels = batch
            features, is_last = marked[data.FEATURES], marked[data.IS_LAST]
            train_op.ask(config, task)
            spec = one(features, labels, tf.estimator.ModeKeys.TRAIN, params, run_config)
            fed_batch = iteration_model.fed_batch()
            if fed_batch is not None:
                features, is_last = fed_batch, tf.constant(False)
            return train_op.complete(spec, config, task), features, is_last

        pull = step_loop.puller((features, labels)) if is_looped else None
        if pull is None:
            spec, features, is_last = step((features, labels))
            progress.watch(batches.size(features), spec.loss)
        else:
            loop = step_loop.build(pull, step)
            spec, is_last = loop.spec, loop.is_last
            progress.watch(loop.examples, spec.loss)
        training_end.watch(features, is_last, spec.train_op, is_all_reduce)
        return spec

    def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any],
                 config: tf.estimator.RunConfig, is_looped: bool) -> tf.estimator.EstimatorSpec:
        if mode == tf.estimator.ModeKeys.TRAIN:
            return train(features, labels, params, config, is_looped)
        spec = one(features, labels, mode, params, config)
        progress.watch(batches.size(features), spec.loss)
        if forward_key and mode == tf.estimator.ModeKeys.PREDICT:
            return _with_key(spec, forward_key, features[forward_key])
        return spec

    # The Estimator accepts no other argument, unless it is bound.
    return functools.partial(model_fn, is_looped=False)


def _placed(device: str) -> ContextManager[Any]:
    """Places what is made within it on a device such as "gpu:0"; "" leaves that to TensorFlow."""
    return tf.device(f"/device:{device.upper()}") if device else contextlib.nullcontext()


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
