"""Measures a label that is a number, so that a model can learn it in a unit of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from input_fns.reading.column import Column, measured

# The skewness of positive labels from which their logarithms are learned, if these are less skewed.
_SKEWED = 1.0
_LESS = 0.5


def learned(label: Column) -> dict[str, Any]:
    """Returns the param `label_scale` of a label of numbers in training lines, otherwise {}."""
    if label.training is None or not len(label.training):
        return {}
    return of_numbers(label.training)


def of_numbers(labels: np.ndarray) -> dict[str, Any]:
    """Returns the param `label_scale` of labels.

    Returns:
      Mean and deviation of the labels, or of their natural logarithms where `log` is true; {} if a
      label is not finite.
    """
    numbers = np.asarray(labels, np.float64)
    if not np.isfinite(numbers).all():
        return {}
    is_log = bool(float(numbers.min()) > 0 and _skewness(numbers) > _SKEWED
                  and abs(_skewness(np.log(numbers))) < _LESS * _skewness(numbers))
    mean, deviation = measured(np.log(numbers) if is_log else numbers)
    return {"mean": mean, "deviation": deviation, "log": is_log}


def _skewness(numbers: np.ndarray) -> float:
    deviation = numbers.std()
    return float(np.mean(((numbers - numbers.mean()) / deviation) ** 3)) if deviation else 0.0
