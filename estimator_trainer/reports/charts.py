"""The charts of a page, for uPlot: one x for all series, and null for a missing value.

A chart is a dict: `title`, `x` (the axis's name), `data` (the x values, then the y values of each
series), and `series`, each with `label` and `kind` ("line", "dots", "dashes" or "bars").
"""

import math
from typing import Any, Iterable, Sequence

from estimator_trainer.reports.run_files import Histogram, RunFiles, without_repeats

Chart = dict[str, Any]
Points = Sequence[tuple[float, float | None]]
_MOST_POINTS = 600
# All series share their x values, so that a chart grows with the square of their number.
_MOST_SERIES = 24
_MOST_CELLS = 30_000
_LEAST_POINTS = 20
_MOST_METRICS = 40
_BINS = 40
# Values of an evaluation that are no metrics of the model, or have a chart already.
_NO_METRICS = ("global_step", "eval_name", "loss")


def of_training(runs: Sequence[RunFiles]) -> list[Chart]:
    """Returns the curves of loss, metrics and scalars of all runs."""
    losses: list[tuple[str, str, Points]] = []
    metrics: dict[str, list[tuple[str, str, Points]]] = {}
    for run in runs:
        prefix = f"{run.name} " if len(runs) > 1 else ""
        losses += [(f"{prefix}training{'' if task == 'local' else f', {task}'}", "line", points)
                   for task, points in _of_tasks(run, "loss").items()]
        evaluated = _evaluated(run)
        for name, curve in run.events.scalars.items():
            metrics.setdefault(name, []).append((f"{prefix}training", "line", curve))
        for name, points in evaluated.items():
            (losses if name == "loss" else metrics.setdefault(name, [])).append(
                (f"{prefix}evaluation", "dots", points))
    found = [chart("loss", "step", "loss", losses)]
    found += [chart(name, "step", name, series) for name, series in sorted(
        metrics.items(), key=lambda item: (item[0] != "accuracy", item[0] == "learning_rate"))]
    return [each for each in found if each["series"]][:1 + _MOST_METRICS]


def of_speed(runs: Sequence[RunFiles]) -> list[Chart]:
    """Returns the curves of speed, waiting and memory for each task that trains."""
    wanted = (("speed of each task", "examples_per_sec", 1.0, "examples/s"),
              ("waiting for input", "input_wait", 100.0, "% of the time"),
              ("memory", "memory_mb", 1.0, "MB"))
    found = []
    for title, key, factor, unit in wanted:
        series = [(f"{run.name} {task}" if len(runs) > 1 else task, "line",
                   [(step, None if value is None else factor * value) for step, value in points])
                  for run in runs for task, points in _of_tasks(run, key).items()]
        found.append(chart(title, "step", unit, series))
    return [each for each in found if each["series"]]


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


def chart(title: str, x: str, y: str, series: Iterable[tuple[str, str, Points]]) -> Chart:
    """Returns a chart of series (label, kind, points), without empty ones."""
    finite = [(label, kind, [(at, value if value is None or math.isfinite(value) else None)
                             for at, value in points]) for label, kind, points in series]
    finite = [each for each in finite if any(value is not None for _, value in each[2])]
    if len(finite) > _MOST_SERIES:
        # Lines come last, so that the evaluation's dots are drawn.
        finite.sort(key=lambda each: each[1] == "line")
    shown = finite[:_MOST_SERIES]
    title = title if y in (title, "") else f"{title}, {y}"
    title += f" ({len(shown)} of {len(finite)} series)" if len(shown) < len(finite) else ""
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _MOST_CELLS // max(1, len(shown)) ** 2))
    kept = [(label, kind, _fewer(points, most)) for label, kind, points in shown]
    values = sorted({position for _, _, points in kept for position, _ in points})
    columns = []
    for _, _, points in kept:
        known = dict(points)
        columns.append([known.get(value) for value in values])
    return {"title": title, "x": x, "data": [values, *columns],
            "series": [{"label": label, "kind": kind} for label, kind, _ in kept]}


def _fewer(points: Points, most: int) -> Points:
    stride = -(-len(points) // most) or 1
    return [*points[:-1:stride], points[-1]] if stride > 1 else points


def _of_tasks(run: RunFiles, key: str) -> dict[str, list[tuple[int, Any]]]:
    """Returns the points (step, value) of each task from the lines of training."""
    found: dict[str, list[tuple[int, Any]]] = {}
    for line in run.of_kind("train"):
        if line.get("step") is not None:
            found.setdefault(line["task"], []).append((line["step"], line.get(key)))
    curves = {task: without_repeats(points) for task, points in found.items()}
    return {task: points for task, points in curves.items()
            if any(value is not None for _, value in points)}


def _evaluated(run: RunFiles) -> dict[str, list[tuple[int, Any]]]:
    """Returns the points (step, value) of each metric, from event files and the job's history."""
    by_step = {each["global_step"]: each for each in run.evaluations if "eval_name" not in each}
    for line in run.of_kind("evaluation"):
        if line.get("step") is not None:
            by_step[line["step"]] = line.get("metrics", {})
    found: dict[str, list[tuple[int, Any]]] = {}
    for step, metrics in sorted(by_step.items()):
        for name, value in metrics.items():
            if name == "loss" or name not in _NO_METRICS:
                found.setdefault(name, []).append((step, value))
    return found


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
