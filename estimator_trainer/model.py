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
      A model_fn; it raises ConfigError when `function` returns no EstimatorSpec. In a graph that
      holds a training set (`step_loop.hold`), one session run of training makes several steps; it
      raises step_loop.Obstacle where that cannot be.
    """
    runs_itself = inspect.isclass(function)
    if runs_itself:
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

    def step(batch: Any, ballot: tf.Tensor | None,
             call: Callable[..., tf.estimator.EstimatorSpec]
             ) -> tuple[tf.estimator.EstimatorSpec, step_loop.Step]:
        marked, labels = batch if isinstance(batch, tuple) else (batch, None)
        features, is_last = marked[data.FEATURES], marked[data.IS_LAST]
        train_op.ask(config, task)
        spec = train_op.complete(call(features, labels), config, task)
        fed_batch = iteration_model.fed_batch()
        if fed_batch is not None:
            features, is_last = fed_batch, tf.constant(False)
        examples = batches.size(features)
        counts = None if ballot is None else training_end.counts(is_last, examples, ballot)
        return spec, step_loop.Step(spec.train_op, spec.loss, is_last, examples, counts)

    def train(features: Any, labels: Any,
              call: Callable[..., tf.estimator.EstimatorSpec]) -> tf.estimator.EstimatorSpec:
        ballot = training_end.ballot() if is_all_reduce else None
        if not step_loop.is_wanted():
            spec, made = step((features, labels), ballot, call)
            progress.watch(made.examples, made.loss)
            training_end.watch(made)
            return spec
        if runs_itself:
            raise step_loop.Obstacle("it runs its own iterations")
        specs = []

        def inner(batch: Any) -> step_loop.Step:
            known = step_loop.things()
            spec, made = step(batch, ballot, call)
            step_loop.check(spec, config, known)
            specs.append(spec)
            return made

        made = step_loop.build(inner, config, task.num_trainers if is_all_reduce else 1)
        progress.watch(made.examples, made.loss)
        training_end.watch(made)
        return specs[0]._replace(train_op=made.train_op, loss=made.loss, predictions=None)

    def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any],
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        call = functools.partial(one, mode=mode, params=params, run_config=config)
        if mode == tf.estimator.ModeKeys.TRAIN:
            return train(features, labels, call)
        spec = call(features, labels)
        progress.watch(batches.size(features), spec.loss)
        if forward_key and mode == tf.estimator.ModeKeys.PREDICT:
            return _with_key(spec, forward_key, features[forward_key])
        return spec

    return model_fn


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
