"""A run in a few figures: status, steps, times, speed, and its metrics at the last and best step.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import Any, Iterator, Mapping

from estimator_trainer.reports import head, metric_direction, task_lives
from estimator_trainer.reports.run_files import RunFiles

# Entries of an evaluation that are not metrics.
_NO_METRICS = ("global_step", "eval_name")


@dataclasses.dataclass(frozen=True)
class Measured:
    """The value of a metric, and the step of its evaluation."""

    value: float
    step: int


@dataclasses.dataclass(frozen=True)
class Summary:
    """A run in a few figures; None for a figure that its files do not have.

    Attributes:
      began: When the first process began, in seconds since 1970.
      wall_secs: The seconds in which at least one task ran.
      examples_per_sec: The speed of all tasks together, the sum of their medians.
      parameters: The number of the model's parameters.
      last: The last value of each metric by name.
      best: The best value of each metric whose better direction is known.
      evaluated: The number of examples of the last evaluation.
    """

    name: str
    model_dir: str
    status: str
    reason: str
    step: int
    began: float | None
    wall_secs: float | None
    examples_per_sec: float | None
    parameters: int | None
    last: dict[str, Measured]
    best: dict[str, Measured]
    evaluated: int | None


def of_run(run: RunFiles, now: float) -> Summary:
    """Returns the figures of a run at a time in seconds since 1970."""
    lives = task_lives.of_tasks(run.lines, now)
    state = head.state(run, lives)
    starts = [life.start for found in lives.values() for life in found]
    models = run.of_kind("model")
    settings = run.record.settings if run.record else {}
    last, best = _measured(run, state.is_running, settings)
    counts = [line["examples"] for line in run.of_kind("evaluation") if line.get("examples")]
    return Summary(
        name=run.name, model_dir=run.model_dir, status=state.status, reason=state.reason,
        step=state.step,
        began=min(starts, default=None), wall_secs=head.wall_secs(lives) if starts else None,
        examples_per_sec=sum(speeds(run).values()) or None,
        parameters=models[-1]["parameters"] if models else None, last=last, best=best,
        evaluated=counts[-1] if counts else None)


def speeds(run: RunFiles) -> dict[str, float]:
    """Returns the median examples/s of each task that trains."""
    found: dict[str, list[float]] = {}
    for line in run.of_kind("train"):
        if line.get("examples_per_sec"):
            found.setdefault(line["task"], []).append(line["examples_per_sec"])
    return {task: statistics.median(values) for task, values in found.items()}


def waits(run: RunFiles) -> dict[str, float]:
    """Returns the mean share of time in which each task that trains waited for input."""
    found: dict[str, list[float]] = {}
    for line in run.of_kind("train"):
        if line.get("input_wait") is not None:
            found.setdefault(line["task"], []).append(line["input_wait"])
    return {task: statistics.fmean(values) for task, values in found.items()}


def _measured(run: RunFiles, is_running: bool, settings: Mapping[str, Any]
              ) -> tuple[dict[str, Measured], dict[str, Measured]]:
    """Returns the last and the best value of each metric."""
    # The result has more digits than the history, and the same step.
    by_step: dict[str, dict[int, float]] = {}
    for name, found in _evaluations(run, is_running):
        by_step.setdefault(name, {})[found.step] = found.value
    last: dict[str, Measured] = {}
    best: dict[str, Measured] = {}
    for name, values in by_step.items():
        step = max(values)
        last[name] = Measured(values[step], step)
        if direction := metric_direction.of_metric(name, settings):
            choose = min if direction == "min" else max
            step = choose(sorted(values), key=lambda each: values[each])
            best[name] = Measured(values[step], step)
    return last, best


def _evaluations(run: RunFiles, is_running: bool) -> Iterator[tuple[str, Measured]]:
    """Yields (metric, value) of each evaluation, by step."""
    found = run.metrics_by_step()
    # While a run goes on, result.json is left from the run before.
    if run.result and not is_running:
        metrics = run.result.metrics
        found.append((metrics.get("global_step", run.result.step), metrics))
    for step, metrics in sorted(found, key=lambda each: each[0]):
        yield from ((name, Measured(float(value), step)) for name, value in metrics.items()
                    if name not in _NO_METRICS and is_number(value))


def is_number(value: Any) -> bool:
    """Returns whether a value is a finite number."""
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and math.isfinite(value))
