"""A ranking as a report shows it: the scores of each label, and the labels at each rank."""

from typing import Any, Mapping, TypedDict

import numpy as np

from estimator_trainer import schema
from estimator_trainer.evaluation.columns import Judged

# The metrics of rankings, as they begin in TF-Ranking and elsewhere.
_METRICS = ("ndcg", "mrr", "dcg", "map@", "mean_average_precision", "precision@", "arp")
_MOST_RANKS, _MOST_LABELS = 10, 20
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

_OfLabel = TypedDict("_OfLabel", {"label": schema.Number, "examples": schema.Count,
                                  "quantiles": list[schema.Number]})


class _RankingNeeded(TypedDict):
    examples: schema.Count
    evaluated: schema.Count
    step: int
    of_labels: list[_OfLabel]


class RankingContent(_RankingNeeded, total=False):
    """The content of `evaluation.json` for a ranking.

    Attributes:
      of_labels: Quantiles 10 %, 25 %, 50 %, 75 % and 90 % of the scores of each label.
      at_ranks: The mean label at ranks 1, 2, ... by score; missing if no example is a whole query.
    """

    label: str
    weight: str
    at_ranks: list[schema.Number]


def is_ranked(metrics: Mapping[str, Any]) -> bool:
    """Returns whether an evaluation has a metric of rankings."""
    return any(name.lower().rpartition("/")[2].startswith(_METRICS) for name in metrics)


class Ranking:
    """Collects the labels and the scores of each example, or of each query."""

    def __init__(self) -> None:
        self._labels: list[np.ndarray] = []
        self._scores: list[np.ndarray] = []

    def add(self, labels: np.ndarray, scores: np.ndarray) -> None:
        """Adds an example, or a query with several: numbers [examples]; a label < 0 is padding."""
        is_there = (labels >= 0) & np.isfinite(scores)
        self._labels.append(labels[is_there])
        self._scores.append(scores[is_there])

    @property
    def judged(self) -> Judged | None:
        """None: the metrics of columns do not know the queries."""
        return None

    def content(self) -> dict[str, Any]:
        """Returns the content of `evaluation.json`."""
        labels, scores = np.concatenate(self._labels), np.concatenate(self._scores)
        kinds, counts = np.unique(labels, return_counts=True)
        shown = np.sort(kinds[np.argsort(-counts, kind="stable")[:_MOST_LABELS]])
        found = {"kind": "ranking", "examples": len(self._labels), "of_labels": [
            {"label": float(each), "examples": int(np.sum(labels == each)),
             "quantiles": np.quantile(scores[labels == each], _QUANTILES).tolist()}
            for each in shown]}
        if any(len(each) > 1 for each in self._labels):
            found["at_ranks"] = self._at_ranks()
        return found

    def _at_ranks(self) -> list[float]:
        ranked = [labels[np.argsort(-scores, kind="stable")]
                  for labels, scores in zip(self._labels, self._scores)]
        return [float(np.mean([each[i] for each in ranked if len(each) > i]))
                for i in range(min(_MOST_RANKS, max(map(len, ranked))))]
