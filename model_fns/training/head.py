"""Makes the EstimatorSpec of a classifier or a regressor, in any mode, from logits.

Loss, predictions and metrics are those of TensorFlow's canned Estimators: for two classes accuracy,
auc and others, for more of them accuracy, for numbers the mean squared error.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from model_fns.training import averages, class_names, classifier, label_scale, update

DEFAULT_PARAMS = {
    **update.DEFAULT_PARAMS,
    **class_names.DEFAULT_PARAMS,
    "num_classes": 0,  # number of classes; 0: from the data, or else 2; -1: the label is a number
    "label_dimension": 1,  # numbers in a label, if it is not a class
}


def num_classes(params: dict[str, Any]) -> int:
    """Returns the number of classes, 2 if neither the user nor the data sets it.

    Raises:
      ParamError: The label is a number.
    """
    return classifier.num_classes(params) if params["num_classes"] else 2


def of_labels(params: dict[str, Any]) -> Any:
    """Returns TensorFlow's head for the labels: of two classes, of more, or of numbers."""
    if params["num_classes"] == -1:
        return tf.estimator.RegressionHead(params["label_dimension"])
    classes = num_classes(params)
    return tf.estimator.BinaryClassHead() if classes == 2 else tf.estimator.MultiClassHead(classes)


def spec(logits: tf.Tensor, features: Any, labels: tf.Tensor | None, mode: str,
         params: dict[str, Any], penalties: tf.Tensor) -> tf.estimator.EstimatorSpec:
    """Builds the EstimatorSpec of any mode.

    Args:
      logits: float32 [batch, outputs], as many outputs as `of_labels(params)` has logits.
      features: The features of the batch.
      labels: int [batch], classes from 0; or numbers [batch] or [batch, label_dimension]; None in
        mode "infer".
      mode: A `tf.estimator.ModeKeys`.
      params: See DEFAULT_PARAMS; labels that are numbers are scaled by `label_scale`, if it is
        among them.
      penalties: float32 [], added to the training loss.
    """
    head, scale = of_labels(params), params.get("label_scale", {})
    is_scaled = params["num_classes"] == -1 and label_scale.is_set(scale)
    learned = label_scale.scaled(labels, scale) if is_scaled and labels is not None else labels
    if mode == tf.estimator.ModeKeys.TRAIN:
        loss = head.loss(learned, logits, features, mode) + penalties
        return update.spec(loss, params, label_scale.loss(logits, labels, scale) if is_scaled
                           else None)
    made = head.create_estimator_spec(features, mode, logits, learned)
    if is_scaled:
        made = label_scale.spec(made, labels, scale)
    return with_all_predictions(made, params)._replace(scaffold=averages.scaffold(params))


def with_all_predictions(made: tf.estimator.EstimatorSpec,
                         params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Returns a canned Estimator's or a head's spec, with all predictions in the default signature.

    Their own default signature maps tf.Example protos to scores, which does not work for an export
    whose inputs are the features themselves. Classes have the names of `params`, if there are some.
    """
    if made.mode != tf.estimator.ModeKeys.PREDICT:
        return made
    made = class_names.of_canned(made, params)
    output = tf.estimator.export.PredictOutput(made.predictions)
    return made._replace(export_outputs={**made.export_outputs, "serving_default": output})
