"""The part of a page on a classification's predictions."""

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import (calibration_section, charts as charts_lib, confusion, markup,
                                       shown_examples, threshold_section)

_OWN = "The model itself takes the class of the highest probability"


def body(judged: Mapping[str, Any], charts: markup.Charts,
         order: Sequence[str] = ()) -> list[markup.Markup]:
    """Returns the matrix, the curves, the calibration, the gains and the worst examples."""
    curves = judged.get("curves", ())
    is_binary = "gains" in judged
    own = (f"The model itself predicts {curves[0]['name']!r} from a probability of 0.5 on. Move the"
           " threshold to see what another one would give." if is_binary and curves else
           f"{_OWN}, without a threshold.")
    calibration = judged.get("calibration")
    return [
        markup.paragraph(confusion.worst(judged)),
        confusion.matrix(judged["matrix"]) if judged["matrix"] else
        confusion.pairs(judged["confused"]),
        confusion.per_class(judged),
        threshold_section.part(curves, own) if curves else _old_curves(judged, charts),
        *([markup.Markup("<h3>Calibration</h3>"), markup.paragraph(
            calibration_section.sentence(calibration)),
           charts.grid(calibration_section.charts_of(calibration))] if calibration else []),
        *_gains(judged, charts), *_worst(judged, order)]


def _worst(judged: Mapping[str, Any],
           order: Sequence[str]) -> list[markup.Markup]:
    certain, worst = judged["most_certain"], judged["worst"]
    places = [[each["position"] for each in examples] for examples in (certain, worst)]
    if len(judged["per_class"]) <= 2 and places[0] in ([], places[1]) or not worst:
        return [shown_examples.of("The worst errors: most certain of the wrong class",
                                  worst or certain, order)]
    return [shown_examples.of("The worst errors: least probability of the label", worst, order),
            shown_examples.of("The most certain errors", certain, order)]


def _gains(judged: Mapping[str, Any], charts: markup.Charts) -> list[markup.Markup]:
    """Returns what the examples with the highest probability hold of the second class."""
    found, [curve, *_] = judged.get("gains"), judged.get("curves") or [None]
    if not found or curve is None or not curve["positives"] or not curve["negatives"]:
        return []
    parts, name = len(found), curve["name"]
    tenth = parts // 10 - 1
    sentence = (f"The 10 % of the examples with the highest probability hold {found[tenth]:.0%} of"
                f" all {name!r}: {10 * found[tenth]:.1f} times as many as 10 % at random.") if (
                    parts >= 10 and sum((curve["positives"], curve["negatives"])) >= 20) else ""
    points = [(0.0, 0.0), *(((i + 1) / parts, share) for i, share in enumerate(found))]
    drawn = charts_lib.chart(
        f"share of all {name} among the highest probabilities", "share of the examples", "",
        [(name, "line", points), ("at random", "dashes", [(0.0, 0.0), (1.0, 1.0)])])
    return [markup.Markup("<h3>Lift</h3>"), markup.paragraph(sentence), charts.grid([drawn])]


def _old_curves(judged: Mapping[str, Any], charts: markup.Charts) -> markup.Markup:
    """Returns precision by recall of a file from before `curves`."""
    curves = [(curve["name"], "line", _precision_by_recall(curve))
              for curve in judged.get("pr_curves", ())]
    return charts.grid([charts_lib.chart("precision by recall", "recall", "", curves)]
                       if curves else [])


def _precision_by_recall(curve: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Returns (recall, precision), the best precision of several thresholds for one recall."""
    best: dict[float, float] = {}
    for right, wrong in zip(curve["true_positives"], curve["false_positives"]):
        if right and curve["positives"]:
            recall, precision = right / curve["positives"], right / (right + wrong)
            best[recall] = max(best.get(recall, 0.0), precision)
    return sorted(best.items())
