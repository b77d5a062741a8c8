"""Examples with several labels each as a report shows them: every label against its absence."""

from typing import Annotated, Any, Mapping, Sequence, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation import threshold_curves
from estimator_trainer.evaluation.columns import ColumnsContent, Judged
from estimator_trainer.evaluation.shown_examples import ShownExample, ShownExamples

_MOST_LABELS = 50
_MOST_THRESHOLDS, _LEAST_THRESHOLDS = 6000, 40
_LEAST_PROBABILITY = 1e-12

_PerLabel = TypedDict("_PerLabel", {
    "name": str, "examples": schema.Count, "precision": schema.Number | None,
    "recall": schema.Number | None})


class _MultiLabelNeeded(TypedDict):
    examples: schema.Count
    evaluated: schema.Count
    step: int
    subset_accuracy: schema.Number
    hamming_loss: schema.Number
    labels: schema.Count
    per_class: list[_PerLabel]
    curves: list[Annotated[threshold_curves.ThresholdCurve, threshold_curves.WHOLE]]
    worst: list[ShownExample]


class MultiLabelContent(_MultiLabelNeeded, total=False):
    """The content of `evaluation.json` for examples with several labels each.

    Attributes:
      subset_accuracy: The share of the examples with all labels right, at the threshold 0.5, as
        scikit-learn's `accuracy_score`.
      hamming_loss: The share of the labels that are wrong, as scikit-learn's `hamming_loss`.
      labels: The number of labels, of which the most frequent are in `per_class` and `curves`.
    """

    label: str
    weight: str
    columns: ColumnsContent


class MultiLabel:
    """Collects the labels and the probabilities of each example."""

    def __init__(self, names: Sequence[str] = ()):
        self._names = tuple(names)
        self._labels: list[np.ndarray] = []
        self._probabilities: list[np.ndarray] = []
        self._worst = ShownExamples()

    def add(self, labels: np.ndarray, probabilities: np.ndarray, inputs: Mapping[str, Any]) -> None:
        """Adds an example: which labels it has, bool [labels], and the probability of each."""
        chosen = probabilities >= threshold_curves.OWN
        if np.any(chosen != labels):
            of_right = np.where(labels, probabilities, 1 - probabilities)
            loss = -np.sum(np.log(np.maximum(of_right, _LEAST_PROBABILITY)))
            self._worst.offer(loss, {
                "position": len(self._labels), "label": self._texts(labels),
                "predicted": self._texts(chosen)}, inputs)
        self._labels.append(labels)
        self._probabilities.append(probabilities)

    @property
    def judged(self) -> Judged | None:
        """None: the metrics of columns take one label."""
        return None

    def content(self) -> dict[str, Any]:
        """Returns the content of `evaluation.json`."""
        labels, probabilities = np.stack(self._labels), np.stack(self._probabilities)
        is_wrong = (probabilities >= threshold_curves.OWN) != labels
        count = labels.shape[1]
        frequent = np.argsort(-labels.sum(axis=0), kind="stable")[:_MOST_LABELS]
        most = min(threshold_curves.MOST_THRESHOLDS,
                   max(_LEAST_THRESHOLDS, _MOST_THRESHOLDS // len(frequent)))
        curves = [threshold_curves.of(self._name(i), probabilities[:, i], labels[:, i], most)
                  for i in sorted(frequent.tolist())]
        return {
            "kind": "multi_label", "examples": len(labels), "labels": count,
            "subset_accuracy": float(np.mean(~is_wrong.any(axis=1))),
            "hamming_loss": float(is_wrong.mean()),
            "per_class": list(map(_per_label, curves)), "curves": curves,
            "worst": self._worst.content()}

    def _name(self, number: int) -> str:
        return self._names[number] if number < len(self._names) else str(number)

    def _texts(self, chosen: np.ndarray) -> str:
        return ", ".join(self._name(int(i)) for i in np.flatnonzero(chosen)) or "none"


def _per_label(curve: threshold_curves.ThresholdCurve) -> dict[str, Any]:
    found = threshold_curves.at(curve, curve["own"])
    return {"name": curve["name"], "examples": curve["positives"],
            "precision": found["precision"], "recall": found["recall"]}
