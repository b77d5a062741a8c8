"""A metric of `tf.contrib.learn`: a function, and what of a model it judges.

Source: tensorflow/contrib/learn/python/learn/metric_spec.py of TensorFlow 1.15.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

from tensorflow.python.platform import tf_logging as logging

_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_WEIGHTS = ("weights", "weight")


class MetricSpec:
    """A metric of a model's predictions.

    Args:
      metric_fn: A function of predictions, and of labels and weights if it has them; their names
        may be in the singular, or `targets` and `logits`.
      prediction_key, label_key: Keys of predictions and of labels; None for the only tensor.
      weight_key: A key of the features; None for no weights.

    Raises:
      ValueError: metric_fn lacks an argument that a key needs, or has two for one thing.
    """

    def __init__(self, metric_fn: Callable[..., Any], prediction_key: Optional[str] = None,
                 label_key: Optional[str] = None, weight_key: Optional[str] = None) -> None:
        self._name = _name(metric_fn)
        self.metric_fn = _by_names(metric_fn, label_key is not None, weight_key is not None)
        self.prediction_key, self.label_key = prediction_key, label_key
        self.weight_key = weight_key

    def __str__(self) -> str:
        return (f"MetricSpec(metric_fn={self._name}, prediction_key={self.prediction_key}, "
                f"label_key={self.label_key}, weight_key={self.weight_key})")

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """Returns what the function makes of a batch.

        Args:
          inputs: Features by name.
          labels, predictions: A tensor, or a dict.

        Raises:
          ValueError: a key is needed, or there is no dict for one.
          KeyError: a key is missing.
        """
        prediction = _chosen("prediction", predictions, self.prediction_key)
        label = _chosen("label", labels, self.label_key)
        weights = inputs[self.weight_key] if self.weight_key else None
        try:
            return self.metric_fn(labels=label, predictions=prediction, weights=weights)
        except Exception as error:
            logging.error("Could not create metric ops for %s, %s.", self, error)
            raise


def _chosen(name: str, tensors: Any, key: Optional[str]) -> Any:
    if key:
        if not isinstance(tensors, dict):
            raise ValueError(f"MetricSpec with {name}_key specified requires {name}s dict, got "
                             f"{tensors}.")
        if key not in tensors:
            raise KeyError(f"Key '{key}' missing from {list(tensors)}.")
        return tensors[key]
    if not isinstance(tensors, dict):
        return tensors
    if len(tensors) != 1:
        raise ValueError(f"MetricSpec without specified {name}_key requires {name}s tensor or "
                         f"single element dict, got {tensors}")
    return next(iter(tensors.values()))


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", None)
               or getattr(getattr(function, "func", None), "__name__", None) or function)


def _arguments(function: Any) -> list[str]:
    if isinstance(function, functools.partial):
        return [name for name in _arguments(function.func) if name not in function.keywords]
    return inspect.getfullargspec(inspect.unwrap(function)).args


def _argument(function: Any, arguments: list[str], names: tuple[str, ...],
              is_required: bool) -> Optional[str]:
    found = [name for name in arguments if name in names]
    if len(found) > 1:
        raise ValueError(f"Ambiguous arguments {found}, must provide only one of {names}.")
    if not found and is_required:
        raise ValueError(f"{names} missing from {_name(function)}({arguments}).")
    return found[0] if found else None


def _by_names(function: Any, needs_labels: bool, needs_weights: bool) -> Callable[..., Any]:
    """Returns the function with the arguments `labels`, `predictions` and `weights`."""
    arguments = _arguments(function)
    for_labels = _argument(function, arguments, _LABELS, needs_labels)
    for_predictions = _argument(function, arguments, _PREDICTIONS, False)
    for_weights = _argument(function, arguments, _WEIGHTS, needs_weights)

    def metric(_sentinel: Any = None, labels: Any = None, predictions: Any = None,
               weights: Any = None) -> Any:
        if _sentinel is not None:
            raise ValueError("`metric_fn` requires named args: `labels`, `predictions`, and "
                             "optionally `weights`.")
        by_place, by_name = [], {}
        if for_predictions:
            by_name[for_predictions] = predictions
            by_name.update({for_labels: labels} if for_labels else {})
        elif for_labels and arguments[0] == for_labels:
            by_place = [labels, predictions]
        else:
            by_place = [predictions]
            by_name.update({for_labels: labels} if for_labels else {})
        if weights is not None:
            by_name[str(for_weights)] = weights
        return function(*by_place, **by_name)

    return metric
