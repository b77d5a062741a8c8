"""Counts of one class against all others at thresholds of its probability, and areas under curves.

Curves of n scores have up to n thresholds. The areas are exact, of all of them; a report shows
some, chosen by the ranks of the scores, so that they also tell scores apart that are all near 0.
"""

from typing import Any, TypedDict

import numpy as np

from estimator_trainer import schema

MOST_THRESHOLDS = 200
# The threshold at which a model of two classes chooses the class itself.
OWN = 0.5


class ThresholdCurve(TypedDict):
    """A class against all others: the counts of the examples whose score is >= each threshold.

    Attributes:
      thresholds: Scores from high to low, among them `OWN`, the index `own`.
      best: The index of the threshold of the highest F1.
      auc: The area under the ROC curve, as scikit-learn's `roc_auc_score`; None without examples
        of both kinds.
      average_precision: As scikit-learn's `average_precision_score`; None without positives.
    """

    name: str
    positives: schema.Count
    negatives: schema.Count
    thresholds: list[schema.Number]
    true_positives: list[schema.Count]
    false_positives: list[schema.Count]
    own: schema.Count
    best: schema.Count
    auc: schema.Number | None
    average_precision: schema.Number | None


def is_whole(curve: ThresholdCurve) -> bool:
    """Returns whether the lists of a curve have one length, and the indices are inside."""
    length = len(curve["thresholds"])
    return (length == len(curve["true_positives"]) == len(curve["false_positives"])
            and max(curve["own"], curve["best"]) < length)


# The condition on a curve that was read from a file.
WHOLE = schema.Rule("a curve with one length of all its lists", is_whole)


def of(name: str, scores: np.ndarray, is_positive: np.ndarray,
       most: int = MOST_THRESHOLDS) -> ThresholdCurve:
    """Returns the curve of scores, float [examples], and of the examples that are positive, bool.

    At least one example is needed; `most` is about the number of thresholds that are kept.
    """
    order = np.argsort(-scores, kind="stable")
    scores, is_positive = scores[order].astype(np.float64), is_positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    right = np.cumsum(is_positive)[last]
    wrong = last + 1 - right
    positives, negatives = int(right[-1]), int(wrong[-1])
    best = int(np.argmax(2 * right / (last + 1 + max(positives, 1))))
    kept = _kept(last, right, most) | {best}
    rows = {float(scores[last[i]]): (int(right[i]), int(wrong[i])) for i in kept}
    # OWN stands for the lowest score above it.
    above = int(np.sum(scores[last] >= OWN))
    rows.pop(float(scores[last[above - 1]]) if above and best != above - 1 else OWN, None)
    rows[OWN] = (int(right[above - 1]), int(wrong[above - 1])) if above else (0, 0)
    thresholds = sorted(rows, reverse=True)
    return {
        "name": name, "positives": positives, "negatives": negatives, "thresholds": thresholds,
        "true_positives": [rows[each][0] for each in thresholds],
        "false_positives": [rows[each][1] for each in thresholds],
        "own": thresholds.index(OWN), "best": thresholds.index(float(scores[last[best]])),
        "auc": _auc(right / positives, wrong / negatives) if positives and negatives else None,
        "average_precision": _average_precision(right, last + 1) if positives else None}


def gains(scores: np.ndarray, is_positive: np.ndarray, parts: int = 20) -> list[float]:
    """Returns the share of the positives among the 1/parts, 2/parts, ... with the highest scores.

    Examples of the same score count with the mean of their group, so their order does not matter.
    """
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    found = np.cumsum(is_positive[order])[last] / max(1, int(np.sum(is_positive)))
    at = np.arange(1, parts + 1) * len(scores) / parts
    shares: list[float] = np.interp(at, [0, *(last + 1)], [0, *found]).tolist()
    return shares


def _kept(last: np.ndarray, right: np.ndarray, most: int) -> set[int]:
    """Returns the indices of the thresholds to keep.

    One half is at equal distances among all examples, the other among the positive ones: where few
    are positive, the first alone would leave out most of the curve of precision by recall.
    """
    if len(last) <= most:
        return set(range(len(last)))
    of_all = np.searchsorted(last, np.linspace(0, last[-1], most // 2))
    of_positive = np.searchsorted(right, np.linspace(1, max(1, right[-1]), most // 2))
    return set(np.minimum([*of_all, *of_positive], len(last) - 1).tolist())


def _auc(recall: np.ndarray, false_rate: np.ndarray) -> float:
    recall, false_rate = np.append(0, recall), np.append(0, false_rate)
    return float(np.sum(np.diff(false_rate) * (recall[1:] + recall[:-1]) / 2))


def _average_precision(right: np.ndarray, chosen: np.ndarray) -> float:
    return float(np.sum(np.diff(np.append(0, right / right[-1])) * right / chosen))


def at(curve: ThresholdCurve, index: int) -> dict[str, Any]:
    """Returns the counts and the metrics at a threshold; None where there is nothing to divide by.

    The metrics have the names and the formulas of scikit-learn.
    """
    right, wrong = curve["true_positives"][index], curve["false_positives"][index]
    missed, left = curve["positives"] - right, curve["negatives"] - wrong
    count = max(1, curve["positives"] + curve["negatives"])
    return {
        "threshold": curve["thresholds"][index], "tp": right, "fp": wrong, "fn": missed, "tn": left,
        "precision": right / (right + wrong) if right + wrong else None,
        "recall": right / curve["positives"] if curve["positives"] else None,
        "f1": 2 * right / (2 * right + wrong + missed) if right + wrong + missed else None,
        "accuracy": (right + left) / count, "share": (right + wrong) / count}
