"""Hints on a model that has learned nothing, or was not tried on every class."""

from typing import Any, Mapping

import numpy as np

# Fewer examples say little.
_LEAST_EXAMPLES = 20
# A model whose classes are the most frequent one alone may still order the examples.
_CHANCE_AUC = 0.55
_SHOWN_NAMES = 5


def of_evaluation(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each thing that the user should look at.

    `content` is that of `evaluation.json` (evaluated_examples.py).
    """
    if content["examples"] < _LEAST_EXAMPLES:
        return []
    if content["kind"] == "regression":
        return _of_regression(content["r_squared"])
    return [*_of_chance(content), *_of_absent_classes(content)]


def _of_regression(r_squared: float | None) -> list[str]:
    if r_squared is None or r_squared > 0:
        return []
    return [f"the model is no better than the mean of the labels as the answer (R² {r_squared:.3g})"
            ": look at the features, and for labels that are far from 0 at their scale"]


def _of_chance(content: Mapping[str, Any]) -> list[str]:
    examples = {each["name"]: each["examples"] for each in content["per_class"]}
    name = max(examples, key=lambda each: examples[each])
    share = examples[name] / max(1, sum(examples.values()))
    is_separated = any(_auc(curve) > _CHANCE_AUC for curve in content.get("pr_curves", ()))
    if len(examples) < 2 or content["accuracy"] > share or is_separated:
        return []
    return [f"the model is no better than {name!r} as the only answer: {share:.1%} of the examples"
            f" are of that class, and {content['accuracy']:.1%} of the answers are right. Look at"
            " the features, or train longer or with another learning rate"]


def _auc(curve: Mapping[str, Any]) -> float:
    """Returns the area under the ROC curve of a class against all others."""
    if not curve["positives"] or not curve["negatives"]:
        return 0.5
    points = sorted({(0.0, 0.0), (1.0, 1.0), *zip(
        np.divide(curve["false_positives"], curve["negatives"]),
        np.divide(curve["true_positives"], curve["positives"]))})
    return float(sum((x - last_x) * (y + last_y) / 2
                     for (last_x, last_y), (x, y) in zip(points, points[1:])))


def _of_absent_classes(content: Mapping[str, Any]) -> list[str]:
    matrix = content["matrix"]
    if not matrix or content["examples"] < content["evaluated"]:
        return []
    absent = [name for name, row in zip(matrix["names"], matrix["counts"]) if not sum(row)]
    if not absent:
        return []
    shown = ", ".join(map(repr, absent[:_SHOWN_NAMES])) + ", ..." * (len(absent) > _SHOWN_NAMES)
    return [f"the evaluation has no example of {len(absent)} of {len(matrix['names'])} classes:"
            f" {shown}. Its metrics say nothing about them"]
