"""A regression as a report shows it: predictions by labels, residuals, errors."""

from typing import Any, Mapping, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation.column_entries import ColumnEntries
from estimator_trainer.evaluation.columns import Judged
from estimator_trainer.evaluation.shown_examples import ShownExample, ShownExamples

_REGRESSION_BINS = 30
_MOST_POINTS = 1000
_QUANTILES = 21
# The histogram ends this many interquartile ranges outside the quartiles: one error that is far
# from all others would put those into one bar.
_MOST_RANGES = 4
# The percentage of a label near 0 says nothing: labels have at least this share of the median.
_LEAST_OF_MEDIAN = 0.05

_Residuals = TypedDict("_Residuals", {"counts": list[schema.Count], "edges": list[schema.Number]})
_Points = TypedDict("_Points", {"labels": list[schema.Number], "predictions": list[schema.Number]})


class _RegressionNeeded(TypedDict):
    # Sums of large numbers may be infinite.
    examples: schema.Count
    evaluated: schema.Count
    step: int
    not_finite: schema.Count
    mean_error: float | None
    mean_absolute_error: float | None
    r_squared: float | None
    residuals: _Residuals
    points: _Points
    worst: list[ShownExample]


class RegressionContent(_RegressionNeeded, ColumnEntries, total=False):
    """The content of `evaluation.json` for a regression.

    Attributes:
      label: The label's name, if the data have one.
      weight: The column that weighs the examples in the evaluation's metrics, and not here.
      root_mean_squared_error: In the label's unit, as the other errors.
      root_of_mean: The root mean squared error of the labels' mean as the answer.
      mean_absolute_percentage_error: A share; None where a label is near 0.
      error_quantiles: The absolute errors that 0 %, 5 %, ... 100 % of the examples do not exceed.
      beyond: Number of residuals outside the histogram's edges.
    """

    label: str
    weight: str
    root_mean_squared_error: float | None
    root_of_mean: float | None
    median_absolute_error: float | None
    mean_absolute_percentage_error: float | None
    error_quantiles: list[schema.Number]
    beyond: schema.Count


class Regression:
    """Collects the label and the prediction of each example."""

    def __init__(self) -> None:
        self._labels: list[float] = []
        self._predictions: list[float] = []
        self._worst = ShownExamples()

    def add(self, label: float, predicted: float, inputs: Mapping[str, Any]) -> None:
        """Adds one example; `inputs` are its features by name."""
        shown = {"position": len(self._labels), "label": label, "predicted": predicted}
        self._labels.append(label)
        self._predictions.append(predicted)
        if np.isfinite(predicted - label):
            self._worst.offer(abs(predicted - label), shown, inputs)

    @property
    def judged(self) -> Judged:
        """The labels and the predictions."""
        return Judged(np.array(self._labels), np.array(self._predictions))

    def content(self) -> dict[str, Any]:
        """Returns the content of `evaluation.json`; a residual is prediction - label."""
        labels, predictions = np.array(self._labels), np.array(self._predictions)
        is_finite = np.isfinite(labels) & np.isfinite(predictions)
        labels, predictions = labels[is_finite], predictions[is_finite]
        residuals = predictions - labels
        low, high = _range(residuals)
        counts, edges = np.histogram(residuals, _REGRESSION_BINS, (low, high))
        points = np.linspace(0, len(labels) - 1, min(_MOST_POINTS, len(labels))).astype(int)
        spread = float(np.sum((labels - labels.mean()) ** 2)) if len(labels) else 0.0
        return {
            "kind": "regression", "examples": len(self._labels),
            "not_finite": int(np.sum(~is_finite)),
            "mean_error": float(residuals.mean()) if len(residuals) else None,
            "mean_absolute_error": float(np.abs(residuals).mean()) if len(residuals) else None,
            "r_squared": 1 - float(np.sum(residuals ** 2)) / spread if spread else None,
            **_errors(labels, residuals),
            "residuals": {"counts": counts.tolist(), "edges": edges.tolist()},
            "beyond": len(residuals) - int(counts.sum()),
            "points": {"labels": labels[points].tolist(),
                       "predictions": predictions[points].tolist()},
            "worst": self._worst.content()}


def _range(residuals: np.ndarray) -> tuple[float, float]:
    """Returns the ends of the histogram."""
    if not len(residuals):
        return 0.0, 1.0
    first, third = np.quantile(residuals, (0.25, 0.75))
    reach = _MOST_RANGES * (third - first) or np.inf
    low, high = max(residuals.min(), first - reach), min(residuals.max(), third + reach)
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(low) + 0.5)


def _errors(labels: np.ndarray, residuals: np.ndarray) -> dict[str, Any]:
    """Returns errors by scikit-learn's formulas, in the label's unit."""
    if not len(labels):
        return {}
    errors, sizes = np.abs(residuals), np.abs(labels)
    is_far = bool(sizes.min() > 0 and sizes.min() >= _LEAST_OF_MEDIAN * np.median(sizes))
    return {
        "root_mean_squared_error": float(np.sqrt(np.mean(residuals ** 2))),
        "root_of_mean": float(labels.std()), "median_absolute_error": float(np.median(errors)),
        "mean_absolute_percentage_error": float(np.mean(errors / sizes)) if is_far else None,
        "error_quantiles": np.quantile(errors, np.linspace(0, 1, _QUANTILES)).tolist()}
