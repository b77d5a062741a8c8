"""The files from which the page is made: record, history, result, judgement, events."""

from __future__ import annotations

import dataclasses
import math
import posixpath
import time
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_trainer.coordination import checkpoints
from estimator_trainer.errors import ConfigError, first_line, Problem, Setting
from estimator_trainer.evaluation import event_files, judgement
from estimator_trainer.record import record_file, run_record
from estimator_trainer.reports import history
from estimator_trainer.result import Result


@dataclasses.dataclass(frozen=True)
class RunFiles:
    """The content of a model_dir's files; None where a file is missing or damaged.

    Attributes:
      lines: The lines of the job's history, by time.
      evaluations: The metrics of each evaluated step, with `global_step`.
      evaluation_times: The time of each of `evaluations`, in seconds since 1970.
      best: The best checkpoint so far, if the run keeps it.
      checkpoint: The path of the latest checkpoint; "" without one.
      damaged: A sentence for each damaged file, whose content is left out.
      label: The name beside other runs; "": the last part of the directory's path.
    """

    model_dir: str
    record: run_record.RunRecord | None
    lines: list[dict[str, Any]]
    result: Result | None
    judgement: dict[str, Any] | None
    events: Events
    evaluations: list[dict[str, Any]]
    evaluation_times: list[float]
    damaged: list[str]
    best: checkpoints.Best | None = None
    checkpoint: str = ""
    label: str = ""

    @property
    def name(self) -> str:
        """The name for display."""
        return self.label or posixpath.basename(self.model_dir.rstrip("/")) or self.model_dir

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Returns the lines of a kind, by time."""
        return [line for line in self.lines if line["kind"] == kind]

    def metrics_by_step(self) -> list[tuple[int, dict[str, Any]]]:
        """Returns (step, metrics) of each evaluation of the unnamed set, by step.

        The history comes after the event files, and has a step that both have last.
        """
        found = [(each["global_step"], each) for each in self.evaluations
                 if "eval_name" not in each]
        found += [(line["step"], line.get("metrics", {})) for line in self.of_kind("evaluation")
                  if isinstance(line.get("step"), int)]
        return sorted(found, key=lambda each: each[0])


def read(model_dir: str) -> RunFiles:
    """Returns the files of a model_dir; raises ConfigError if the directory has no training."""
    damaged: list[str] = []
    try:
        record = record_file.read_if_whole(model_dir, damaged.append)
        lines = history.read(model_dir, damaged.append)
    except tf.errors.OpError as error:
        why = f"which cannot be read: {first_line(error)}"
        raise ConfigError(not_a_training(model_dir, why)) from error
    evaluations = event_files.read_with_times(model_dir)
    found = RunFiles(model_dir, record, lines, checkpoints.read_result(model_dir, damaged.append),
                     judgement.read(model_dir, damaged.append), read_events(model_dir),
                     [metrics for _, metrics in evaluations], [at for at, _ in evaluations],
                     damaged,
                     checkpoints.read_best(model_dir, damaged.append),
                     max(checkpoints.paths_in(model_dir), key=checkpoints.step_of, default=""))
    if not (record or lines or found.evaluations or found.events.scalars or damaged):
        raise ConfigError(not_a_training(
            model_dir, f"which holds neither {run_record.NAME} nor {history.NAME} nor events"))
    return found


def read_brief(model_dir: str) -> RunFiles:
    """Returns the files of a model_dir that are read in milliseconds: a few lines of training, no
    event files beside a history, and no evaluated examples.

    A file that cannot be read now counts as damaged.
    """
    damaged: list[str] = []
    empty = RunFiles(model_dir, None, [], None, None, Events({}, {}, True), [], [], damaged)
    try:
        lines = history.read_brief(model_dir, damaged.append)
        evaluations = [] if lines else event_files.read_with_times(model_dir)
        return dataclasses.replace(
            empty, record=record_file.read_if_whole(model_dir, damaged.append), lines=lines,
            result=checkpoints.read_result(model_dir, damaged.append),
            evaluations=[metrics for _, metrics in evaluations],
            evaluation_times=[at for at, _ in evaluations],
            best=checkpoints.read_best(model_dir, damaged.append))
    except tf.errors.OpError as error:
        damaged.append(f"{model_dir} cannot be read: {first_line(error)}")
        return empty


def not_a_training(model_dir: str, why: str) -> Problem:
    """Returns the problem of a directory without a training that can be shown."""
    return Problem("model_dir", model_dir, why, "the directory of a training",
                   Setting("model_dir", "/tmp/digits"))


# The longest time for event files, which may have images of every step.
_MOST_SECS = 8.0
_MOST_HISTOGRAMS = 24
# TensorFlow's own scalars, which are in the job's history, too: the Estimator's loss is "loss_1" if
# the model's head has a summary of this name.
_LEFT_OUT = ("loss", "loss_1", "global_step/sec", "global_step_1/sec", "examples/sec")


class Point(NamedTuple):
    """A value of a curve, None if it is missing, at a step and a time in seconds since 1970."""

    step: float
    time: float
    value: Any


class Histogram(NamedTuple):
    """The distribution of a variable at a step; `limits` are the upper ends of the buckets."""

    step: int
    low: float
    high: float
    limits: list[float]
    counts: list[float]


class Events(NamedTuple):
    """The content of the event files of training, each scalar and variable by name, by step.

    `is_whole`: all files were read to their ends.
    """

    scalars: dict[str, list[Point]]
    histograms: dict[str, list[Histogram]]
    is_whole: bool


def read_events(model_dir: str) -> Events:
    """Returns the event files of training, as far as they can be read in a few seconds."""
    found: dict[str, list[tuple[float, int, Any]]] = {}
    until, is_whole = time.monotonic() + _MOST_SECS, True
    for wall_time, step, value in (
            (event.wall_time, int(event.step), value) for event in event_files.events(model_dir)
            for value in event.summary.value):
        if time.monotonic() > until:
            is_whole = False
            break
        kept = (value.simple_value if value.HasField("simple_value") else
                value.histo if value.HasField("histo") else None)
        if kept is not None and value.tag not in _LEFT_OUT:
            found.setdefault(value.tag, []).append((wall_time, step, kept))
    curves = {tag: without_repeats([Point(step, at, value) for at, step, value in sorted(
        points, key=lambda point: point[0])]) for tag, points in sorted(found.items())}
    scalars = {tag: points for tag, points in curves.items() if isinstance(points[0].value, float)}
    # Variables that diverged have no range to draw.
    histograms = {tag: [
        Histogram(int(step), each.min, each.max, list(each.bucket_limit), list(each.bucket))
        for step, _, each in points if math.isfinite(each.min) and math.isfinite(each.max)]
                  for tag, points in curves.items() if tag not in scalars}
    histograms = {tag: found for tag, found in histograms.items() if found}
    return Events(scalars, dict(list(histograms.items())[:_MOST_HISTOGRAMS]), is_whole)


def without_repeats(points: list[Point]) -> list[Point]:
    """Returns points, in the order of writing, without steps that were repeated.

    A resumed run repeats the steps after its checkpoint.
    """
    kept: list[Point] = []
    for point in points:
        while kept and kept[-1].step >= point.step:
            kept.pop()
        kept.append(point)
    return kept
