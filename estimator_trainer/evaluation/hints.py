"""Hints on a model that has learned nothing, or was not tried on every class."""

from typing import Any, Mapping, Sequence

import numpy as np

from estimator_trainer.errors import Param
from estimator_trainer.evaluation import data_hints

# Fewer examples say little.
_LEAST_EXAMPLES = 20
# A model whose classes are the most frequent one alone may still order the examples.
_CHANCE_AUC = 0.55
_SHOWN_NAMES = 5
# Losses of single batches vary: as many lines of the log, at least, show whether they fall.
_LEAST_LINES = 6
# A loss that is so much higher did not get there by chance.
_GROWN = 1.5
_RATE_EXAMPLE = 0.0001


def of_evaluation(content: Mapping[str, Any], params: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each thing that the user should look at, for the log.

    Args:
      content: The content of `evaluation.json` (classification.py, regression.py).
      params: The params of model and data.
    """
    return [*data_hints.of_leak(content, params), *of_answers(content),
            *data_hints.of_drift(content), *data_hints.of_certainty(content),
            *data_hints.of_slices(content)]


def of_answers(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence on a model that has learned nothing, and on classes without examples."""
    if content["examples"] < _LEAST_EXAMPLES:
        return []
    if content["kind"] == "regression":
        return _of_regression(content["r_squared"])
    if content["kind"] != "classification":
        return []
    return [*_of_chance(content), *_of_absent_classes(content)]


def of_training(losses: Sequence[float], content: Mapping[str, Any],
                params: Mapping[str, Any]) -> list[str]:
    """Returns a sentence if the training loss of a model that learned nothing did not fall.

    The loss alone does not decide: it may rise while a model learns, as with a growing penalty.

    Args:
      losses: The loss of the first step, and those of the lines of the log.
      content: The content of `evaluation.json` of the model.
      params: The model's params, among which may be a learning rate.
    """
    first, *lines = losses or [0.0]
    if content["kind"] not in ("classification", "regression"):
        return []
    if len(lines) < _LEAST_LINES or not np.all(np.isfinite(losses)) or min(losses) <= 0:
        return []
    third = len(lines) // 3
    end, start, least = float(np.median(lines[-third:])), first, first
    if not _is_chance(content):
        start = max(first, float(np.median(lines[:third])))
        least = _GROWN * start
    if end < least or _is_good(content):
        return []
    return [f"the training loss did not fall: {start:.4g} at the start, {end:.4g} in the last third"
            f" of training. {lower_rate(params)}"]


def _is_chance(content: Mapping[str, Any]) -> bool:
    """Returns whether a model is no better than one answer for all examples."""
    if content["kind"] == "regression":
        return bool(_of_regression(content["r_squared"]))
    return bool(_of_chance(content))


def _is_good(content: Mapping[str, Any]) -> bool:
    """Returns whether a model makes half the errors of one answer for all, as far as is known."""
    if content["kind"] == "regression":
        return content["r_squared"] is None or content["r_squared"] > 0.5
    examples = [each["examples"] for each in content["per_class"]]
    share = max(examples, default=0) / max(1, sum(examples))
    return bool(content["accuracy"] > (1 + share) / 2)


def lower_rate(params: Mapping[str, Any]) -> str:
    """Returns what to do about a learning rate that may be too high."""
    rates = {key: value for key, value in params.items() if key.endswith("learning_rate")
             and isinstance(value, (int, float))}
    # A rate of 0 stands for the model's own, which it may not use beside one that is set.
    rates = {key: value for key, value in rates.items() if value} or rates
    if not rates:
        return "Try a lower learning rate, or look at the scale of the features"
    return "Try a lower learning rate: " + " or ".join(
        f"{Param(key, float(f'{value / 10:.3g}') or _RATE_EXAMPLE)}"
        + (f" (now {value:g})" if value else "") for key, value in rates.items())


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
