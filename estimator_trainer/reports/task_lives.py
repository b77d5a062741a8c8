"""The lives of a job's tasks: when each process began, what it did, and how it ended."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

# The head of a job comes first, for who trains tells when the job has ended.
_ROLES = ("local", "chief", "master", "worker", "ps", "evaluator")
# Some task of a job writes more often than this.
_SILENT_SECS = 120.0
RUNNING, NO_END = "running", "no end recorded"


@dataclasses.dataclass
class Life:
    """One process of a task.

    Attributes:
      start: When it began, in seconds since 1970.
      end: When it ended, or gave its last sign of life.
      status: How it ended: a Status, "exit N", RUNNING, or NO_END for one that was killed.
      exit_code: Its exit code, or None.
      reason: Why it ended; "" if it did not say.
      first_step: The step with which it began to train or evaluate, or None.
      last_step: The last step that it told, or None.
    """

    start: float
    end: float
    status: str = NO_END
    exit_code: int | None = None
    reason: str = ""
    first_step: int | None = None
    last_step: int | None = None


def of_tasks(lines: Sequence[dict[str, Any]], now: float) -> dict[str, list[Life]]:
    """Returns the lives of each task, oldest first, the tasks in the order of roles.

    Args:
      lines: The lines of the history, by time.
      now: The time at which the page is made.
    """
    lives: dict[str, list[Life]] = {}
    for line in lines:
        if line.get("by") != "launch":
            _add(lives.setdefault(line["task"], []), line)
    for line in lines:
        if line["kind"] == "exit":
            _close(lives.setdefault(line["task"], []), line)
    lives = dict(sorted(lives.items(), key=lambda item: _place(item[0])))
    _mark_running(lives, now)
    return lives


def _add(lives: list[Life], line: dict[str, Any]) -> None:
    time, step = float(line["time"]), line.get("step")
    if line["kind"] == "start" or not lives:
        lives.append(Life(time, time))
    life = lives[-1]
    life.end = max(life.end, time)
    if line["kind"] in ("trains", "train", "evaluation") and step is not None:
        life.first_step = step if life.first_step is None else life.first_step
        life.last_step = step
    if line["kind"] == "end":
        life.status, life.reason = line["status"], line.get("reason", "")
        life.exit_code, life.last_step = line.get("exit_code"), step


def _close(lives: list[Life], line: dict[str, Any]) -> None:
    """Takes note of an end that `launch` saw."""
    began, ended = float(line["began"]), float(line["time"])
    life = next((each for each in lives if began - 1 <= each.start <= ended), None)
    if life is None:
        life = Life(began, ended)
        lives.append(life)
        lives.sort(key=lambda each: each.start)
    life.start, life.end, life.exit_code = min(began, life.start), ended, line["code"]
    if life.status in (NO_END, RUNNING):
        code = line["code"]
        life.status = "done" if code == 0 else "killed" if code < 0 else f"exit {code}"


def _mark_running(lives: dict[str, list[Life]], now: float) -> None:
    """Marks the tasks of a job that goes on; a ps says nothing while it serves."""
    last = [found[-1] for found in lives.values()]
    latest = max((life.end for life in last), default=0.0)
    if last and last[0].status == NO_END and now - latest < _SILENT_SECS:
        for life in last:
            if life.status == NO_END:
                life.status, life.end = RUNNING, latest


def _place(task: str) -> tuple[int, str, int]:
    role, _, index = task.partition(":")
    order = _ROLES.index(role) if role in _ROLES else len(_ROLES)
    return order, role, int(index) if index.isdigit() else 0
