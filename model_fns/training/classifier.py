"""Makes a classifier's EstimatorSpec, in any mode, from logits."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import averages, class_names, update
from model_fns.training.errors import ParamError

DEFAULT_PARAMS = {
    **update.DEFAULT_PARAMS,
    **class_names.DEFAULT_PARAMS,
    "num_classes": 0,  # number of classes; 0: from the data
    "label_smoothing": 0.0,  # share of the probability that is spread over all classes
    "loss_reduction": "mean",  # mean or sum of the cross-entropies of a batch
    "weight_decay": 0.0,  # adds this times sum(v^2) / 2 over all kernels v to the training loss, as
    # tf.contrib.layers.l2_regularizer does; the gradient of v grows by this times v
}
_REDUCTIONS = ("mean", "sum")
# Values that stand for those of a network's recipe.
_OF_RECIPE = {"optimizer": "", "learning_rate": 0.0, "warmup_steps": -1, "moving_average": -1.0}


def with_recipe(params: dict[str, Any], recipe: dict[str, Any]) -> dict[str, Any]:
    """Returns the params with the values of a recipe where they are left to the network."""
    return {**params, **{key: recipe[key] for key, value in _OF_RECIPE.items()
                         if params[key] == value}}


def num_classes(params: dict[str, Any], other: str = "--model_fn=canned") -> int:
    """Returns the number of classes.

    Args:
      params: See DEFAULT_PARAMS.
      other: The words to type for a model that learns a label that is a number.

    Raises:
      ParamError: Neither the user nor the data sets the number.
    """
    params = {**DEFAULT_PARAMS, **params}
    if params["num_classes"] < 0:
        raise ParamError(
            f"num_classes is {params['num_classes']}: the label is a number, no class, and this"
            f" model has classes; expected one that learns numbers. For example: {other}")
    if params["num_classes"] < 1:
        raise ParamError(
            f"num_classes is {params['num_classes']}, and the input_fn's module has no"
            " data_params that returns it. For example: --param num_classes=10")
    return int(params["num_classes"])


def image(features: Any) -> tf.Tensor:
    """Returns `features["image"]`, or the features if they are the image alone.

    Raises:
      ParamError: There is no image.
    """
    if isinstance(features, dict) and "image" not in features:
        raise ParamError(
            f"this model_fn learns from the feature 'image', and the input_fn yields"
            f" {', '.join(sorted(features))}; expected images, or a model_fn of such features. For"
            " example: --model_fn=canned")
    return features["image"] if isinstance(features, dict) else features


def spec(logits: tf.Tensor, labels: tf.Tensor | None, mode: str,
         params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the EstimatorSpec of a classifier in any mode.

    Args:
      logits: float32 [batch, classes].
      labels: int [batch], classes from 0; None in mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS, which has the values of missing ones.

    Returns:
      A spec whose predictions are `classes` (int64 [batch]), `probabilities` (float32
      [batch, classes]) and, where the classes have names, `class` (string [batch]), and whose
      metric is `accuracy`.
    """
    params = {**DEFAULT_PARAMS, **params}
    logits = tf.cast(logits, tf.float32)
    classes = tf.argmax(logits, axis=-1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        names = class_names.of(params, logits.shape[-1])
        return prediction(class_names.added(
            {"classes": classes, "probabilities": tf.nn.softmax(logits)}, classes, names), params)
    loss = _of_batch(cross_entropy(logits, labels, params["label_smoothing"]), labels, params)
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.compat.v1.metrics.accuracy(labels, classes)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy},
                                          scaffold=averages.scaffold(params))
    is_right = tf.equal(classes, tf.cast(labels, tf.int64))
    tf.compat.v1.summary.scalar("accuracy", tf.reduce_mean(tf.cast(is_right, tf.float32)))
    return update.spec(loss + weight_penalty(params["weight_decay"]), params)


def prediction(predictions: dict[str, tf.Tensor],
               params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Builds the EstimatorSpec of mode "infer", whose signature outputs all predictions."""
    return tf.estimator.EstimatorSpec(
        tf.estimator.ModeKeys.PREDICT, predictions=predictions,
        export_outputs={"serving_default": tf.estimator.export.PredictOutput(predictions)},
        scaffold=averages.scaffold(params))


def cross_entropy(logits: tf.Tensor, labels: tf.Tensor, smoothing: float = 0.0) -> tf.Tensor:
    """Returns the mean cross-entropy over a batch, float32 [].

    With label smoothing (Szegedy et al., arXiv:1512.00567, section 7) the target is 1 - smoothing
    at the label and smoothing / classes everywhere.
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    if smoothing:
        uniform = -tf.reduce_mean(tf.nn.log_softmax(logits), axis=-1)
        losses = (1.0 - smoothing) * losses + smoothing * uniform
    return tf.reduce_mean(losses)


def _of_batch(mean: tf.Tensor, labels: tf.Tensor, params: dict[str, Any]) -> tf.Tensor:
    """Returns the loss of a batch, float32 [], from the mean loss of its examples."""
    reduction = params["loss_reduction"]
    if reduction not in _REDUCTIONS:
        raise ParamError(f"loss_reduction is {reduction!r}; expected one of"
                         f" {', '.join(_REDUCTIONS)}. For example: --param loss_reduction=sum")
    if reduction == "mean":
        return mean
    # The Estimator takes the mean over the replicas, each of which has a part of the batch.
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    return mean * tf.cast(tf.size(labels) * replicas, mean.dtype)


def weight_penalty(decay: float, scope: str = "") -> tf.Tensor:
    """Returns `decay` times half the sum of squares of all kernels, without biases: float32 [].

    Args:
      decay: 0 or more.
      scope: Begin of the kernels' names.
    """
    if not decay:
        return tf.constant(0.0)
    kernels = [v for v in tf.compat.v1.trainable_variables(scope) if v.shape.rank > 1]
    return decay * tf.add_n([tf.nn.l2_loss(tf.cast(v, tf.float32)) for v in kernels])
