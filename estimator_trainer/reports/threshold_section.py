"""A threshold to move: ROC and precision by recall of one class against the others, and counts.

The markup has the values of the model's own threshold; `web/threshold.js` draws the curves, and
shows other thresholds and other classes.
"""

import json
from typing import Any, Mapping, Sequence

from estimator_trainer.evaluation import threshold_curves
from estimator_trainer.reports import markup

# The counts and metrics at a threshold, by the names of `threshold_curves.at`.
_SHOWN = (("tp", "true positives"), ("fp", "false positives"), ("fn", "false negatives"),
          ("tn", "true negatives"), ("precision", "precision"), ("recall", "recall"), ("f1", "F1"),
          ("accuracy", "accuracy"), ("share", "predicted positive"))
_COUNTS = ("tp", "fp", "fn", "tn")
_SENT = ("name", "positives", "negatives", "thresholds", "true_positives", "false_positives", "own",
         "best", "auc", "average_precision")


def part(curves: Sequence[Mapping[str, Any]], hint: str) -> markup.Markup:
    """Returns the curves with their threshold; empty if no class has examples of both kinds.

    `hint` is a sentence on the model's own threshold.
    """
    shown = [curve for curve in curves if curve["positives"] and curve["negatives"]]
    if not shown:
        return markup.Markup("")
    sent = json.dumps([{key: _short(curve[key]) for key in _SENT} for curve in shown],
                      separators=(",", ":"))
    first: Any = shown[_first(shown)]
    found = threshold_curves.at(first, first["own"])
    tiles = "".join(
        f'<span class="fact"><b data-value="{key}">{_value(key, found[key])}</b>'
        f"<span>{label}</span></span>" for key, label in _SHOWN)
    places = "".join(
        f'<figure><figcaption data-title="{kind}">{markup.text(title)}</figcaption>'
        f'<div class="curve" data-curve="{kind}" role="img"></div></figure>'
        for kind, title in (("roc", _titled("ROC", "AUC", first["auc"])),
                            ("pr", _titled("precision by recall", "average precision",
                                           first["average_precision"]))))
    return markup.Markup(
        "<h3>ROC, precision and recall at a threshold</h3>"
        f'<div class="threshold" data-curves="{markup.text(sent)}">'
        f"{markup.note(hint)}{_controls(shown)}"
        f'<output class="facts">{tiles}</output><div class="grid">{places}</div></div>')


def _controls(curves: Sequence[Mapping[str, Any]]) -> str:
    first = curves[_first(curves)]
    last = len(first["thresholds"]) - 1
    names = "".join(f'<option value="{i}"{" selected" * (curve is first)}>'
                    f'{markup.text(curve["name"])}</option>'
                    for i, curve in enumerate(curves))
    chosen = (f"<label>Positive class <select>{names}</select></label>" if len(curves) > 1 else
              f'<span>Positive class <b>{markup.text(first["name"])}</b></span>')
    # High thresholds are on the right.
    return (f'<div class="thresholds">{chosen}<label>Threshold <input type="range" min="0"'
            f' max="{last}" value="{last - first["own"]}" step="1" aria-valuetext='
            f'"{threshold_curves.OWN}"></label> <b data-value="threshold">'
            f'{threshold_curves.OWN}</b> <button type="button" data-row="best">Best F1</button>'
            f' <button type="button" data-row="own">{threshold_curves.OWN}</button></div>')


def _first(curves: Sequence[Mapping[str, Any]]) -> int:
    """Returns the index of the class that is shown first, that of the least average precision."""
    return min(range(len(curves)), key=lambda i: curves[i]["average_precision"] or 0.0)


def _short(value: Any) -> Any:
    """Returns thresholds and areas with as many digits as the page shows."""
    if isinstance(value, list):
        return [_short(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _value(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key in _COUNTS:
        return f"{value:,}"
    return f"{100 * value:.1f} %" if key == "share" else f"{value:.3f}"


def _titled(title: str, name: str, value: float | None) -> str:
    return title if value is None else f"{title}: {name} {value:.3f}"
