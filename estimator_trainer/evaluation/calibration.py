"""Calibration: the probabilities of a model beside the share that is right."""

from typing import Any, TypedDict

import numpy as np

from estimator_trainer import schema

_BINS = 10
# Fewer examples in a bin say little.
_LEAST_OF_BIN = 25

Bin = TypedDict("Bin", {"examples": schema.Count, "certainty": schema.Number | None,
                        "accuracy": schema.Number | None})
_Needed = TypedDict("_Needed", {"bins": list[Bin], "expected_error": schema.Number})


class Calibration(_Needed, total=False):
    """The calibration of a class's probability, or of the chosen class's.

    Attributes:
      bins: Bins of equal width, from 0 to 1: the examples of each, the mean probability, and the
        share whose class it is.
      reliability: The same for bins of equal counts, as scikit-learn's `calibration_curve` with
        strategy "quantile".
      expected_error: Expected calibration error (Guo et al., "On Calibration of Modern Neural
        Networks", arXiv:1706.04599, equation 3).
      brier: As scikit-learn's `brier_score_loss`: for two classes between 0 and 1, for more 0 to 2.
      of_class: The name of the class; missing: the class that the model chose.
    """

    reliability: list[Bin]
    brier: schema.Number
    of_class: str


def of(certainty: np.ndarray, is_right: np.ndarray) -> dict[str, Any]:
    """Returns `bins`, `reliability` and `expected_error` of probabilities, float [examples].

    `is_right` is bool [examples]: whether the example has the class of the probability.
    """
    found = [_bin(certainty, is_right, np.minimum((certainty * _BINS).astype(int), _BINS - 1) == i)
             for i in range(_BINS)]
    error = sum(each["examples"] / len(certainty) * abs(each["certainty"] - each["accuracy"])
                for each in found if each["examples"])
    count = max(2, min(_BINS, len(certainty) // _LEAST_OF_BIN))
    edges = np.unique(np.quantile(certainty, np.linspace(0, 1, count + 1)))
    place = np.searchsorted(edges[1:-1], certainty)
    reliability = [_bin(certainty, is_right, place == i) for i in range(max(1, len(edges) - 1))]
    return {"bins": found, "reliability": [each for each in reliability if each["examples"]],
            "expected_error": error}


def brier(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Returns the Brier score of probabilities [examples, classes] and of classes [examples]."""
    if probabilities.shape[1] == 2:
        return float(np.mean((probabilities[:, 1] - (labels == 1)) ** 2))
    is_label = labels[:, None] == np.arange(probabilities.shape[1])
    return float(np.mean(np.sum((probabilities - is_label) ** 2, axis=1)))


def _bin(certainty: np.ndarray, is_right: np.ndarray, is_in: np.ndarray) -> dict[str, Any]:
    count = int(np.sum(is_in))
    if not count:
        return {"examples": 0, "certainty": None, "accuracy": None}
    return {"examples": count, "certainty": float(certainty[is_in].mean()),
            "accuracy": float(is_right[is_in].mean())}
