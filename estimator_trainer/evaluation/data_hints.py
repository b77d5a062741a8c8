"""Hints on columns, slices and probabilities of an evaluation, each with its consequence."""

from typing import Any, Mapping

from estimator_trainer.errors import Param
from estimator_trainer.evaluation import slices as slices_lib

# A model this good by one column alone has hardly learned something that is known beforehand.
_LEAKED = {"AUC": 0.97, "accuracy": 0.97, "R²": 0.98}
_OF_ONE_COLUMN, _OF_THE_NEXT = 0.8, 0.05
_TOO_CERTAIN, _LEAST_CERTAIN = 0.1, 100
_FEW_EXAMPLES = 100
_SLICE_ACCURACY, _SLICE_ERROR = 0.1, 1.5
_UNSEEN_SHARE = 0.05
# A model that orders the examples, and finds few of a class, has a threshold that is too high.
_LEAST_AUC, _LEAST_RECALL, _LEAST_OF_CLASS = 0.6, 0.5, 20
_SHOWN = 2


def of_leak(content: Mapping[str, Any], params: Mapping[str, Any]) -> list[str]:
    """Returns a sentence if one column carries nearly all of a very good score.

    `content` is that of `evaluation.json`, here and below; `params` those of model and data.
    """
    importance = content.get("columns", {}).get("importance")
    if not importance or len(importance["found"]) < 2:
        return []
    metric, base = importance["metric"], importance["base"]
    first, second = importance["found"][:2]
    chance = {"AUC": 0.5, "R²": 0.0}.get(metric, _largest_class(content))
    if base < _LEAKED.get(metric, 2.0) or first["drop"] < _OF_ONE_COLUMN * (base - chance) or (
            second["drop"] > _OF_THE_NEXT * first["drop"]):
        return []
    name = first["name"]
    return [f"column {name!r} carries nearly all of the score: with its values shuffled, {metric}"
            f" falls from {base:.3g} to {base - first['drop']:.3g}. Is it known before the label"
            " is? If not, leave it out" + (f": {Param('drop', [*params['drop'], name])}"
                                           if isinstance(params.get("drop"), list) else "")]


def of_few(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence if the evaluation has few examples."""
    count = content["evaluated"]
    if count >= _FEW_EXAMPLES:
        return []
    text = f"the evaluation has {count:,} examples only"
    if content.get("accuracy") is None:
        return [f"{text}: with others, its figures may differ much"]
    low, high = slices_lib.wilson(content["accuracy"], max(1, content["examples"]))
    return [f"{text}: an accuracy of {content['accuracy']:.2g} may as well be {low:.2g} or"
            f" {high:.2g} with others"]


def of_drift(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence on columns whose values in the evaluation are not those of the training.
    """
    columns = [each for each in content.get("data", {}).get("columns", ())
               if each["has_drifted"] and each["drift"]]
    if not columns:
        return []
    shown = []
    for each in sorted(columns, key=lambda each: -each["drift"])[:_SHOWN]:
        low, high = each.get("medians") or (None, None)
        shown.append(f"{each['name']!r} (PSI {each['drift']:.2g}" + (
            f", median {low:.6g} in training and {high:.6g} in the evaluation)"
            if low is not None and high != low else ")"))
    others = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    return [f"drifted between training and evaluation: {', '.join(shown)}{others}. The metrics are"
            " those of other data than the model learned from"]


def of_unseen(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence on columns with many values that training has not seen."""
    data = content.get("data", {})
    found = [f"{each['name']!r} in {each['unseen']:,} of {data['evaluation_rows']:,} rows, such as"
             f" {each['examples'][0]!r}" for each in data.get("columns", ())
             if each["examples"] and each["unseen"] > _UNSEEN_SHARE * data["evaluation_rows"]]
    return [f"values of the evaluation that training has not seen: {'; '.join(found[:_SHOWN])}. The"
            " model has learned nothing about them"] if found else []


def of_certainty(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence if the probabilities of the chosen classes are too high."""
    bins = [each for each in content.get("calibration", {}).get("bins", ()) if each["examples"]]
    count = sum(each["examples"] for each in bins)
    if count < _LEAST_CERTAIN:
        return []
    certain = right = 0.0
    for each in bins:
        # The bins may be those of the second class's probability, where there are two.
        is_chosen = each["certainty"] >= 0.5 or "of_class" not in content["calibration"]
        certain += each["examples"] * (each["certainty"] if is_chosen else 1 - each["certainty"])
        right += each["examples"] * (each["accuracy"] if is_chosen else 1 - each["accuracy"])
    if (certain - right) / count < _TOO_CERTAIN:
        return []
    return [f"the probabilities are too certain: {certain / count:.2g} on average for the chosen"
            f" class, which is right in {right / count:.2g} of the examples. Do not read them as"
            " probabilities; a shorter training or a smaller model is less certain"]


def of_slices(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence if the model is much worse for some rows."""
    slices = content.get("slices")
    worst = slices_lib.worst(slices) if slices else None
    if not slices or not worst:
        return []
    score, elsewhere = worst["score"], worst["elsewhere"]
    is_much = (elsewhere - score >= _SLICE_ACCURACY if slices["metric"] == "accuracy" else
               score >= _SLICE_ERROR * elsewhere)
    return [f"much worse for some rows: {slices_lib.sentence(worst, slices['metric'])}. More such"
            " rows to train on may help"] if is_much else []


def _largest_class(content: Mapping[str, Any]) -> float:
    examples = [each["examples"] for each in content.get("per_class", ())]
    return max(examples, default=0) / max(1, sum(examples))


def of_missed(content: Mapping[str, Any]) -> list[str]:
    """Returns a sentence if a model of two classes that orders them well finds few of the second.
    """
    [curve, *others] = content.get("curves") or [None]
    named = {each["name"]: each for each in content.get("per_class", ())}
    found = named.get(curve["name"]) if curve else None
    if found is None or others or len(named) != 2 or found["examples"] < _LEAST_OF_CLASS or (
            curve["auc"] or 0.0) < _LEAST_AUC or found["recall"] >= _LEAST_RECALL:
        return []
    count = found["examples"]
    return [f"{round(count * found['recall']):,} of {count:,} examples of {found['name']!r} are"
            f" found ({found['recall']:.0%}), though the probabilities order them (AUC"
            f" {curve['auc']:.3g}): a threshold below 0.5 finds more, see the curves below"]
