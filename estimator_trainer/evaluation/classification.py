"""What a classifier says of evaluated examples: the classes that it confuses, and how surely."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from estimator_trainer.evaluation.shown_examples import ShownExamples

# A larger matrix cannot be read; the pairs that are confused most often can.
_MOST_CLASSES = 50
_MOST_PAIRS = 30
_MOST_CURVES = 10
_BINS = 10
_THRESHOLDS = 51
_LEAST_PROBABILITY = 1e-12


class Classification:
    """Collects the label and the prediction of each example."""

    def __init__(self, class_names: Sequence[str] = ()):
        """Begins without examples; `class_names` are in the order of the classes."""
        self._class_names = tuple(class_names)
        self._labels: list[int] = []
        self._classes: list[int] = []
        self._probabilities: list[np.ndarray] = []
        self._worst = ShownExamples()
        self._most_certain = ShownExamples()

    def add(self, label: int, predicted: int, probabilities: np.ndarray | None,
            inputs: Mapping[str, Any]) -> None:
        """Adds one example.

        Args:
          label: Its class, from 0.
          predicted: The class that the model chose.
          probabilities: float [classes], or None.
          inputs: Its features by name.
        """
        position = len(self._labels)
        self._labels.append(label)
        self._classes.append(predicted)
        if probabilities is not None:
            self._probabilities.append(probabilities)
        if label == predicted:
            return
        told: dict[str, Any] = {"position": position, "label": self._name(label),
                                "predicted": self._name(predicted)}
        certainty = 0.0
        if probabilities is not None:
            certainty = float(probabilities[predicted])
            of_label = float(probabilities[label]) if label < len(probabilities) else 0.0
            told |= {"probability": certainty, "probability_of_label": of_label}
            self._worst.offer(-np.log(max(of_label, _LEAST_PROBABILITY)), told, inputs)
        self._most_certain.offer(certainty, told, inputs)

    def content(self) -> dict[str, Any]:
        """Returns all that there is to see, as JSON has it."""
        labels, classes = np.array(self._labels), np.array(self._classes)
        count = int(max(labels.max(initial=0), classes.max(initial=0))) + 1
        count = max(count, len(self._class_names))
        matrix = np.zeros([count, count], np.int64)
        np.add.at(matrix, (labels, classes), 1)
        found: dict[str, Any] = {
            "kind": "classification", "examples": len(labels),
            "accuracy": float(np.mean(labels == classes)),
            "class_names": [self._name(i) for i in range(count)],
            "per_class": _per_class(matrix), "confused": self._confused(matrix),
            "matrix": matrix.tolist() if count <= _MOST_CLASSES else None,
            "worst": self._worst.content(), "most_certain": self._most_certain.content()}
        if len(self._probabilities) == len(labels):
            probabilities = np.stack(self._probabilities)
            found["calibration"] = _calibration(probabilities, labels == classes, classes)
            found["pr_curves"] = _pr_curves(probabilities, labels)
        return found

    def _name(self, number: int) -> str:
        return self._class_names[number] if number < len(self._class_names) else str(number)

    def _confused(self, matrix: np.ndarray) -> list[dict[str, Any]]:
        """Returns the pairs of classes that were confused most often."""
        wrong = matrix - np.diag(np.diag(matrix))
        order = np.argsort(wrong, axis=None, kind="stable")[::-1][:_MOST_PAIRS]
        pairs = zip(*np.unravel_index(order, wrong.shape))
        return [{"label": self._name(int(i)), "predicted": self._name(int(j)),
                 "count": int(wrong[i, j])} for i, j in pairs if wrong[i, j]]


def _per_class(matrix: np.ndarray) -> list[dict[str, Any]]:
    """Returns the precision, the recall and the number of examples of each class."""
    right, labelled, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    return [{"examples": int(labelled[i]),
             "precision": float(right[i] / predicted[i]) if predicted[i] else None,
             "recall": float(right[i] / labelled[i]) if labelled[i] else None}
            for i in range(len(matrix))]


def _calibration(probabilities: np.ndarray, is_right: np.ndarray,
                 classes: np.ndarray) -> dict[str, Any]:
    """Compares how sure the model is with how often it is right.

    The expected calibration error is that of Guo et al., "On Calibration of Modern Neural
    Networks", arXiv:1706.04599, equation 3, with ten bins of equal width.
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

    Where there are two classes only the second has a curve; where there are over ten, none has.
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
