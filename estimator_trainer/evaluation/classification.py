"""A classification as a report shows it: confusion, metrics of each class, calibration, curves."""

import collections
from typing import Annotated, Any, Mapping, Sequence, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation import calibration, threshold_curves
from estimator_trainer.evaluation.column_entries import ColumnEntries
from estimator_trainer.evaluation.columns import Judged
from estimator_trainer.evaluation.shown_examples import ShownExample, ShownExamples

# A larger matrix is unreadable; the report then shows the pairs that are confused most often.
_MOST_CLASSES = 50
_MOST_PAIRS = 30
_MOST_ROWS = 500
_MOST_CURVES = 10
_THRESHOLDS = 51
# All curves together have about so many thresholds, for the size of the page.
_MOST_THRESHOLDS, _LEAST_THRESHOLDS = 6000, 40
_LEAST_PROBABILITY = 1e-12

# The number of examples of each label and prediction.
Pairs = collections.Counter[tuple[int, int]]

_PerClass = TypedDict("_PerClass", {
    "name": str, "examples": schema.Count, "precision": schema.Number | None,
    "recall": schema.Number | None})
_Confused = TypedDict("_Confused", {"label": str, "predicted": str, "count": schema.Count})
_Matrix = TypedDict("_Matrix", {"names": list[str], "counts": list[list[schema.Count]]})
_PrCurve = TypedDict("_PrCurve", {
    "name": str, "true_positives": list[schema.Count], "false_positives": list[schema.Count],
    "positives": schema.Count})


def _is_square(matrix: _Matrix) -> bool:
    size = len(matrix["names"])
    return len(matrix["counts"]) == size and all(len(row) == size for row in matrix["counts"])


class _ClassificationNeeded(TypedDict):
    examples: schema.Count
    evaluated: schema.Count
    step: int
    per_class: list[_PerClass]
    confused: list[_Confused]
    matrix: Annotated[_Matrix, schema.Rule("counts of each pair of names", _is_square)] | None
    worst: list[ShownExample]
    most_certain: list[ShownExample]


class ClassificationContent(_ClassificationNeeded, ColumnEntries, total=False):
    """The content of `evaluation.json` for a classification; most of these need probabilities.

    Attributes:
      label: The label's name, if the data have one.
      weight: The column that weighs the examples in the evaluation's metrics, and not here.
      pr_curves: Counts at thresholds of equal distance, for TensorBoard.
      curves: Counts at thresholds that the probabilities choose: of the second of two classes, or
        of each class against the others.
      gains: Of two classes, the share of the second class among the 5 %, 10 % ... of the examples
        with the highest probability.
    """

    label: str
    weight: str
    accuracy: schema.Number
    calibration: calibration.Calibration
    pr_curves: list[_PrCurve]
    curves: list[Annotated[threshold_curves.ThresholdCurve, threshold_curves.WHOLE]]
    gains: list[schema.Number]


