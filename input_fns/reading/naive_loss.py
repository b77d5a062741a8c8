"""The loss of one answer for all examples, which a model has to beat."""

from __future__ import annotations

from typing import Sequence, Union

import numpy as np

Ints = Union[Sequence[int], np.ndarray]


def of_classes(counts: Ints, evaluated: Ints) -> float:
    """Returns the cross-entropy of the shares of the classes.

    Args:
      counts: The number of examples to train on of each class.
      evaluated: The class of each example to evaluate.
    """
    # Each class counts once more, so that one that training lacks has a share too.
    weights = np.asarray(counts) + 1
    return float(-np.log(weights[np.asarray(evaluated)] / weights.sum()).mean())


def of_numbers(training: np.ndarray, evaluated: np.ndarray) -> float:
    """Returns the squared error of the mean of the labels to train on."""
    return float(np.square(evaluated - training.mean()).mean())
