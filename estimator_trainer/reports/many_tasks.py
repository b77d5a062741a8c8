"""The curves of many tasks in one chart: their median, the middle half, and two of them."""

import math
import statistics
from typing import Mapping, Sequence

from estimator_trainer.reports.run_files import Point

# More curves cannot be told apart.
MOST_CURVES = 12
_PARTS = 120


def spread(curves: Mapping[str, Sequence[Point]]) -> list[list[Point]]:
    """Returns the quartiles of the tasks' values by step: the lower, the median and the upper.

    The steps are divided into up to 120 equal parts. A task counts once in each part, with the
    mean of its values there.
    """
    known = {task: [point for point in points if point.value is not None]
             for task, points in curves.items()}
    steps = [point.step for points in known.values() for point in points]
    if not steps:
        return [[], [], []]
    first, width = min(steps), (max(steps) - min(steps) + 1) / _PARTS
    parts: dict[int, dict[str, list[Point]]] = {}
    for task, points in known.items():
        for point in points:
            part = int((point.step - first) / width)
            parts.setdefault(part, {}).setdefault(task, []).append(point)
    found: list[list[Point]] = [[], [], []]
    for _, tasks in sorted(parts.items()):
        inside = [point for points in tasks.values() for point in points]
        step = round(statistics.mean(point.step for point in inside))
        time = statistics.mean(point.time for point in inside)
        values = sorted(statistics.mean(point.value for point in points)
                        for points in tasks.values())
        for share, curve in zip((0.25, 0.5, 0.75), found):
            curve.append(Point(step, time, quantile(values, share)))
    return found


def extremes(curves: Mapping[str, Sequence[Point]]) -> tuple[str, str]:
    """Returns the tasks with the lowest and the highest median value."""
    medians = {task: statistics.median(values) for task, values in (
        (task, [point.value for point in points if point.value is not None])
        for task, points in curves.items()) if values}
    ordered = sorted(medians, key=lambda task: medians[task])
    return ordered[0], ordered[-1]


def quantile(values: Sequence[float], share: float) -> float:
    """Returns a quantile of sorted values, with linear interpolation, as `numpy.quantile` does."""
    at = share * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])
