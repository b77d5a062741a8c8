"""The section on the columns: which matter to the model, and how it responds to each."""

from typing import Any, Mapping, Sequence

from estimator_trainer.errors import Setting
from estimator_trainer.reports import charts as charts_lib, markup

# A drop within so many of its own deviations of 0 may be chance: Student's t of five repeats.
_DEVIATIONS = 2.78
_MOST_OPEN = 10


def section(columns: Mapping[str, Any], charts: markup.Charts) -> markup.Markup:
    """Returns the section on the entry `columns` of `evaluation.json`; empty without columns."""
    if "importance" not in columns:
        return markup.section("Which columns matter", markup.note(
            f"Not known: {columns['reason']}." if columns.get("reason") else ""))
    responses = columns.get("responses", ())
    return markup.section(
        "Which columns matter", *_importance(columns["importance"], columns.get("secs")),
        *(_responses(responses, charts) if responses else ()))


def _importance(importance: Mapping[str, Any], secs: float | None) -> list[markup.Markup]:
    metric, found = importance["metric"], importance["found"]
    most = max((each["drop"] for each in found), default=0) or 1
    rows = [(each["name"], bar(each["drop"] / most), float(f"{each['drop']:.3g}"),
             f"± {each['deviation']:.2g}" if importance["repeats"] > 1 else "") for each in found]
    together = "; ".join(f"{each['name']} lower {metric} by {each['drop']:.2g}"
                         for each in importance.get("together", ()))
    headings = ("column", f"drop of {metric} when shuffled", "", "")
    shown = [markup.table(headings, rows[:_MOST_OPEN], "bars"), markup.details(
        f"{len(rows) - _MOST_OPEN} less important columns",
        markup.table(headings, rows[_MOST_OPEN:], "bars") if rows[_MOST_OPEN:] else "")]
    tried = importance["tried"]
    took = f", in {secs:.1f} s altogether" if secs is not None else ""
    how = (f"{metric} is {importance['base']:.4g} in {importance['rows']:,} rows of the evaluation."
           f" In each of {importance['repeats']} repeats the values of one column were exchanged"
           f" among these rows, and the rows were predicted again{took}. The more {metric} drops,"
           " the more the model uses the column; ± is the deviation between repeats. Columns that"
           " hold the same information share their importance, so that each looks less important.")
    if importance["columns"] > len(found):
        how += (f" A first look with fewer rows chose {len(found)} of"
                f" {tried:,} columns" + (f"; for the other {importance['columns'] - tried:,} there"
                                         " was no time." if tried < importance["columns"] else "."))
    weak = [each["name"] for each in found if not _is_measurable(each, importance)]
    return [markup.Markup(f"<p>{markup.text(_answer(importance))}</p>"), *shown,
            markup.note(f"Columns that hold nearly the same information, shuffled together:"
                        f" {together}." if together else ""),
            markup.note(f"Without a measurable effect: {', '.join(weak)}." if weak else ""),
            markup.note(f"{how} {Setting('column_importance', False)} leaves this section out.")]


def _is_measurable(column: Mapping[str, Any], importance: Mapping[str, Any]) -> bool:
    """Returns whether the mean drop is more than the chance of its repeats."""
    error = column["deviation"] / max(1, importance["repeats"] - 1) ** 0.5
    return bool(column["drop"] > max(0.0, _DEVIATIONS * error))


def _answer(importance: Mapping[str, Any]) -> str:
    """Returns the answer to the section's title in one sentence."""
    metric = importance["metric"]
    used = [each for each in importance["found"] if _is_measurable(each, importance)]
    if not used:
        return f"No column lowers {metric} measurably when its values are shuffled."
    first, *others = used
    text = f"{first['name']} matters most: shuffled, it lowers {metric} by {first['drop']:.2g}"
    if others:
        text += f"; next {', '.join(each['name'] for each in others[:2])}"
        text += f" ({', '.join(format(each['drop'], '.2g') for each in others[:2])})"
    return f"{text}."


def _responses(responses: Sequence[Mapping[str, Any]], charts: markup.Charts) -> list[str]:
    names = [mean["of"] for mean in responses[0]["means"]]
    of = ("the mean prediction" if names == [""] else
          f"the mean probability of {', '.join(names)}")
    values = [value for each in responses for mean in each["means"] for value in mean["values"]]
    low, high = min(0.0, *values), max(values)
    limits = [min(values), high]
    parts = [_of_numbers(each, limits, charts) if each["kind"] == "number" else _of_categories(
        each, low, high) for each in responses]
    return [markup.Markup("<h3>The response to one column at a time</h3>"), markup.note(
        f"Each shows {of} when all rows have the same value in this column, and their own in all"
        " others. All lines have the same scale. Between two marks beneath a line are a tenth of"
        " the rows. Values that never occur together may make the line wrong."),
            markup.Markup(f'<div class="grid">{"".join(parts)}</div>')]


def _of_numbers(response: Mapping[str, Any], limits: Sequence[float],
                charts: markup.Charts) -> str:
    means, at = response["means"], response["at"]
    series: list[tuple[str, str, charts_lib.Points]] = [
        (mean["of"] or "prediction", "line", list(zip(at, mean["values"]))) for mean in means]
    series.append(("deciles of the rows", "points", [
        (value, limits[0]) for value in dict.fromkeys(response["deciles"]) if value in at]))
    chart = charts_lib.chart(response["name"], response["name"], "", series)
    # A column that hardly matters looks flat beside the others.
    shown = charts.place({**chart, "limits": list(limits)})
    if "missing" not in response:
        return shown
    of = ", ".join(f"{mean['of']} {value:.3g}".strip() for mean, value in zip(
        means, response["at_missing"]))
    return f"<div>{shown}" + markup.note(
        f"Missing in {response['missing']:,} of {response['rows']:,} rows; there: {of}.") + "</div>"


def _of_categories(response: Mapping[str, Any], low: float, high: float) -> str:
    means = response["means"]
    rows = []
    for i, value in enumerate(response["at"]):
        shown = [part for mean in means for part in (
            bar((mean["values"][i] - low) / ((high - low) or 1)), mean["values"][i])]
        rows.append((value, *shown, response["counts"][i]))
    of = [part for mean in means for part in (mean["of"] or "prediction", "")]
    caption = f"<figcaption>{markup.text(response['name'])}</figcaption>"
    return f"<figure>{caption}{markup.table(['value', *of, 'rows'], rows, 'bars')}</figure>"


def bar(share: float) -> markup.Markup:
    """Returns a bar of a share of the cell's width; the number beside it has the value."""
    width = 100 * min(1.0, max(0.0, share))
    return markup.Markup(f'<span class="bar" aria-hidden="true"><i style="width:{width:.1f}%"></i>'
                         "</span>")
