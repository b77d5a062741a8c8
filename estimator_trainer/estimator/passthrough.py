"""Passthrough: labels and inputs beside the features to predict, to be written with each answer.

The Estimator drops labels in mode "infer", and a model need not return its inputs. So the adapted
input_fn yields them within the features, and the adapted model_fn puts them into the predictions:
both stay in one order.
"""

from __future__ import annotations

import functools
from typing import Any, Iterable, Iterator, Mapping, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_trainer.estimator.input_fn_adapter import InputFn

# No feature and no prediction of a user's has such a name.
_PREFIX = "estimator_trainer/"
_FEATURES, _BESIDE = f"{_PREFIX}features", f"{_PREFIX}beside"
_LABEL, _INPUT = f"{_PREFIX}label", f"{_PREFIX}input/"


class Answer(NamedTuple):
    """The labels and inputs of one instance.

    Attributes:
      predictions: The model's predictions by name.
      inputs: Texts and numbers of the input by name.
      label: The label; None if there is none.
    """

    predictions: Mapping[str, Any]
    inputs: Mapping[str, Any]
    label: Any = None


def carrying(input_fn: InputFn, has_inputs: bool) -> InputFn:
    """Returns an input_fn of mode "infer" whose features carry labels, and inputs if asked for.

    Args:
      input_fn: An adapted input_fn, which may yield labels in that mode.
      has_inputs: Whether the features that are texts or numbers are carried.
    """
    def carrying_input_fn(mode: str, params: dict[str, Any], config: Any = None) -> Any:
        made = input_fn(mode, params, config)
        if isinstance(made, tf.data.Dataset):
            return made.map(functools.partial(mark, has_inputs=has_inputs))
        batch = made if isinstance(made, tuple) else (made,)
        return mark(*batch, has_inputs=has_inputs)

    return carrying_input_fn


def mark(features: Any, labels: Any = None, *, has_inputs: bool,
         most_rank: int = 2) -> dict[str, Any]:
    """Returns features that carry labels, and inputs if asked for; tensors or arrays.

    Args:
      features: The features of a batch.
      labels: Its labels, or None.
      has_inputs: Whether to carry the features themselves.
      most_rank: The most dimensions, that of the batch included, of a feature that is carried.
    """
    beside = {_LABEL: labels} if _is_told(labels) else {}
    named = features if isinstance(features, dict) else {}
    if most_rank > 2 and not isinstance(features, dict):
        named = {"input": features}
    beside.update({f"{_INPUT}{name}": value for name, value in named.items()
                   if has_inputs and _is_told(value, most_rank)})
    return {_FEATURES: features, _BESIDE: beside}


def taken_apart(features: Any) -> tuple[Any, dict[str, Any]]:
    """Returns features as the model takes them, and what they carry."""
    if isinstance(features, dict) and set(features) == {_FEATURES, _BESIDE}:
        return features[_FEATURES], features[_BESIDE]
    return features, {}


def with_predictions(spec: tf.estimator.EstimatorSpec,
                     beside: Mapping[str, Any]) -> tf.estimator.EstimatorSpec:
    """Returns the spec with what the features carry among its predictions."""
    if not beside:
        return spec
    predictions = spec.predictions
    if not isinstance(predictions, dict):
        predictions = {"predictions": predictions}
    return spec._replace(predictions={
        **predictions, **{name: tf.identity(value) for name, value in beside.items()}})


def answer(prediction: Any) -> Answer:
    """Takes apart one instance of what an Estimator predicts."""
    named = prediction if isinstance(prediction, dict) else {"predictions": prediction}
    return Answer({name: value for name, value in named.items() if not name.startswith(_PREFIX)},
                  {name.removeprefix(_INPUT): value for name, value in named.items()
                   if name.startswith(_INPUT)}, named.get(_LABEL))


def answers(predictions: Iterable[Mapping[str, Any]],
            beside: Mapping[str, np.ndarray]) -> Iterator[Answer]:
    """Yields what is known of each instance of a batch.

    Args:
      predictions: The predictions of each instance by name, in order.
      beside: What the batch's features carry.
    """
    for i, prediction in enumerate(predictions):
        yield answer({**prediction, **{name: values[i] for name, values in beside.items()}})


def _is_told(value: Any, most_rank: int = 2) -> bool:
    """Returns whether it is worth a line: a number or text, or a list of them, an instance."""
    ranks = range(1, most_rank + 1)
    if isinstance(value, np.ndarray):
        return value.ndim in ranks
    return isinstance(value, tf.Tensor) and value.shape.rank in ranks