class Classification:
    """Collects the label and the prediction of each example."""

    def __init__(self, class_names: Sequence[str] = ()):
        self._class_names = tuple(class_names)
        self._labels: list[int] = []
        self._classes: list[int] = []
        self._probabilities: list[np.ndarray] = []
        self._worst, self._most_certain = ShownExamples(), ShownExamples()

    def add(self, label: int, predicted: int, probabilities: np.ndarray | None,
            inputs: Mapping[str, Any]) -> None:
        """Adds one example; `probabilities` are float [classes], `inputs` the features by name."""
        position = len(self._labels)
        self._labels.append(label)
        self._classes.append(predicted)
        if probabilities is not None:
            self._probabilities.append(probabilities)
        if label == predicted:
            return
        shown: dict[str, Any] = {"position": position, "label": self._name(label),
                                 "predicted": self._name(predicted)}
        wrong = 0.0
        if probabilities is not None:
            certainty = float(probabilities[predicted])
            of_label = float(probabilities[label]) if label < len(probabilities) else 0.0
            shown |= {"probability": certainty, "probability_of_label": of_label}
            wrong = -np.log(max(of_label, _LEAST_PROBABILITY))
            # Both lists would be the same for two classes.
            if len(probabilities) > 2:
                self._most_certain.offer(certainty, shown, inputs)
        self._worst.offer(wrong, shown, inputs)

    @property
    def judged(self) -> Judged:
        """The labels, and the probabilities; without these, 0 and 1 of the classes alone."""
        labels = np.array(self._labels)
        if len(self._probabilities) == len(labels):
            return Judged(labels, np.stack(self._probabilities), self._class_names)
        classes = np.array(self._classes)
        count = max(len(self._class_names), int(classes.max()) + 1)
        return Judged(labels, np.eye(count)[classes], self._class_names)

    def content(self) -> dict[str, Any]:
        """Returns the content of `evaluation.json`."""
        labels, classes = np.array(self._labels), np.array(self._classes)
        pairs = collections.Counter(zip(self._labels, self._classes))
        found: dict[str, Any] = {
            "kind": "classification", "examples": len(labels),
            "accuracy": float(np.mean(labels == classes)),
            "per_class": self._per_class(pairs), "confused": self._confused(pairs),
            "matrix": self._matrix(pairs),
            "worst": self._worst.content(), "most_certain": self._most_certain.content()}
        if len(self._probabilities) == len(labels):
            probabilities = np.stack(self._probabilities)
            found["calibration"] = self._calibration(probabilities, labels, classes)
            found["pr_curves"] = [{"name": self._name(curve["class"]), **curve}
                                  for curve in _pr_curves(probabilities, labels)]
            found["curves"] = self._curves(probabilities, labels)
            if probabilities.shape[1] == 2:
                found["gains"] = threshold_curves.gains(probabilities[:, 1], labels == 1)
        return found

    def _calibration(self, probabilities: np.ndarray, labels: np.ndarray,
                     classes: np.ndarray) -> dict[str, Any]:
        """Returns the calibration of the second of two classes, or of the chosen class."""
        brier = {"brier": calibration.brier(probabilities, labels)}
        if probabilities.shape[1] == 2:
            return {**calibration.of(probabilities[:, 1], labels == 1), **brier,
                    "of_class": self._name(1)}
        chosen = np.minimum(classes, probabilities.shape[1] - 1)
        certainty = probabilities[np.arange(len(chosen)), chosen]
        return {**calibration.of(certainty, labels == classes), **brier}

    def _curves(self, probabilities: np.ndarray,
                labels: np.ndarray) -> list[threshold_curves.ThresholdCurve]:
        """Returns the curve of the second of two classes, or of each class with examples."""
        count = probabilities.shape[1]
        frequent = collections.Counter(each for each in self._labels if each < count)
        shown = [1] if count == 2 else sorted(
            number for number, _ in frequent.most_common(_MOST_CLASSES))
        most = min(threshold_curves.MOST_THRESHOLDS,
                   max(_LEAST_THRESHOLDS, _MOST_THRESHOLDS // max(1, len(shown))))
        return [threshold_curves.of(self._name(number), probabilities[:, number],
                                    labels == number, most) for number in shown]

    def _name(self, number: int) -> str:
        return self._class_names[number] if number < len(self._class_names) else str(number)

    def _matrix(self, pairs: Pairs) -> dict[str, Any] | None:
        """Returns the classes' `names`, and `counts` with a row per label; None if too many."""
        count = max(max(map(max, pairs)) + 1, len(self._class_names))
        if count > _MOST_CLASSES:
            return None
        return {"names": [self._name(i) for i in range(count)],
                "counts": [[pairs[i, j] for j in range(count)] for i in range(count)]}

    def _confused(self, pairs: Pairs) -> list[dict[str, Any]]:
        wrong = Pairs({pair: count for pair, count in pairs.items() if pair[0] != pair[1]})
        return [{"label": self._name(label), "predicted": self._name(predicted), "count": count}
                for (label, predicted), count in wrong.most_common(_MOST_PAIRS)]

    def _per_class(self, pairs: Pairs) -> list[dict[str, Any]]:
        """Returns the precision, the recall and the examples of each class that was seen."""
        labelled, predicted = map(collections.Counter, (self._labels, self._classes))
        # The report shows the classes with the most examples, if there are thousands.
        shown = sorted({*labelled, *predicted}, key=lambda i: (-labelled[i], i))[:_MOST_ROWS]
        return [{"name": self._name(i), "examples": labelled[i],
                 "precision": pairs[i, i] / predicted[i] if predicted[i] else None,
                 "recall": pairs[i, i] / labelled[i] if labelled[i] else None}
                for i in sorted(shown)]


def _pr_curves(probabilities: np.ndarray, labels: np.ndarray) -> list[dict[str, Any]]:
    """Returns precision and recall at thresholds, of each class against all others.

    With two classes only the second has a curve; with more than ten, none has.
    """
    count = probabilities.shape[1]
    chosen = [1] if count == 2 else list(range(count)) if count <= _MOST_CURVES else []
    thresholds = np.linspace(0, 1, _THRESHOLDS)
    curves = []
    for number in chosen:
        is_label = labels == number
        taken = probabilities[:, number][None, :] >= thresholds[:, None]
        true_positives = np.sum(taken & is_label, axis=1)
        false_positives = np.sum(taken & ~is_label, axis=1)
        curves.append({
            "class": number, "thresholds": thresholds.tolist(),
            "true_positives": true_positives.tolist(), "false_positives": false_positives.tolist(),
            "positives": int(is_label.sum()), "negatives": int((~is_label).sum())})
    return curves
