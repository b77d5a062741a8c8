"""The calibration of a classifier on a page: charts, and whether the probabilities hold."""

import math
from typing import Any, Mapping, Sequence

from estimator_trainer.reports import charts as charts_lib

_LEAST_EXAMPLES = 100
# A smaller mean gap matters to no decision; where chance alone makes a larger one, nothing is said.
_SMALL_GAP, _LARGE_NOISE = 0.02, 0.05


def charts_of(found: Mapping[str, Any]) -> list[charts_lib.Chart]:
    """Returns the reliability, and the number of examples by probability."""
    bins, of_what = found["bins"], _of_what(found)
    seen = [(each["certainty"], each["accuracy"]) for each in found.get("reliability", bins)
            if each["certainty"] is not None]
    middles = [(i + 0.5) / len(bins) for i in range(len(bins))]
    score = f", Brier score {found['brier']:.3f}" if "brier" in found else ""
    share = f"share that is {found['of_class']}" if "of_class" in found else "share that is right"
    return [
        charts_lib.chart(f"calibration: expected error {found['expected_error']:.3f}{score}",
                         of_what, "", [(share, "dots", seen),
                                       ("calibrated", "dashes", [(0, 0), (1, 1)])]),
        charts_lib.chart("examples by probability", of_what, "examples",
                         [("examples", "bars", [(middle, each["examples"])
                                                for middle, each in zip(middles, bins)])])]


def sentence(found: Mapping[str, Any]) -> str:
    """Returns whether the probabilities can be trusted, or "" if the examples do not tell."""
    bins = [each for each in found["bins"] if each["examples"]]
    count = sum(each["examples"] for each in bins)
    # The mean gap that chance alone would make.
    noise = sum(_deviation(each) * math.sqrt(2 / math.pi) * each["examples"]
                for each in bins) / max(1, count)
    gap = found["expected_error"]
    if count < _LEAST_EXAMPLES or noise > _LARGE_NOISE:
        return "There are too few examples to say whether the probabilities can be trusted."
    if gap < max(_SMALL_GAP, 1.5 * noise):
        return (f"The probabilities can be trusted: their mean gap to the share that is right is"
                f" {100 * gap:.1f} percentage points.")
    # The gap that is furthest beyond chance.
    far = max(found.get("reliability", bins), key=lambda each: (
        each["examples"] ** 0.5 * abs((each["certainty"] or 0) - (each["accuracy"] or 0))))
    name = found.get("of_class")
    share = (f"{_percent(far['certainty'])} for {name!r}, {_percent(far['accuracy'])} are {name!r}"
             if name is not None else
             f"{_percent(far['certainty'])}, {_percent(far['accuracy'])} are right")
    return (f"The probabilities are {_direction(bins, name is not None)}: where the model says"
            f" {share}. Do not use them as chances; choose a threshold by its counts.")


def _deviation(each: Mapping[str, Any]) -> float:
    return math.sqrt(each["certainty"] * (1 - each["certainty"]) / each["examples"])


def _direction(bins: Sequence[Mapping[str, Any]], is_one_class: bool) -> str:
    gaps = [(each["certainty"], each["examples"] * (each["certainty"] - each["accuracy"]))
            for each in bins]
    shift = sum(gap for _, gap in gaps)
    if not is_one_class:
        return "too certain" if shift > 0 else "too cautious"
    extreme = sum(gap if certainty > 0.5 else -gap for certainty, gap in gaps)
    if abs(shift) >= abs(extreme):
        return "too high" if shift > 0 else "too low"
    return "too certain" if extreme > 0 else "too cautious"


def _of_what(found: Mapping[str, Any]) -> str:
    return f"probability of {found.get('of_class', 'the chosen class')}"


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"
