"""The event files of training hold the scalars and histograms that a model writes."""

from __future__ import annotations

import math
import time
from typing import Any, Iterator, NamedTuple

from estimator_trainer.evaluation import event_files

# A page is not worth a longer wait; files with images of every step may be large.
_MOST_SECS = 8.0
_MOST_HISTOGRAMS = 24
# TensorFlow's own scalars, which the history has.
_LEFT_OUT = ("loss", "global_step/sec", "global_step_1/sec", "examples/sec")

Curve = list[tuple[int, float]]


class Histogram(NamedTuple):
    """The distribution of a variable at a step.

    Attributes:
      step: The global step.
      low: The least value.
      high: The greatest value.
      limits: The upper ends of the buckets.
      counts: How many values are in each bucket.
    """

    step: int
    low: float
    high: float
    limits: list[float]
    counts: list[float]


class Events(NamedTuple):
    """What the event files of training hold.

    Attributes:
      scalars: The values of each scalar by name, by step.
      histograms: The histograms of each variable by name, by step.
      is_whole: Whether all of it was read.
    """

    scalars: dict[str, Curve]
    histograms: dict[str, list[Histogram]]
    is_whole: bool


def read(model_dir: str) -> Events:
    """Reads the event files of training, for a few seconds at most."""
    found: dict[str, list[tuple[float, int, Any]]] = {}
    until, is_whole = time.monotonic() + _MOST_SECS, True
    for wall_time, step, value in _values(model_dir):
        if time.monotonic() > until:
            is_whole = False
            break
        kept = (value.simple_value if value.HasField("simple_value") else
                value.histo if value.HasField("histo") else None)
        if kept is not None and value.tag not in _LEFT_OUT:
            found.setdefault(value.tag, []).append((wall_time, step, kept))
    curves = {tag: on_the_way([(step, value) for _, step, value in sorted(
        points, key=lambda point: point[0])]) for tag, points in sorted(found.items())}
    scalars = {tag: points for tag, points in curves.items() if isinstance(points[0][1], float)}
    # What diverged has no range that could be drawn.
    histograms = {tag: [_histogram(*point) for point in points
                        if math.isfinite(point[1].min) and math.isfinite(point[1].max)]
                  for tag, points in curves.items() if tag not in scalars}
    histograms = {tag: found for tag, found in histograms.items() if found}
    return Events(scalars, dict(list(histograms.items())[:_MOST_HISTOGRAMS]), is_whole)


def on_the_way(points: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Returns the points that led to the last one: without those that a resumed run went back over.

    Args:
      points: Steps with values, in the order in which they were written.
    """
    kept: list[tuple[int, Any]] = []
    for step, value in points:
        while kept and kept[-1][0] >= step:
            kept.pop()
        kept.append((step, value))
    return kept


def _values(model_dir: str) -> Iterator[tuple[float, int, Any]]:
    for event in event_files.events(model_dir):
        for value in event.summary.value:
            yield event.wall_time, int(event.step), value


def _histogram(step: int, histo: Any) -> Histogram:
    return Histogram(step, histo.min, histo.max, list(histo.bucket_limit), list(histo.bucket))
