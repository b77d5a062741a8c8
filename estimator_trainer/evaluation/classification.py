"""A classification as a report shows it: confusion, metrics of each class, calibration, curves."""

import collections
from typing import Annotated, Any, Mapping, Sequence, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation.columns import ColumnsContent, Judged
from estimator_trainer.evaluation.shown_examples import ShownExample, ShownExamples

# A larger matrix is unreadable; the report then shows the pairs that are confused most often.
_MOST_CLASSES = 50
_MOST_PAIRS = 30
_MOST_ROWS = 500
_MOST_CURVES = 10
_BINS = 10
_THRESHOLDS = 51
_LEAST_PROBABILITY = 1e-12

# The number of examples of each label and prediction.
Pairs = collections.Counter[tuple[int, int]]

_PerClass = TypedDict("_PerClass", {
    "name": str, "examples": schema.Count, "precision": schema.Number | None,
    "recall": schema.Number | None})
_Confused = TypedDict("_Confused", {"label": str, "predicted": str, "count": schema.Count})
_Matrix = TypedDict("_Matrix", {"names": list[str], "counts": list[list[schema.Count]]})
_Bin = TypedDict("_Bin", {"examples": schema.Count, "certainty": schema.Number | None,
                          "accuracy": schema.Number | None})
_Calibration = TypedDict("_Calibration", {"bins": list[_Bin], "expected_error": schema.Number})
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


class ClassificationContent(_ClassificationNeeded, total=False):
    """The content of `evaluation.json` for a classification.

    `calibration` and `pr_curves` need probabilities, `columns` features by name.
    """

    columns: ColumnsContent
    calibration: _Calibration
    pr_curves: list[_PrCurve]


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
        certainty = 0.0
        if probabilities is not None:
            certainty = float(probabilities[predicted])
            of_label = float(probabilities[label]) if label < len(probabilities) else 0.0
            shown |= {"probability": certainty, "probability_of_label": of_label}
            self._worst.offer(-np.log(max(of_label, _LEAST_PROBABILITY)), shown, inputs)
        self._most_certain.offer(certainty, shown, inputs)

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
            found["calibration"] = _calibration(probabilities, labels == classes, classes)
            found["pr_curves"] = [{"name": self._name(curve["class"]), **curve}
                                  for curve in _pr_curves(probabilities, labels)]
        return found

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


def _calibration(probabilities: np.ndarray, is_right: np.ndarray,
                 classes: np.ndarray) -> dict[str, Any]:
    """Compares the model's certainty with its accuracy, in ten bins of equal width.

    The expected calibration error: Guo et al., "On Calibration of Modern Neural Networks",
    arXiv:1706.04599, equation 3.
    """
    chosen = np.minimum(classes, probabilities.shape[1] - 1)
    certainty = probabilities[np.arange(len(chosen)), chosen]
    bins = np.minimum((certainty * _BINS).astype(int), _BINS - 1)
    found: list[dict[str, Any]] = []
    error = 0.0
    for i in range(_BINS):
        is_in = bins == i
        count = int(np.sum(is_in))
        sure, right = ((float(certainty[is_in].mean()), float(is_right[is_in].mean())) if count
                       else (None, None))
        found.append({"examples": count, "certainty": sure, "accuracy": right})
        error += count / len(bins) * abs((sure or 0.0) - (right or 0.0))
    return {"bins": found, "expected_error": error}


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
