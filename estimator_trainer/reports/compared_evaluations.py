"""The evaluated examples of several runs beside each other: figures, classes, columns."""

from __future__ import annotations

import math
import statistics
from typing import Any, Mapping, Sequence

from estimator_trainer.reports import markup
from estimator_trainer.reports.run_files import RunFiles

_MOST_CLASSES, _MOST_COLUMNS = 30, 15
# Title, entry of evaluation.json, and the better direction.
_OF_REGRESSION = (("mean absolute error", "mean_absolute_error", "lower"),
                  ("root mean squared error", "root_mean_squared_error", "lower"),
                  ("R²", "r_squared", "higher"))


def section(runs: Sequence[RunFiles]) -> markup.Markup:
    """Returns the section on the final evaluations; empty if fewer than two runs have one."""
    found = [(run.name, run.judgement) for run in runs if run.judgement]
    if len(found) < 2:
        return markup.Markup("")
    names = [name for name, _ in found]
    contents = [content for _, content in found]
    return markup.section("The evaluated examples", _figures(names, contents),
                          _classes(names, contents), _columns(names, contents))


def _figures(names: Sequence[str], contents: Sequence[Mapping[str, Any]]) -> markup.Markup:
    rows: list[tuple[str, list[Any]]] = [
        ("step", [f"{each['step']:,}" for each in contents]),
        ("examples", [f"{each['examples']:,}" for each in contents]),
        ("ROC AUC, of several classes their mean (higher is better)", [
            _mean_of_curves(each, "auc") for each in contents]),
        ("average precision, of several classes their mean (higher is better)", [
            _mean_of_curves(each, "average_precision") for each in contents]),
        ("expected calibration error (lower is better)", [
            each.get("calibration", {}).get("expected_error") for each in contents]),
        *((f"{title} ({better} is better)", [each.get(name) for each in contents])
          for title, name, better in _OF_REGRESSION)]
    return markup.compared(["", *names], [row for row in rows if any(
        value is not None for value in row[1])])


def _mean_of_curves(content: Mapping[str, Any], name: str) -> float | None:
    """Returns the mean of a figure over the classes, each against the others.

    For AUC, as scikit-learn's `roc_auc_score(..., multi_class="ovr", average="macro")`.
    """
    known = [curve[name] for curve in content.get("curves", ()) if curve.get(name) is not None]
    return statistics.fmean(known) if known else None


def _columns(names: Sequence[str], contents: Sequence[Mapping[str, Any]]) -> markup.Markup:
    """Returns the importance of each column in each run, the most important ones first."""
    found = [content.get("columns", {}).get("importance") for content in contents]
    known = [each for each in found if each]
    if len(known) < 2 or len({each["metric"] for each in known}) > 1:
        return markup.Markup("")
    drops = [{column["name"]: column["drop"] for column in each["found"]} if each else {}
             for each in found]
    columns = sorted({name for each in drops for name in each}, key=lambda name: (
        -max(each.get(name, -math.inf) for each in drops), name))
    cut = f" ({_MOST_COLUMNS} of {len(columns)})" if len(columns) > _MOST_COLUMNS else ""
    title = f"drop of {known[0]['metric']} when a column is shuffled{cut}"
    rows = [(name, [each.get(name) for each in drops]) for name in columns[:_MOST_COLUMNS]]
    return markup.Markup(f"<h3>{markup.text(title)}</h3>"
                         + markup.compared(["column", *names], rows))


def _classes(names: Sequence[str], contents: Sequence[Mapping[str, Any]]) -> markup.Markup:
    """Returns recall of each class in each run; the classes with the largest differences first."""
    recalls = [{each["name"]: each["recall"] for each in content.get("per_class", ())}
               for content in contents]
    rows = []
    for name in dict.fromkeys(name for each in recalls for name in each):
        values = [each.get(name) for each in recalls]
        known = [value for value in values if value is not None]
        if len(known) > 1:
            rows.append((max(known) - min(known), name, values))
    rows.sort(key=lambda row: -row[0])
    if not rows:
        return markup.Markup("")
    shown = [(name, [*values, gap]) for gap, name, values in rows[:_MOST_CLASSES]]
    cut = f" ({_MOST_CLASSES} of {len(rows)})" if len(rows) > _MOST_CLASSES else ""
    return markup.Markup(f"<h3>recall of each class, the largest difference first{cut}</h3>" + str(
        markup.compared(["class", *names, "difference"], shown)))
