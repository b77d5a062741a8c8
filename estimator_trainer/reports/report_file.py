"""The data behind a page, as a file for programs: `report.json` beside `report.html`.

docs/report.md describes the entries. A later version of the program may add some; a change of
those that are there raises FORMAT.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Sequence, TypedDict

from estimator_trainer import __version__, errors, result as result_lib, schema
from estimator_trainer.coordination import shared_files
from estimator_trainer.record import run_record
from estimator_trainer.reports import (compared_settings, curves, head as head_lib, look_at,
                                       run_summary, task_lives, task_load)
from estimator_trainer.reports.run_files import RunFiles

FORMAT = 1

_Value = TypedDict("_Value", {"value": schema.Metric, "step": int})
_Seconds = schema.Number | None


class Head(TypedDict):
    """Status, steps, times and metrics of a run; times in seconds since 1970."""

    status: str
    reason: str
    step: int
    goal: int | None
    began: _Seconds
    ended: _Seconds
    wall_secs: _Seconds
    examples_per_sec: schema.Number | None
    parameters: int | None
    evaluated: int | None
    metrics: dict[str, _Value]
    best: dict[str, _Value]
    exports: list[str]
    checkpoint: str
    note: str


class Curve(TypedDict):
    """A series: the values of a task, or of an evaluation, at steps and seconds since `start`."""

    run: str
    task: str
    name: str
    start: schema.Time
    steps: list[schema.Number]
    seconds: list[schema.Number]
    values: list[schema.Metric]


class Life(TypedDict):
    """One process of a task."""

    start: schema.Time
    end: schema.Time
    status: str
    reason: str
    exit_code: int | None
    first_step: int | None
    last_step: int | None


class Task(TypedDict):
    """A task of a run, its processes, and how busy it was."""

    task: str
    lives: list[Life]
    load: dict[str, Any] | None


class RunContent(TypedDict):
    """The part of a run."""

    name: str
    model_dir: str
    head: Head
    record: dict[str, Any] | None
    curves: list[Curve]
    tasks: list[Task]
    evaluation: dict[str, Any] | None
    hints: list[str]
    damaged: list[str]


class Difference(TypedDict):
    """A setting that differs, with its value in each run, as texts."""

    name: str
    values: list[str | None]


class Content(TypedDict):
    """The content of the file; `different` is empty for a single run."""

    format: int
    program: str
    made: schema.Time
    runs: list[RunContent]
    different: list[Difference]


def of_runs(runs: Sequence[RunFiles], now: float, is_brief: bool = False) -> Content:
    """Returns the content for runs at a time in seconds since 1970.

    `is_brief`: without curves, tasks and evaluations, as for a table of many runs.
    """
    different = compared_settings.rows([run.record for run in runs]) if len(runs) > 1 else []
    content: Any = _plain({
        "format": FORMAT, "program": f"estimator-trainer {__version__}", "made": now,
        "runs": [_of_run(run, now, is_brief) for run in runs],
        "different": [{"name": name, "values": values} for name, values in different]})
    return schema.made(Content, content)


def path_beside(page: str) -> str:
    """Returns the path of the file that belongs to a page: report.html has report.json."""
    return f"{page.removesuffix('.html')}.json"


def text_of(content: Content) -> str:
    """Returns the text of the file, strict JSON."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"


def read(path: str) -> dict[str, Any]:
    """Returns the content of a file; raises ConfigError if the file is missing or damaged."""
    text = shared_files.read_text(path)
    if text is None:
        raise errors.ConfigError(f"{path} does not exist; `report` writes the file again.")
    try:
        return dict(schema.parsed(Content, text))
    except schema.SchemaError as error:
        raise errors.ConfigError(f"{path} is damaged: {error}. `report` writes the file again."
                                 ) from error


def _of_run(run: RunFiles, now: float, is_brief: bool) -> dict[str, Any]:
    lives = task_lives.of_tasks(run.lines, now)
    content = None if is_brief else run.judgement
    return {
        "name": run.name, "model_dir": run.model_dir, "head": _head(run, lives, now),
        "record": run.record and json.loads(run_record.to_json(run.record)),
        "curves": [] if is_brief else _curves(run),
        "tasks": [] if is_brief else _tasks(run, lives), "evaluation": content,
        "hints": [] if is_brief else look_at.of_run(run, lives), "damaged": run.damaged}


def _head(run: RunFiles, lives: head_lib.Lives, now: float) -> dict[str, Any]:
    summary, state = run_summary.of_run(run, now), head_lib.state(run, lives)
    ended = max((life.end for found in lives.values() for life in found), default=None)
    ended_as: result_lib.Result | None = None if state.is_running else run.result
    return {
        "status": summary.status, "reason": summary.reason, "step": summary.step,
        "goal": state.goal or None, "began": summary.began,
        "ended": None if state.is_running else ended, "wall_secs": summary.wall_secs,
        "examples_per_sec": summary.examples_per_sec, "parameters": summary.parameters,
        "evaluated": summary.evaluated, "metrics": _values(summary.last),
        "best": _values(summary.best), "exports": list(ended_as.exports) if ended_as else [],
        "checkpoint": run.checkpoint, "note": ended_as.note if ended_as else ""}


def _values(measured: dict[str, run_summary.Measured]) -> dict[str, Any]:
    return {name: dataclasses.asdict(each) for name, each in measured.items()}


def _curves(run: RunFiles) -> list[dict[str, Any]]:
    return [{"run": run.name, "task": each.task, "name": each.name, "start": each.start,
             "steps": [point.step for point in each.points],
             "seconds": [round(point.time - each.start, 2) for point in each.points],
             "values": [point.value for point in each.points]} for each in curves.series_of(run)]


def _tasks(run: RunFiles, lives: head_lib.Lives) -> list[dict[str, Any]]:
    loads = {load.task: dataclasses.asdict(load) for load in task_load.of_run(run)}
    return [{"task": task, "lives": [dataclasses.asdict(life) for life in found],
             "load": loads.get(task)} for task, found in lives.items()]


def _plain(value: Any) -> Any:
    """Returns a value for strict JSON: NaN and infinities are null."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
