"""The charts of a page, for uPlot.

A chart is a dict: `title`; `alt`, its text alternative; `x`, the name of the horizontal axis;
`data`, the x values, then the y values of each series, with null for a missing value; and `series`,
each with `label` and `kind` ("line", "dots", "dashes", "bars" or "points"). The charts of a
training have `runs` in place of `data`; see curves.py.
"""

import math
from typing import Any, Iterable, Sequence, TypeVar

from estimator_trainer.reports.run_files import Histogram, RunFiles

Chart = dict[str, Any]
Points = Sequence[tuple[float, float | None]]
_MOST_POINTS = 600
# All series share their x values, so that a chart grows with the square of their number.
MOST_SERIES = 24
_MOST_CELLS = 30_000
_LEAST_POINTS = 20
_BINS = 40
# A text alternative is read aloud.
_MOST_DESCRIBED = 6
# Significant digits that can be seen.
_DIGITS = 6
_P = TypeVar("_P", bound=Sequence[Any])


def of_histograms(run: RunFiles) -> list[Chart]:
    """Returns the distribution of each variable at the first, the middle and the last step."""
    found = []
    for name, histograms in run.events.histograms.items():
        chosen = {each.step: each for each in (
            histograms[0], histograms[len(histograms) // 2], histograms[-1])}
        low, high = (min(each.low for each in chosen.values()),
                     max(each.high for each in chosen.values()))
        found.append(chart(name, "value", "count", [
            (f"step {step}", "line", _outline(each, low, high))
            for step, each in sorted(chosen.items())]))
    return found


def chart(title: str, x: str, y: str, series: Iterable[tuple[str, str, Points]],
          alt: str = "") -> Chart:
    """Returns a chart of series (label, kind, points), without empty ones.

    `alt` is the text alternative; "": what the chart shows, and the first, last, lowest and highest
    point of each series.
    """
    finite = [(label, kind, [(at, value if value is None or math.isfinite(value) else None)
                             for at, value in points]) for label, kind, points in series]
    finite = [each for each in finite if any(value is not None for _, value in each[2])]
    if len(finite) > MOST_SERIES:
        # Lines come last, so that the evaluation's dots are drawn.
        finite.sort(key=lambda each: each[1] == "line")
    shown = finite[:MOST_SERIES]
    title = titled(title, y) + (
        f" ({len(shown)} of {len(finite)} series)" if len(shown) < len(finite) else "")
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _MOST_CELLS // max(1, len(shown)) ** 2))
    kept = [(label, kind, fewer(points, most)) for label, kind, points in shown]
    values = sorted({position for _, _, points in kept for position, _ in points})
    columns = []
    for _, _, points in kept:
        known = dict(points)
        columns.append([known.get(value) for value in values])
    return {"title": title, "alt": alt or alternative(title, x, [
                (label, kind, points) for label, kind, points in finite]),
            "x": x, "data": [values, *columns],
            "series": [{"label": label, "kind": kind} for label, kind, _ in kept]}


def titled(title: str, y: str) -> str:
    """Returns the title of a chart, with the unit or the name of its vertical axis."""
    return title if y in (title, "") else f"{title}, {y}"


def alternative(title: str, x: str, series: Sequence[tuple[str, str, Points]]) -> str:
    """Returns a text alternative: what a chart shows, and some points of each series."""
    kinds = {kind for _, kind, _ in series}
    kind = ("Bar chart" if kinds == {"bars"} else "Scatter plot" if "points" in kinds else
            "Line chart")
    sentences = [f"{kind} of {title} by {x}."]
    for label, _, points in series[:_MOST_DESCRIBED]:
        known = [(at, value) for at, value in points if value is not None]
        low, high = (choose(known, key=lambda point: point[1]) for choose in (min, max))
        named = (("first", known[0]), ("last", known[-1]), ("lowest", low), ("highest", high))
        sentences.append(f"{label}: " + ", ".join(
            f"{name} {_number(value)} at {_number(at)}" for name, (at, value) in named) + ".")
    left_out = len(series) - _MOST_DESCRIBED
    return " ".join([*sentences, *([f"{left_out} more series."] if left_out > 0 else [])])


def fewer(points: Sequence[_P], most: int) -> list[_P]:
    """Returns about `most` points, with the first, the last, and the extremes of each part.

    The value of a point is its last element; None if it is missing.
    """
    if len(points) <= most:
        return list(points)
    size = math.ceil(2 * len(points) / most)
    kept = {0, len(points) - 1}
    for start in range(0, len(points), size):
        known = [i for i in range(start, min(start + size, len(points)))
                 if points[i][-1] is not None]
        if known:
            kept |= {choose(known, key=lambda i: points[i][-1]) for choose in (min, max)}
        else:
            kept.add(start)
    return [points[i] for i in sorted(kept)]


def rounded(value: float) -> float:
    """Returns a value with as many digits as can be seen."""
    return value if isinstance(value, int) else float(f"{value:.{_DIGITS}g}")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _outline(histogram: Histogram, low: float, high: float) -> Points:
    """Returns the points (middle, count) of bins of equal width.

    TensorFlow's buckets grow by a tenth each, and are very narrow around 0.
    """
    width = (high - low) / _BINS or 1.0
    counts = [0.0] * _BINS
    limits = [min(max(limit, histogram.low), histogram.high) for limit in histogram.limits]
    for start, end, count in zip([histogram.low, *limits], limits, histogram.counts):
        first, last = (min(max(int((at - low) / width), 0), _BINS - 1) for at in (start, end))
        for i in range(first, last + 1):
            counts[i] += count / (last - first + 1)
    return [(low + (i + 0.5) * width, count) for i, count in enumerate(counts)]
