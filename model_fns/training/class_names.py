"""Predictions and exports with the classes as the data call them: "no" and "yes", not 0 and 1."""

from __future__ import annotations

from typing import Any, Mapping

import tensorflow as tf

DEFAULT_PARAMS: dict[str, Any] = {
    "class_names": [],  # names of the classes in their order, for predictions and exports; []:
    # from the data, or else their numbers
}
_CLASS = "class"


def of(params: Mapping[str, Any], count: int) -> list[str]:
    """Returns the names of `count` classes; [] if nothing names them, or numbers are the labels.

    Names such as "0" and "1" may be those of folders, or of texts.
    """
    names = list(map(str, params.get("class_names") or params.get("label_vocabulary") or ()))
    if not names:
        return []
    numbers = list(map(str, range(count)))
    are_numbers = names[:count] == numbers and params.get("label_vocabulary") == []
    return [] if are_numbers else [*names[:count], *numbers[len(names):]]


def added(predictions: Mapping[str, tf.Tensor], classes: tf.Tensor,
          names: list[str]) -> dict[str, tf.Tensor]:
    """Returns the predictions with `class`, the name of each of `classes`: string [batch].

    Without names the predictions stay as they are. `classes` is int64 [batch] or [batch, 1].
    """
    if not names:
        return dict(predictions)
    return {**predictions, _CLASS: tf.gather(_texts(names), tf.reshape(classes, [-1]))}


def of_canned(made: tf.estimator.EstimatorSpec,
              params: Mapping[str, Any]) -> tf.estimator.EstimatorSpec:
    """Returns a canned classifier's spec of mode "infer", which has names in place of numbers.

    Its labels are numbers, so it names the classes "0" and "1" in `classes`, `all_classes`, and
    the signature of classification.
    """
    predictions = made.predictions
    if "class_ids" not in predictions or "probabilities" not in predictions:
        return made
    names, class_ids = of(params, predictions["probabilities"].shape[-1]), predictions["class_ids"]
    if not names:
        return made
    everywhere = tf.tile([_texts(names)], [tf.shape(class_ids)[0], 1])
    named = {"classes": tf.gather(_texts(names), class_ids), "all_classes": everywhere}
    predictions = added({name: named.get(name, value) for name, value in predictions.items()},
                        class_ids, names)
    output = tf.estimator.export
    return made._replace(predictions=predictions, export_outputs={
        signature: (output.ClassificationOutput(each.scores, everywhere)
                    if isinstance(each, output.ClassificationOutput) else
                    output.PredictOutput(predictions)
                    if isinstance(each, output.PredictOutput) else each)
        for signature, each in made.export_outputs.items()})


def _texts(names: list[str]) -> list[bytes]:
    """Returns names as bytes; the name of a folder may be no UTF-8."""
    return [name.encode("utf-8", "surrogateescape") for name in names]
