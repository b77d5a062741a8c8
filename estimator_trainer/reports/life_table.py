"""The table of the tasks: a line of time for each, and how its processes ended."""

from __future__ import annotations

import datetime
from typing import Mapping, Sequence

from estimator_trainer.reports import markup
from estimator_trainer.reports.markup import Markup
from estimator_trainer.reports.run_files import RunFiles
from estimator_trainer.reports.task_lives import Life

_COLOURS = ("done", "running", "stopped", "failed", "lost", "killed")
# A job that was started a hundred times shows its last processes.
_MOST_LIVES = 30


def section(run: RunFiles, lives: Mapping[str, Sequence[Life]]) -> Markup:
    """Returns the section about the tasks' lives, and about what they waited for."""
    spans = [life for found in lives.values() for life in found]
    if not spans:
        return Markup("")
    start, end = min(life.start for life in spans), max(life.end for life in spans)
    rows = [(task, _line(found, start, end), _told(found)) for task, found in lives.items()]
    began, ended = (datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
                    for at in (start, end))
    return markup.section(
        "The tasks", markup.table(["task", f"{began:%Y-%m-%d %H:%M:%S} to {ended:%H:%M:%S} UTC",
                                   "ends"], rows, "lives"), _waits(run))


def duration(secs: float) -> str:
    """Returns seconds in words, such as "1 h 03 min"."""
    if secs < 100:
        return f"{secs:.1f} s"
    minutes = int(secs / 60)
    return f"{minutes} min {secs % 60:.0f} s" if minutes < 60 else (
        f"{minutes // 60} h {minutes % 60:02} min")


def _line(lives: Sequence[Life], start: float, end: float) -> Markup:
    length = max(end - start, 1e-3)
    bars = "".join(
        f'<i class="{_colour(life)}" style="left:{100 * (life.start - start) / length:.2f}%;'
        f'width:{100 * (life.end - life.start) / length:.2f}%"'
        f' title="{markup.text(_sentence(life))}"></i>' for life in lives)
    return Markup(f'<div class="life">{bars}</div>')


def _told(lives: Sequence[Life]) -> Markup:
    restarts = len(lives) - 1
    told = [_sentence(life) for life in lives[-_MOST_LIVES:]]
    title = f"{restarts} restart{'s' * (restarts > 1)}" if restarts else ""
    if restarts > 2:
        return Markup(markup.text(told[-1]) + markup.details(
            title, "<br>".join(markup.text(each) for each in told)))
    return Markup("<br>".join(markup.text(each) for each in [*([title] if title else []), *told]))


def _sentence(life: Life) -> str:
    steps = ""
    if life.last_step is not None:
        first = life.last_step if life.first_step is None else life.first_step
        steps = f", steps {first} to {life.last_step}" if first != life.last_step else (
            f", step {life.last_step}")
    code = "" if life.exit_code is None else f", exit {life.exit_code}"
    if life.exit_code is not None and life.exit_code < 0:
        code = f", by signal {-life.exit_code}"
    why = f" ({life.reason})" if life.reason else ""
    shown = "" if life.status == f"exit {life.exit_code}" else life.status
    return f"{duration(life.end - life.start)}: " + f"{shown}{why}{steps}{code}".lstrip(", ")


def _colour(life: Life) -> str:
    if life.status.startswith("exit"):
        return "failed"
    return life.status if life.status in _COLOURS else "unknown"


def _waits(run: RunFiles) -> Markup:
    """Returns a sentence for each task that waited for its input, or for evaluations."""
    sums: dict[str, list[float]] = {}
    for line in run.of_kind("train"):
        if line.get("input_wait") is not None:
            sums.setdefault(line["task"], []).append(line["input_wait"])
    paused: dict[str, float] = {}
    for line in run.of_kind("train"):
        paused[line["task"]] = paused.get(line["task"], 0.0) + (line.get("paused_secs") or 0.0)
    told = [f"{task} waited {100 * sum(shares) / len(shares):.0f} % of its time of training for"
            " input" for task, shares in sums.items()]
    told += [f"{task} paused {duration(secs)} for evaluations" for task, secs in paused.items()
             if secs >= 0.05]
    return markup.note("; ".join(told) + "." if told else "")
