"""The charts of what a model said of the evaluation's examples."""

from __future__ import annotations

from typing import Any, Mapping

from estimator_trainer.reports.charts import Chart
from estimator_trainer.reports.charts import chart


def of(judged: Mapping[str, Any]) -> list[Chart]:
    """Returns the charts of a classification, or of a regression."""
    if judged["kind"] == "regression":
        return _of_regression(judged)
    charts = _of_calibration(judged["calibration"]) if "calibration" in judged else []
    curves = [(curve["name"], "line", _precision_by_recall(curve))
              for curve in judged.get("pr_curves", ())]
    return [*charts, *([chart("precision by recall", "recall", "", curves)]
                       if curves else [])]


def _of_calibration(calibration: Mapping[str, Any]) -> list[Chart]:
    bins = calibration["bins"]
    seen = [(each["certainty"], each["accuracy"]) for each in bins
            if each["certainty"] is not None]
    middles = [(i + 0.5) / len(bins) for i in range(len(bins))]
    return [
        chart(f"calibration: expected error {calibration['expected_error']:.3f}",
              "probability of the chosen class", "",
              [("the model", "dots", seen), ("a calibrated one", "dashes", [(0, 0), (1, 1)])]),
        chart("how sure the model is", "probability of the chosen class", "examples",
              [("examples", "bars", [(middle, each["examples"])
                                     for middle, each in zip(middles, bins)])])]


def _of_regression(judged: Mapping[str, Any]) -> list[Chart]:
    points, residuals = judged["points"], judged["residuals"]
    labels, edges = points["labels"], residuals["edges"]
    if not labels:
        return []
    # Examples of one label are many points at one x.
    rows = [(label, predicted, None) for label, predicted in zip(labels, points["predictions"])]
    rows += [(value, None, value) for value in (min(labels), max(labels))]
    columns = [list(column) for column in zip(*sorted(rows, key=lambda row: row[0]))]
    return [
        {"title": "prediction by label", "x": "label", "data": columns,
         "series": [{"label": "an example", "kind": "points"},
                    {"label": "a right one", "kind": "dashes"}]},
        chart("residuals", "prediction - label", "examples",
              [("examples", "bars", [((low + high) / 2, count) for low, high, count in
                                     zip(edges, edges[1:], residuals["counts"])])])]


def _precision_by_recall(curve: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Returns a precision for each recall, the best where several thresholds have one."""
    best: dict[float, float] = {}
    for right, wrong in zip(curve["true_positives"], curve["false_positives"]):
        if right and curve["positives"]:
            recall, precision = right / curve["positives"], right / (right + wrong)
            best[recall] = max(best.get(recall, 0.0), precision)
    return sorted(best.items())
