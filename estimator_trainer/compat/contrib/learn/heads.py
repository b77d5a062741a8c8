"""Heads of `tf.contrib.learn`: losses, predictions and metrics of a model's logits.

Source: tensorflow/contrib/learn/python/learn/estimators/head.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import tensorflow as tf

from estimator_trainer.compat.contrib.learn import losses
from estimator_trainer.compat.contrib.learn.keys import (MetricKey, ModeKeys, PredictionKey,
                                                         ProblemType)
from estimator_trainer.compat.contrib.learn.model_fn import ModelFnOps
from estimator_trainer.compat.tensorflow1 import homes

_metrics = tf.compat.v1.metrics


class Head:
    """The end of a model: `logits_dimension` numbers for each example."""

    logits_dimension: int
    head_name: Optional[str]

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None,
                            train_op_fn: Any = None, logits: Any = None, logits_input: Any = None,
                            scope: Any = None) -> ModelFnOps:
        """Returns a model of logits, or of what comes before them.

        Args:
          features: Features by name.
          mode: One of ModeKeys.
          labels: A tensor, or a dict of them.
          train_op_fn: A function of the loss that returns an operation; needed in TRAIN.
          logits: [batch, logits_dimension].
          logits_input: The input of a last layer, where there are no logits.
          scope: Name of the variable scope.

        Raises:
          ValueError: mode is none, or there are no logits, or both inputs.
        """
        raise NotImplementedError("Calling an abstract method.")


def no_op_train_fn(loss: Any) -> Any:
    """Returns an operation that does nothing."""
    del loss
    return tf.no_op()


class SingleHead(Head):
    """A head of one kind of labels."""

    scope_name, problem_type = "head", ProblemType.UNSPECIFIED

    def __init__(self, logits_dimension: int, loss_fn: Callable[..., tuple[Any, Any]],
                 label_name: Any = None, weight_column_name: Any = None,
                 enable_centered_bias: bool = False, head_name: Any = None,
                 thresholds: Any = None) -> None:
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self.logits_dimension, self._loss_fn = logits_dimension, loss_fn
        self.label_name, self.weight_column_name = label_name, weight_column_name
        self._enable_centered_bias, self.head_name = enable_centered_bias, head_name
        self._thresholds: Sequence[float] = thresholds or (.5,)

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None,
                            train_op_fn: Any = None, logits: Any = None, logits_input: Any = None,
                            scope: Any = None) -> ModelFnOps:
        with tf.compat.v1.variable_scope(scope, self.head_name or self.scope_name):
            labels = None if mode == ModeKeys.INFER or labels is None else self._labels(labels)
            logits = self._logits(logits, logits_input)
            ModeKeys.validate(mode)
            bias = self._centered_bias() if self._enable_centered_bias else None
            logits = logits if bias is None else tf.nn.bias_add(logits, bias)
            predictions = self._predictions(logits)
            parts: dict[str, Any] = {}
            if labels is not None:
                parts = self._judged(features, mode, labels, logits, predictions, train_op_fn, bias)
            return ModelFnOps(mode, predictions,
                              output_alternatives=self._alternatives(predictions), **parts)

    def _judged(self, features: Any, mode: str, labels: Any, logits: Any, predictions: Any,
                train_op_fn: Any, bias: Any) -> dict[str, Any]:
        weights = _weights(features, self.weight_column_name)
        loss, reported = self._loss_fn(labels, logits, weights)
        with tf.compat.v1.name_scope(""):
            tf.compat.v1.summary.scalar(self._key(MetricKey.LOSS), tf.identity(reported))
        train_op = None
        if mode == ModeKeys.TRAIN:
            if train_op_fn is None:
                raise ValueError("train_op_fn can not be None in TRAIN mode")
            with tf.compat.v1.name_scope(None, "train_op", [loss]):
                train_op = train_op_fn(loss)
                if bias is not None:
                    step = self._centered_bias_step(bias, tf.shape(logits)[0], labels, weights)
                    train_op = tf.group(train_op, step)
        metrics = {MetricKey.LOSS: _metrics.mean(reported),
                   **self._own_metrics(predictions, labels, weights)}
        return {"loss": loss, "train_op": train_op,
                "eval_metric_ops": {self._key(key): value for key, value in metrics.items()}}

    def _key(self, key: str) -> str:
        return f"{key}/{self.head_name}" if self.head_name else key

    def _labels(self, labels: Any) -> Any:
        labels = labels[self.label_name] if isinstance(labels, dict) else labels
        labels = tf.compat.v1.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, tf.sparse.SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _logits(self, logits: Any, logits_input: Any) -> Any:
        if (logits is None) == (logits_input is None):
            raise ValueError(f"{'Neither' if logits is None else 'Both'} logits and logits_input "
                             "supplied.")
        if logits is None:
            linear = homes.resolve("tf_slim.linear")
            return linear(logits_input, self.logits_dimension, scope="logits")
        logits = tf.convert_to_tensor(logits, name="logits")
        if logits.shape.ndims is not None:
            logits.shape.dims[-1].assert_is_compatible_with(self.logits_dimension)
        return logits

    def _centered_bias(self) -> Any:
        bias = tf.compat.v1.Variable(tf.zeros([self.logits_dimension]), name="centered_bias_weight")
        for number in range(self.logits_dimension):
            tf.compat.v1.summary.scalar(self._key(f"centered_bias/bias_{number}"), bias[number])
        return bias

    def _centered_bias_step(self, bias: Any, batch: Any, labels: Any, weights: Any) -> Any:
        logits = tf.reshape(tf.tile(bias, [batch]), [batch, self.logits_dimension])
        loss = tf.reduce_mean(tf.stack(self._loss_fn(labels, logits, weights)))
        return tf.compat.v1.train.AdagradOptimizer(.1).minimize(loss, var_list=[bias])

    def _predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _own_metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        del predictions, labels, weights
        return {}

    def _alternatives(self, predictions: Any) -> dict[Any, Any]:
        return {self.head_name: (self.problem_type, predictions)}


def _weights(features: Any, name: Any) -> Any:
    if not name:
        return None
    if name not in features:
        raise ValueError(f"Weights {name} missing from features.")
    weights = tf.cast(features[name], tf.float32)
    return tf.reshape(weights, [-1, 1]) if weights.shape.ndims == 1 else weights


def class_alternatives(head: Any, predictions: Any, names: Any = None) -> dict[Any, Any]:
    """Returns the probabilities of classes and their names, as an output of a head."""
    probabilities = predictions[PredictionKey.PROBABILITIES]
    batch = tf.shape(probabilities)[0]
    if names:
        classes = tf.tile([list(names)], [batch, 1])
    else:
        classes = tf.as_string(tf.tile(
            tf.expand_dims(tf.range(tf.shape(probabilities)[1]), 0), [batch, 1]))
    return {head.head_name: (head.problem_type, {
        PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes})}


class RegressionHead(SingleHead):
    """Numbers."""

    scope_name, problem_type = "regression_head", ProblemType.LINEAR_REGRESSION

    def __init__(self, link_fn: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._link_fn = link_fn or tf.identity

    def _predictions(self, logits: Any) -> dict[str, Any]:
        found = tf.squeeze(logits, axis=[1]) if self.logits_dimension == 1 else logits
        return {PredictionKey.SCORES: self._link_fn(found)}


def regression_head(label_name: Any = None, weight_column_name: Any = None,
                    label_dimension: int = 1, enable_centered_bias: bool = False,
                    head_name: Any = None, link_fn: Any = None) -> Head:
    """Returns a head of `label_dimension` numbers, `link_fn` of the logits.

    Args:
      label_name: The key of the labels, where they are a dict.
      weight_column_name: The feature that has the examples' weights.
      label_dimension: How many numbers.
      enable_centered_bias: Whether a bias is trained by an optimizer of its own.
      head_name: Ends the names of metrics.
      link_fn: A function of logits.
    """
    return RegressionHead(link_fn, label_dimension, losses.mean_squared, label_name,
                          weight_column_name, enable_centered_bias, head_name)


def poisson_regression_head(label_name: Any = None, weight_column_name: Any = None,
                            label_dimension: int = 1, enable_centered_bias: bool = False,
                            head_name: Any = None) -> Head:
    """Returns a head of counts; arguments as in `regression_head`."""
    return RegressionHead(tf.exp, label_dimension, losses.poisson, label_name, weight_column_name,
                          enable_centered_bias, head_name)


class LossOnlyHead(Head):
    """A loss that a function returns."""

    logits_dimension = 0

    def __init__(self, loss_fn: Any, head_name: Any = None) -> None:
        self._loss_fn, self.head_name = loss_fn, head_name or "loss_only_head"

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None,
                            train_op_fn: Any = None, logits: Any = None, logits_input: Any = None,
                            scope: Any = None) -> ModelFnOps:
        ModeKeys.validate(mode)
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, {})
        with tf.compat.v1.variable_scope(scope, self.head_name):
            loss = self._loss_fn()
            loss = tf.add_n(loss) if isinstance(loss, list) else loss
            with tf.compat.v1.name_scope(""):
                tf.compat.v1.summary.scalar(f"loss/{self.head_name}", tf.identity(loss))
            if mode == ModeKeys.TRAIN and train_op_fn is None:
                raise ValueError("train_op_fn can not be None in TRAIN mode")
            train_op = train_op_fn(loss) if mode == ModeKeys.TRAIN else None
        return ModelFnOps(mode, {}, loss, train_op)


def loss_only_head(loss_fn: Any, head_name: Any = None) -> Head:
    """Returns a head of a loss that a function returns, for `multi_head`."""
    return LossOnlyHead(loss_fn, head_name)


class MultiHead(Head):
    """Several heads, of which each has its part of the logits."""

    def __init__(self, heads: Sequence[Any], merge: Callable[[Any], Any]) -> None:
        if not all(head.head_name for head in heads):
            raise ValueError("Members of MultiHead must have names.")
        self._heads, self._merge = list(heads), merge
        self.logits_dimension = sum(head.logits_dimension for head in heads)
        self.head_name = None

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None,
                            train_op_fn: Any = None, logits: Any = None, logits_input: Any = None,
                            scope: Any = None) -> ModelFnOps:
        ModeKeys.validate(mode)
        parts = self._split(logits)
        models = [head.create_model_fn_ops(
            features, mode, labels, no_op_train_fn, part, logits_input if part is None else None,
            scope) for head, part in zip(self._heads, parts)]
        named = list(zip(self._heads, models))
        if mode == ModeKeys.INFER:
            named = [pair for pair in named if not isinstance(pair[0], LossOnlyHead)]
        predictions = {(head.head_name, key): value for head, model in named
                       for key, value in model.predictions.items()}
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, predictions, output_alternatives={
                head.head_name: model.output_alternatives[head.head_name]
                for head, model in named})
        loss = self._merge([model.loss for model in models])
        metrics = {key: value for model in models for key, value in model.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, predictions, loss, eval_metric_ops=metrics)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        train_op = tf.group(train_op_fn(loss), *(model.train_op for model in models))
        return ModelFnOps(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def _split(self, logits: Any) -> list[Any]:
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, dict):
            return [None if isinstance(head, LossOnlyHead) else logits[head.head_name]
                    for head in self._heads]
        sizes = [head.logits_dimension for head in self._heads]
        return list(tf.split(logits, sizes, axis=1))


def multi_head(heads: Sequence[Any], loss_weights: Optional[Sequence[float]] = None) -> Head:
    """Returns a head of several heads, which need names, whose losses are added.

    Raises:
      ValueError: a head has no name, or there are more or fewer weights.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")

    def merge(found: Any) -> Any:
        if not loss_weights:
            return tf.add_n(found)
        return tf.add_n([loss * weight for loss, weight in zip(found, loss_weights)])

    return MultiHead(heads, merge)
