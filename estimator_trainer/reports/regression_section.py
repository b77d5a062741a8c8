"""The part of a page on a regression's predictions."""

import math
from typing import Any, Mapping, Sequence

from estimator_trainer.reports import charts as charts_lib, markup, shown_examples

_METRICS = (
    ("mean absolute error (MAE)", "mean_absolute_error"),
    ("median absolute error", "median_absolute_error"),
    ("root mean squared error (RMSE)", "root_mean_squared_error"),
    ("RMSE of the mean as the answer", "root_of_mean"),
    ("R²", "r_squared"), ("mean error", "mean_error"))
_LEAST_EXAMPLES = 20
# A mean error below this share of the MAE matters little.
_LEAST_BIAS = 0.2


def body(judged: Mapping[str, Any], charts: markup.Charts,
         order: Sequence[str] = ()) -> list[markup.Markup]:
    """Returns the metrics, the charts and the worst examples."""
    facts: list[tuple[str, Any]] = [(name, markup.plain(judged[key])) for name, key in _METRICS
                                    if judged.get(key) is not None]
    percent = judged.get("mean_absolute_percentage_error")
    if percent is not None:
        facts.append(("mean absolute percentage error (MAPE)", f"{100 * percent:.2g} %"))
    odd, beyond = judged["not_finite"], judged.get("beyond", 0)
    return [*map(markup.paragraph, _sentences(judged)),
            markup.table(["metric", _label(judged)], facts), charts.grid(charts_of(judged)),
            markup.note(f"{beyond:,} residuals are outside the histogram." if beyond else ""),
            markup.note(f"{odd} examples had no finite prediction or label." if odd else ""),
            shown_examples.of("The worst errors", judged["worst"], order)]


def _label(judged: Mapping[str, Any]) -> str:
    return str(judged.get("label", "label"))


def _sentences(judged: Mapping[str, Any]) -> list[str]:
    """Returns what the errors mean, in the label's unit."""
    found, name = judged.get("error_quantiles"), _label(judged)
    if not found or judged["examples"] < _LEAST_EXAMPLES:
        return []
    sentences = [f"Half of the predictions of {name} are off by at most {_short(found[10])}, nine"
                 f" of ten by at most {_short(found[18])}."]
    bias, size = judged["mean_error"], judged["mean_absolute_error"]
    deviation = judged["root_mean_squared_error"] / math.sqrt(judged["examples"])
    if abs(bias) > max(_LEAST_BIAS * size, 3 * deviation):
        way = "high" if bias > 0 else "low"
        sentences.append(f"On average they are {_short(abs(bias))} too {way}.")
    return sentences


def _short(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def charts_of(judged: Mapping[str, Any]) -> list[charts_lib.Chart]:
    """Returns the charts of predictions by labels, and of residuals."""
    points, residuals = judged["points"], judged["residuals"]
    labels, predictions, name = points["labels"], points["predictions"], _label(judged)
    edges, errors = residuals["edges"], judged.get("error_quantiles", ())
    if not labels:
        return []
    ends = [min(*labels, *predictions), max(*labels, *predictions)]
    wrong = [predicted - label for label, predicted in zip(labels, predictions)]
    quantiles = [(100 * i / (len(errors) - 1), value) for i, value in enumerate(errors)]
    return [
        _scatter(f"predicted by true {name}", name, labels, predictions,
                 [(end, end) for end in ends]),
        _scatter("residual by prediction", f"predicted {name}", predictions, wrong,
                 [(end, 0.0) for end in (min(predictions), max(predictions))]),
        charts_lib.chart("residuals", f"prediction - {name}", "examples",
                         [("examples", "bars", [((low + high) / 2, count) for low, high, count in
                                                zip(edges, edges[1:], residuals["counts"])])]),
        *([charts_lib.chart("absolute error by share of the examples", "% of the examples", "",
                            [("absolute error, at most", "line", quantiles)])]
          if quantiles else [])]


def _scatter(title: str, x: str, xs: Sequence[float], ys: Sequence[float],
             right: Sequence[tuple[float, float]]) -> charts_lib.Chart:
    """Returns a chart of points, which may share an x, and of the line where errors are 0."""
    rows: list[tuple[float, float | None, float | None]] = [
        (at, value, None) for at, value in zip(xs, ys)]
    rows += [(at, None, value) for at, value in right]
    columns = [list(column) for column in zip(*sorted(rows, key=lambda row: row[0]))]
    return {"title": title, "x": x, "data": columns,
            "series": [{"label": "an example", "kind": "points"},
                       {"label": "no error", "kind": "dashes"}]}
