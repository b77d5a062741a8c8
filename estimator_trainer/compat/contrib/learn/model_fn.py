"""The result of a model_fn of `tf.contrib.learn`.

Source: tensorflow/contrib/learn/python/learn/estimators/model_fn.py of TensorFlow 1.15.
"""

from __future__ import annotations

import collections
from typing import Any

import tensorflow as tf

from estimator_trainer.compat.contrib.learn.keys import (MetricKey, ModeKeys, PredictionKey,
                                                         ProblemType)


class ModelFnOps(collections.namedtuple("ModelFnOps", [
        "predictions", "loss", "train_op", "eval_metric_ops", "output_alternatives",
        "training_chief_hooks", "training_hooks", "scaffold", "mode"])):
    """The parts of a model in one mode.

    Args:
      mode: One of ModeKeys.
      predictions: A tensor, or a dict of them; needed except in TRAIN.
      loss: A scalar; needed except in INFER.
      train_op: An operation; needed in TRAIN.
      eval_metric_ops: Pairs of a value and an update, by name.
      output_alternatives: Pairs of a ProblemType and a dict of tensors, by name.
      training_chief_hooks, training_hooks: Lists of hooks.
      scaffold: A `tf.train.Scaffold`.

    Raises:
      ValueError: a part is missing, or of another kind.
      TypeError: a hook is none.
    """

    def __new__(cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None,
                eval_metric_ops: Any = None, output_alternatives: Any = None,
                training_chief_hooks: Any = None, training_hooks: Any = None,
                scaffold: Any = None) -> ModelFnOps:
        ModeKeys.validate(mode)
        _check_present(mode, predictions, loss, train_op)
        if train_op is not None and not isinstance(train_op, tf.Operation):
            train_op = tf.convert_to_tensor(train_op).op
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        hooks = list(training_hooks or []), list(training_chief_hooks or [])
        for hook in (*hooks[0], *hooks[1]):
            if not isinstance(hook, tf.estimator.SessionRunHook):
                raise TypeError("All hooks returned from model_fn must be SessionRunHook "
                                f"instances, got {hook!r}.")
        return super().__new__(
            cls, predictions=_tensors(predictions), loss=None if loss is None else _scalar(loss),
            train_op=train_op, eval_metric_ops=eval_metric_ops or {},
            output_alternatives=output_alternatives, training_chief_hooks=hooks[1],
            training_hooks=hooks[0], scaffold=scaffold, mode=mode)

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> Any:
        """Returns a `tf.estimator.EstimatorSpec` of the same parts."""
        alternatives = dict(self.output_alternatives or {})
        if len(alternatives) > 1:
            alternatives.setdefault("serving_default",
                                    alternatives.get(default_serving_output_alternative_key))
        mode = {ModeKeys.INFER: tf.estimator.ModeKeys.PREDICT}.get(self.mode, self.mode)
        return tf.estimator.EstimatorSpec(
            mode=mode, predictions=self.predictions, loss=self.loss, train_op=self.train_op,
            eval_metric_ops={key: value for key, value in self.eval_metric_ops.items()
                             if key != MetricKey.LOSS},
            export_outputs={key: _export_output(*value) for key, value in alternatives.items()}
            or None, training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks, scaffold=self.scaffold)


def _check_present(mode: str, predictions: Any, loss: Any, train_op: Any) -> None:
    if train_op is None and mode == ModeKeys.TRAIN:
        raise ValueError("Missing train_op.")
    if loss is None and mode != ModeKeys.INFER:
        raise ValueError("Missing loss.")
    if predictions is None and mode != ModeKeys.TRAIN:
        raise ValueError("Missing predictions.")


def _scalar(loss: Any) -> Any:
    loss = tf.convert_to_tensor(loss)
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def _tensors(predictions: Any) -> Any:
    if isinstance(predictions, dict):
        return {key: _tensors(value) for key, value in predictions.items()}
    if predictions is None or isinstance(predictions, tf.sparse.SparseTensor):
        return predictions
    return tf.convert_to_tensor(predictions)


def _export_output(problem_type: int, predictions: Any) -> Any:
    export = tf.estimator.export
    scores = predictions.get(PredictionKey.SCORES)
    if scores is None:
        scores = predictions.get(PredictionKey.PROBABILITIES)
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return export.RegressionOutput(scores)
    if problem_type == ProblemType.UNSPECIFIED:
        return export.PredictOutput(predictions)
    classes = predictions.get(PredictionKey.CLASSES)
    if classes is not None and classes.dtype != tf.string:
        classes = None
    return export.ClassificationOutput(scores=scores, classes=classes)
