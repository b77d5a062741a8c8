"""A regression as a report shows it: predictions by labels, residuals, errors."""

from typing import Any, Mapping, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation.columns import ColumnsContent, Judged
from estimator_trainer.evaluation.shown_examples import ShownExample, ShownExamples

_REGRESSION_BINS = 30
_MOST_POINTS = 1000

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


class RegressionContent(_RegressionNeeded, total=False):
    """The content of `evaluation.json` for a regression; `columns` needs features by name."""

    columns: ColumnsContent


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
        counts, edges = np.histogram(residuals, _REGRESSION_BINS)
        points = np.linspace(0, len(labels) - 1, min(_MOST_POINTS, len(labels))).astype(int)
        spread = float(np.sum((labels - labels.mean()) ** 2)) if len(labels) else 0.0
        return {
            "kind": "regression", "examples": len(self._labels),
            "not_finite": int(np.sum(~is_finite)),
            "mean_error": float(residuals.mean()) if len(residuals) else None,
            "mean_absolute_error": float(np.abs(residuals).mean()) if len(residuals) else None,
            "r_squared": 1 - float(np.sum(residuals ** 2)) / spread if spread else None,
            "residuals": {"counts": counts.tolist(), "edges": edges.tolist()},
            "points": {"labels": labels[points].tolist(),
                       "predictions": predictions[points].tolist()},
            "worst": self._worst.content()}
