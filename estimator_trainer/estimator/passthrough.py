"""Passthrough: labels and inputs beside the features to predict, to be written with each answer.

The Estimator drops labels in mode "infer", and a model need not return its inputs. The adapted
input_fn yields them within the features, and the adapted model_fn adds them to the predictions, in
the same order.
"""

import functools
from typing import Any, Collection, Iterable, Iterator, Mapping, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_trainer.estimator.input_fn_adapter import InputFn

# No feature and no prediction of a user's has such a name.
_PREFIX = "estimator_trainer/"
_FEATURES, _BESIDE = f"{_PREFIX}features", f"{_PREFIX}beside"
_LABEL, _INPUT = f"{_PREFIX}label", f"{_PREFIX}input/"
_KEY = f"{_PREFIX}key"


class Answer(NamedTuple):
    """The predictions and inputs of one instance by name, and its label or None."""

    predictions: Mapping[str, Any]
    inputs: Mapping[str, Any]
    label: Any = None


def carrying(input_fn: InputFn, has_inputs: bool, names: Collection[str] = ()) -> InputFn:
    """Returns an adapted input_fn of mode "infer" whose features carry labels, and maybe inputs.

    Without `has_inputs` the inputs are those of `names`.
    """
    def carrying_input_fn(mode: str, params: dict[str, Any], config: Any = None) -> Any:
        made = input_fn(mode, params, config)
        if isinstance(made, tf.data.Dataset):
            return made.map(functools.partial(mark, has_inputs=has_inputs, names=names))
        batch = made if isinstance(made, tuple) else (made,)
        return mark(*batch, has_inputs=has_inputs, names=names)

    return carrying_input_fn


def mark(features: Any, labels: Any = None, *, has_inputs: bool, most_rank: int = 2,
         names: Collection[str] = ()) -> dict[str, Any]:
    """Returns a batch's features, tensors or arrays, that carry labels, and inputs on request.

    Without `has_inputs` the inputs are those of `names`. A feature that is carried has up to
    `most_rank` dimensions, with the batch's.
    """
    beside = {_LABEL: labels} if _is_shown(labels) else {}
    named = features if isinstance(features, dict) else {"input": features} if most_rank > 2 else {}
    beside.update({f"{_INPUT}{name}": value for name, value in named.items()
                   if (has_inputs or name in names) and _is_shown(value, most_rank)})
    return {_FEATURES: features, _BESIDE: beside}


def taken_apart(features: Any) -> tuple[Any, dict[str, Any]]:
    """Returns features as the model takes them, and what they carry."""
    if isinstance(features, dict) and set(features) == {_FEATURES, _BESIDE}:
        return features[_FEATURES], features[_BESIDE]
    return features, {}


def with_key(features: Any, key: tf.Tensor | None) -> Any:
    """Returns the features of an export, which carry a key that is no feature."""
    if key is None:
        return features
    return {**(features if isinstance(features, dict) else {_FEATURES: features}), _KEY: key}


def without_key(features: Any) -> tuple[Any, tf.Tensor | None]:
    """Returns features as the model takes them, and the key that they carry, or None."""
    if not isinstance(features, dict) or _KEY not in features:
        return features, None
    others = {name: value for name, value in features.items() if name != _KEY}
    return others.get(_FEATURES, others), features[_KEY]


def with_predictions(spec: tf.estimator.EstimatorSpec,
                     beside: Mapping[str, Any]) -> tf.estimator.EstimatorSpec:
    """Returns the spec with what the features carry among its predictions."""
    if not beside:
        return spec
    copies = {name: tf.identity(value) for name, value in beside.items()}
    return spec._replace(predictions={**named(spec.predictions), **copies})


def named(predictions: Any) -> dict[str, Any]:
    """Returns predictions by name; one without a name gets "predictions"."""
    return predictions if isinstance(predictions, dict) else {"predictions": predictions}


def answer(prediction: Any) -> Answer:
    """Takes apart one instance of what an Estimator predicts."""
    values = named(prediction)
    return Answer({name: value for name, value in values.items() if not name.startswith(_PREFIX)},
                  {name.removeprefix(_INPUT): value for name, value in values.items()
                   if name.startswith(_INPUT)}, values.get(_LABEL))


def answers(predictions: Iterable[Mapping[str, Any]],
            beside: Mapping[str, np.ndarray]) -> Iterator[Answer]:
    """Yields the answer of each instance of a batch, whose features carry `beside`."""
    for i, prediction in enumerate(predictions):
        yield answer({**prediction, **{name: values[i] for name, values in beside.items()}})


def _is_shown(value: Any, most_rank: int = 2) -> bool:
    """Returns whether an instance has a number or text, or a list of them."""
    rank = value.ndim if isinstance(value, np.ndarray) else (
        value.shape.rank if isinstance(value, tf.Tensor) else None)
    return rank in range(1, most_rank + 1)
