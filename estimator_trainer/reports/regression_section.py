"""The part of a page on a regression's predictions."""

from typing import Any, Mapping

from estimator_trainer.reports import charts as charts_lib, markup, shown_examples


def body(judged: Mapping[str, Any], charts: markup.Charts) -> list[markup.Markup]:
    """Returns the charts, the metrics and the worst examples."""
    facts = [(name.replace("_", " "), judged[name]) for name in (
        "mean_error", "mean_absolute_error", "r_squared") if judged[name] is not None]
    odd = judged["not_finite"]
    return [charts.grid(charts_of(judged)), markup.table([], facts),
            markup.note(f"{odd} examples had no finite prediction or label." if odd else ""),
            shown_examples.of("the worst errors", judged["worst"])]


def charts_of(judged: Mapping[str, Any]) -> list[charts_lib.Chart]:
    """Returns the charts of predictions by labels, and of residuals."""
    points, residuals = judged["points"], judged["residuals"]
    labels, edges = points["labels"], residuals["edges"]
    if not labels:
        return []
    # A label has one x, with many points.
    rows = [(label, predicted, None) for label, predicted in zip(labels, points["predictions"])]
    rows += [(value, None, value) for value in (min(labels), max(labels))]
    columns = [list(column) for column in zip(*sorted(rows, key=lambda row: row[0]))]
    return [
        {"title": "prediction by label", "x": "label", "data": columns,
         "series": [{"label": "an example", "kind": "points"},
                    {"label": "a right one", "kind": "dashes"}]},
        charts_lib.chart("residuals", "prediction - label", "examples",
                         [("examples", "bars", [((low + high) / 2, count) for low, high, count in
                                                zip(edges, edges[1:], residuals["counts"])])])]
