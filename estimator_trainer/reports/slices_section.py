"""The sections on slices of the evaluation, and on its columns beside those of the training."""

from typing import Any, Mapping, Sequence

from estimator_trainer.evaluation import slices as slices_lib
from estimator_trainer.reports import charts as charts_lib, markup
from estimator_trainer.reports.columns_section import bar

_MOST_OPEN = 10


def of_slices(slices: Mapping[str, Any] | None) -> markup.Markup:
    """Returns the section on the slices, the worst first; empty without any."""
    if not slices:
        return markup.Markup("")
    metric, found = slices["metric"], slices["found"]
    worst = slices_lib.worst(slices)
    answer = (f"The worst slice: {slices_lib.sentence(worst, metric)}." if worst else
              "No slice is worse than all other rows by more than chance.")
    most = 1.0 if metric == "accuracy" else max((each["score"] for each in found), default=0) or 1
    rows = [(f"{each['column']}={each['value']}", bar(each["score"] / most), _short(each["score"]),
             f"{markup.text(_short(each['low']))} to {markup.text(_short(each['high']))}",
             _short(each["elsewhere"]),
             each["rows"],
             "worse" if each["is_significant"] else "") for each in found]
    headings = ("slice", metric, "", "95 % interval", "elsewhere", "rows", "")
    return markup.section(
        "Slices of the evaluation", markup.Markup(f"<p>{markup.text(answer)}</p>"),
        markup.table(headings, rows[:_MOST_OPEN], "bars"),
        markup.details(f"{len(rows) - _MOST_OPEN} better slices", markup.table(
            headings, rows[_MOST_OPEN:], "bars") if rows[_MOST_OPEN:] else ""),
        markup.note(f"The worst {len(rows)} of {slices['slices']:,} slices of at least 20 rows:"
                    " each value of a column with few values, and the quarters of the values of a"
                    " number. \"worse\" is more than chance, with all slices counted (5 %,"
                    " Bonferroni)."))


def of_residuals(residuals: Sequence[Mapping[str, Any]], charts: markup.Charts) -> markup.Markup:
    """Returns the section on a regression's residuals by columns; empty without any."""
    parts = [_residuals(each, charts) for each in residuals]
    return markup.section(
        "Residuals by column", markup.note(
            "prediction - label: above 0 the model predicts too much. A line that is not flat at 0"
            " is something that the model has not learned from the column."),
        f'<div class="grid">{"".join(parts)}</div>') if parts else markup.Markup("")


def of_data(data: Mapping[str, Any] | None) -> markup.Markup:
    """Returns the section on the evaluation's columns beside the training's; empty if unknown."""
    if not data:
        return markup.Markup("")
    title = "The evaluation's data beside the training's"
    if "columns" not in data:
        return markup.section(title, markup.note(f"Not compared: {data['reason']}."
                                                 if data.get("reason") else ""))
    columns = data["columns"]
    drifted = [each["name"] for each in columns if each["has_drifted"]]
    unseen = [each["name"] for each in columns if each["unseen"]]
    answer = (f"Drifted: {', '.join(drifted)}." if drifted else
              "No column has drifted.") + (
                  f" Values that training has not seen: {', '.join(unseen)}." if unseen else "")
    rows = [_row(each, data) for each in columns]
    headings = ("column", "drift (PSI)", "missing in training", "in evaluation",
                "median in training", "in evaluation", "values that training has not seen")
    part = "" if data["is_whole"] else " The first rows of each file were compared."
    return markup.section(
        title, markup.Markup(f"<p>{markup.text(answer)}</p>"),
        markup.table(headings, rows[:_MOST_OPEN]),
        markup.details(f"{len(rows) - _MOST_OPEN} more columns", markup.table(
            headings, rows[_MOST_OPEN:]) if rows[_MOST_OPEN:] else ""),
        markup.note(f"{data['training_rows']:,} rows of the training,"
                    f" {data['evaluation_rows']:,} of the evaluation.{part} The population"
                    " stability index compares the shares of each value, or of ten ranges of a"
                    " number: from 0.1 on a column has drifted,"
                    " from 0.25 on much. What chance explains is not called drift."))


def _row(column: Mapping[str, Any], data: Mapping[str, Any]) -> list[Any]:
    training, evaluated = column["missing"]
    medians = column.get("medians", ()) or ["", ""]
    examples = ", ".join(column["examples"])
    unseen = f"{column['unseen']:,} rows: {examples}" if column["unseen"] else ""
    drift = "too many values" if column["drift"] is None else f"{column['drift']:.3f}"
    name = column["name"] + " (label)" * (column["name"] == data.get("label"))
    return [name, drift + ", drifted" * column["has_drifted"],
            _share(training, data["training_rows"]), _share(evaluated, data["evaluation_rows"]),
            *medians, unseen]


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def _share(count: int, rows: int) -> str:
    return f"{count:,} ({count / max(1, rows):.1%})" if count else "0"


def _residuals(each: Mapping[str, Any], charts: markup.Charts) -> str:
    name = each["name"]
    if each["kind"] == "category":
        rows = list(zip(each["at"], each["means"], each["counts"]))
        shown = markup.table(["value", "mean residual", "rows"], rows)
        return f"<figure><figcaption>{markup.text(name)}</figcaption>{shown}</figure>"
    # A value of the column may have many rows, and a chart one value for each of its series there.
    points = [(at, residual, None) for at, residual in zip(
        each["points"]["at"], each["points"]["residuals"])]
    points += [(at, None, mean) for at, mean in zip(each["at"], each["means"])]
    columns = [list(column) for column in zip(*sorted(points, key=lambda point: point[0]))]
    chart: charts_lib.Chart = {
        "title": f"residuals by {name}", "x": name, "data": columns,
        "series": [{"label": "a row", "kind": "points"},
                   {"label": "mean of a tenth of the rows", "kind": "line"}]}
    return charts.place(chart)
