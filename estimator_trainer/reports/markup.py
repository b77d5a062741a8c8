"""The markup of a page, in which every text of a run is escaped."""

import html
import json
from typing import Any, Iterable, Sequence

from estimator_trainer import redaction
from estimator_trainer.reports.charts import Chart


class Markup(str):
    """A text that is markup already."""


class Charts:
    """Collects the charts of a page, in the order of their places."""

    def __init__(self) -> None:
        self.charts: list[Chart] = []

    def place(self, chart: Chart) -> Markup:
        """Adds a chart, and returns the place where the page draws it."""
        self.charts.append(chart)
        return Markup(f"<figure><figcaption>{text(chart['title'])}</figcaption>"
                      f'<div data-chart="{len(self.charts) - 1}"></div>'
                      f'<p class="alt">{text(chart.get("alt", ""))}</p></figure>')

    def grid(self, charts: Iterable[Chart]) -> Markup:
        """Adds charts, and returns their places, side by side.

        The controls of all curves of the page precede the first of them.
        """
        added = list(charts)
        is_first = not any("runs" in chart for chart in self.charts)
        runs: list[Any] = next((each["runs"] for each in added if "runs" in each), [])
        controls = _controls(any("epoch" in run for run in runs)) if runs and is_first else ""
        places = "".join(self.place(chart) for chart in added)
        return Markup(f'{controls}<div class="grid">{places}</div>' if added else "")


def _controls(has_epochs: bool) -> str:
    axes = {"step": "step", "secs": "time since start", "time": "time of day (UTC)",
            **({"epoch": "epoch"} if has_epochs else {})}
    options = "".join(f'<option value="{name}">{label}</option>' for name, label in axes.items())
    return ('<fieldset class="axes"><legend class="alt">all curves of this page</legend>'
            f'<label>horizontal axis <select name="axis">{options}</select></label>'
            '<label>smoothing <input name="smoothing" type="range" min="0" max="0.99" step="0.01"'
            ' value="0"> <output>0</output></label>'
            '<label><input name="all" type="checkbox"> all values, with outliers</label>'
            "</fieldset>")


def text(value: Any) -> Markup:
    """Returns a value, escaped and formatted."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(redaction.for_terminal(formatted(value))))


def formatted(value: Any) -> str:
    """Returns a value as text, not yet escaped."""
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value)


def code(value: str) -> Markup:
    """Returns a text as code."""
    return Markup(f"<code>{text(value)}</code>")


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]], kind: str = "") -> Markup:
    """Returns a table of the class `kind`, with numbers right-aligned."""
    head = _headings(headings)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    heading = f"<thead><tr>{head}</tr></thead>" if headings else ""
    return Markup(f'<div class="wide"><table class="{kind}">{heading}<tbody>{body}</tbody></table>'
                  "</div>")


def compared(headings: Sequence[str], rows: Sequence[tuple[str, Sequence[Any]]]) -> Markup:
    """Returns a table whose first column names the rows, and stays when the others scroll."""
    head = _headings(headings)
    body = "".join(
        f'<tr><th scope="row">{text(name)}</th>'
        f"{''.join(f'<td>{text(value)}</td>' for value in values)}</tr>"
        for name, values in rows)
    return Markup(f'<div class="wide"><table class="compared"><thead><tr>{head}'
                  f"</tr></thead><tbody>{body}</tbody></table></div>")


def _headings(names: Sequence[str]) -> str:
    return "".join(f'<th scope="col">{text(each)}</th>' if each else "<td></td>" for each in names)


def section(title: str, *parts: str) -> Markup:
    """Returns a section; empty if all parts are empty."""
    body = "".join(parts)
    return Markup(f"<section><h2>{text(title)}</h2>{body}</section>" if body else "")


def details(summary: str, body: str, is_open: bool = False) -> Markup:
    """Returns a part that can be opened by a click."""
    return Markup(f"<details{' open' * is_open}><summary>{text(summary)}</summary>{body}</details>"
                  if body else "")


def plain(value: int | float) -> int | float:
    """Returns a number that is shown without an exponent: from 1,000 on a whole one."""
    return round(value) if 1e3 <= abs(value) < 1e15 else value


def paragraph(value: str) -> Markup:
    """Returns a sentence; empty for an empty one."""
    return Markup(f"<p>{text(value)}</p>" if value else "")


def note(value: str) -> Markup:
    """Returns a sentence in a quiet colour."""
    return Markup(f'<p class="quiet">{text(value)}</p>' if value else "")


def _cell(value: Any) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = f"{value:,}" if isinstance(value, int) and is_number else text(value)
    return f'<td class="number">{shown}</td>' if is_number else f"<td>{shown}</td>"
