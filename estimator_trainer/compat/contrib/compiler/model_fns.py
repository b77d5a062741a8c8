"""Model functions of Estimators whose steps XLA compiles.

Definition: tensorflow/contrib/compiler/xla.py of TensorFlow 1.15.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

from absl import logging
import tensorflow as tf


def estimator_model_fn(target_model_fn: Optional[Callable[..., Any]] = None) -> Any:
    """Returns a model_fn whose steps of training and evaluation XLA compiles, or a decorator.

    Args:
      target_model_fn: The model_fn, which returns an EstimatorSpec or a TPUEstimatorSpec; None
        for a decorator of one.
    """
    if target_model_fn is None:
        return estimator_model_fn
    model_fn = target_model_fn

    @functools.wraps(model_fn)
    def compiled(features: Any, labels: Any, mode: str, params: Any) -> Any:
        if params.get("use_tpu"):
            return _spec(model_fn, features, labels, mode, params)
        if mode not in (tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL):
            raise NotImplementedError(f"{mode} is not implemented, only TRAIN and EVAL are "
                                      f"supported")
        return _compiled(functools.partial(_spec, model_fn, features, labels, mode, params), mode)

    return compiled


def _compiled(build: Callable[[], Any], mode: str) -> Any:
    """Returns an EstimatorSpec of what a model computes, as XLA compiles it."""
    specs = []

    def step() -> Any:
        spec = build()
        specs.append(spec)
        if mode == tf.estimator.ModeKeys.EVAL:
            return spec.loss, *_metric_tensors(spec)
        with tf.control_dependencies([spec.train_op]):
            return (tf.identity(spec.loss),)

    loss, *tensors = tf.xla.experimental.compile(step)
    scaffold_fn = getattr(specs[0], "scaffold_fn", None)
    scaffold = scaffold_fn() if scaffold_fn else None
    if scaffold_fn and scaffold is None:
        raise ValueError("TPUEstimatorSpec.scaffold_fn returns None, which is not allowed")
    if mode == tf.estimator.ModeKeys.TRAIN:
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.identity(loss),
                                          scaffold=scaffold)
    metrics = getattr(specs[0], "eval_metrics", None)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, scaffold=scaffold,
        eval_metric_ops=metrics[0](*tensors) if metrics else None)


def _metric_tensors(spec: Any) -> list[Any]:
    """Returns the arguments of a model's metric_fn, in its order.

    Raises:
      ValueError: The dict of tensors has not the names of the arguments.
    """
    metrics = getattr(spec, "eval_metrics", None)
    if not metrics:
        return []
    metric_fn, tensors = metrics
    if not isinstance(tensors, dict):
        return list(tensors)
    names = list(inspect.signature(metric_fn).parameters)
    if set(names) != set(tensors):
        raise ValueError(f"eval_metrics has the tensors {sorted(tensors)}; expected "
                         f"{sorted(names)}, the arguments of its metric_fn")
    return [tensors[name] for name in names]


def _spec(model_fn: Callable[..., Any], features: Any, labels: Any, mode: str,
          params: Any) -> Any:
    """Returns what a model_fn returns.

    Raises:
      ValueError: The model_fn takes no labels but there are some, or has eval_metric_ops.
    """
    takes = inspect.signature(model_fn).parameters
    if "labels" not in takes and labels is not None:
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    options = {"labels": labels, "mode": mode, "params": params}
    spec = model_fn(features=features, **{name: value for name, value in options.items()
                                          if name in takes})
    if getattr(spec, "scaffold", None):
        logging.warning("EstimatorSpec.scaffold is ignored with XLA compilation. Use "
                        "TPUEstimatorSpec.scaffold_fn instead.")
    if getattr(spec, "eval_metric_ops", None):
        raise ValueError("EstimatorSpec.eval_metric_ops is not supported with XLA compilation; "
                         "use TPUEstimatorSpec.eval_metrics.")
    return spec
