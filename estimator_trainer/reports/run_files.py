"""The files of a run are all that its page is made of: record, history, result, judgement, events.
"""

from __future__ import annotations

import dataclasses
import math
import posixpath
import time
from typing import Any, Iterator, NamedTuple

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import checkpoints
from estimator_trainer.evaluation import event_files, judgement
from estimator_trainer.record import record_file, run_record
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.reports import history
from estimator_trainer.result import Result


@dataclasses.dataclass(frozen=True)
class RunFiles:
    """What the files of a model_dir say.

    Attributes:
      model_dir: The directory.
      record: Who wrote it, and each run; None if nothing recorded it.
      lines: The lines of the history, by time.
      result: How the job ended; None before.
      judgement: What the model said of the evaluation's examples, or None.
      events: The scalars and histograms of the event files.
      evaluations: The metrics of each evaluated step, `global_step` included.
      damaged: A sentence for each file that is damaged, and left out.
    """

    model_dir: str
    record: RunRecord | None
    lines: list[dict[str, Any]]
    result: Result | None
    judgement: dict[str, Any] | None
    events: Events
    evaluations: list[dict[str, Any]]
    damaged: list[str]

    @property
    def name(self) -> str:
        """The last part of the directory's path."""
        return posixpath.basename(self.model_dir.rstrip("/")) or self.model_dir

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Returns the history's lines of a kind, by time."""
        return [line for line in self.lines if line["kind"] == kind]


def read(model_dir: str) -> RunFiles:
    """Reads the files of a model_dir.

    Raises:
      ConfigError: if nobody has trained in this directory.
    """
    damaged: list[str] = []
    try:
        record = record_file.read_if_whole(model_dir, damaged.append)
        lines = history.read(model_dir, damaged.append)
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            f"model_dir is {model_dir!r} (from --model_dir), which cannot be read:"
            f" {errors.first_line(error)}; expected the directory of a training. For example:"
            " --model_dir=/tmp/digits") from error
    found = RunFiles(model_dir, record, lines, checkpoints.read_result(model_dir, damaged.append),
                     judgement.read(model_dir, damaged.append), read_events(model_dir),
                     event_files.read(model_dir), damaged)
    is_empty = record is None and not lines and not found.evaluations and (
        not found.events.scalars)
    if is_empty and not damaged:
        raise errors.ConfigError(
            f"model_dir is {model_dir!r} (from --model_dir), which holds neither {run_record.NAME}"
            f" nor {history.NAME} nor events; expected the directory of a training. For"
            " example: --model_dir=/tmp/digits")
    return found


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


def read_events(model_dir: str) -> Events:
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
