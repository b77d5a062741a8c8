"""The lives of a job's tasks: start, steps and end of each process."""

import dataclasses
import datetime
from typing import Any, Callable, Mapping, Sequence

from estimator_trainer.reports import markup

# The head of a job comes first, because the job ends with it.
_ROLES = ("local", "chief", "master", "worker", "ps", "evaluator", "data_worker")
# At least one task of a running job writes more often than this.
SILENT_SECS = 120.0
RUNNING, NO_END = "running", "no end recorded"


@dataclasses.dataclass
class Life:
    """One process of a task, from `start` to `end`, or its last line, in seconds since 1970.

    Attributes:
      status: A Status, "exit N", RUNNING, or NO_END for a process that was killed.
      reason: Why the process ended; "" if unknown.
      first_step: The first step of training or evaluation, or None.
      last_step: The last step in a line, or None.
    """

    start: float
    end: float
    status: str = NO_END
    exit_code: int | None = None
    reason: str = ""
    first_step: int | None = None
    last_step: int | None = None


def of_tasks(lines: Sequence[dict[str, Any]], now: float) -> dict[str, list[Life]]:
    """Returns the lives of each task, oldest first, with the tasks in the order of roles."""
    lives: dict[str, list[Life]] = {}
    for line in lines:
        if line.get("by") != "launch":
            _add(lives.setdefault(line["task"], []), line)
    for line in lines:
        if line["kind"] == "exit":
            _close(lives.setdefault(line["task"], []), line)
    lives = dict(sorted(lives.items(), key=lambda item: place(item[0])))
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
        life.exit_code = line.get("exit_code")
        # The model that is kept may be of an earlier step than the last one.
        life.last_step = max(life.last_step or 0, step) if step is not None else life.last_step


def _close(lives: list[Life], line: dict[str, Any]) -> None:
    """Adds an exit that `launch` has written."""
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
    """Marks the tasks of a running job; a ps writes nothing while it serves."""
    last = [found[-1] for found in lives.values()]
    latest = max((life.end for life in last), default=0.0)
    if last and last[0].status == NO_END and now - latest < SILENT_SECS:
        for life in last:
            if life.status == NO_END:
                life.status, life.end = RUNNING, latest


def place(task: str) -> tuple[int, str, int]:
    """Returns the place of a task in the order of roles, to sort by."""
    role, _, index = task.partition(":")
    order = _ROLES.index(role) if role in _ROLES else len(_ROLES)
    return order, role, int(index) if index.isdigit() else 0


_COLOURS = ("done", "running", "stopped", "failed", "lost", "killed")
# A task with more restarts shows only its last processes.
_MOST_LIVES = 30
# The parts of the time axis, between its marks.
_MARKS = 4


def section(lives: Mapping[str, Sequence[Life]]) -> markup.Markup:
    """Returns the section on the tasks' lives."""
    spans = [life for found in lives.values() for life in found]
    if not spans:
        return markup.Markup("")
    start, end = min(life.start for life in spans), max(life.end for life in spans)
    rows = [(task, _line(found, start, end), _ends(found, start)) for task, found in lives.items()]
    began, ended = (datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
                    for at in (start, end))
    marks = "".join(f"<span>{duration(part * (end - start) / _MARKS)}</span>"
                    for part in range(_MARKS + 1))
    axis = markup.Markup(f"{began:%Y-%m-%d %H:%M:%S} to {ended:%H:%M:%S} UTC"
                         f'<span class="ticks quiet">{marks}</span>')
    return markup.section("The tasks", markup.table(["task", axis, "ends"], rows, "lives"))


def duration(secs: float) -> str:
    """Returns a duration for display, such as "1 h 03 min"."""
    if secs < 100:
        return f"{secs:.1f} s"
    minutes = int(secs / 60)
    return f"{minutes} min {secs % 60:.0f} s" if minutes < 60 else (
        f"{minutes // 60} h {minutes % 60:02} min")


def _line(lives: Sequence[Life], start: float, end: float) -> markup.Markup:
    shown = bars(lives, lambda at: at - start, end - start)
    return markup.Markup(f'<div class="life">{shown}</div>')


def bars(lives: Sequence[Life], clock: Callable[[float], float], longest: float) -> str:
    """Returns the bar of each process on a line of `longest` seconds.

    `clock` returns the seconds on that line of a time in seconds since 1970.
    """
    length = max(longest, 1e-3)
    return "".join(
        f'<i class="{colour(life)}" style="left:{100 * clock(life.start) / length:.2f}%;'
        f'width:{100 * (clock(life.end) - clock(life.start)) / length:.2f}%"'
        f' title="{markup.text(sentence(life))}"></i>' for life in lives)


def _ends(lives: Sequence[Life], start: float) -> markup.Markup:
    restarts = len(lives) - 1
    ends = [sentence(life) for life in lives]
    for i, (life, after) in enumerate(zip(lives, lives[1:])):
        ends[i] += f", {_at(life.end, start)}; back after {duration(after.start - life.end)}"
    ends = ends[-_MOST_LIVES:]
    title = f"{restarts} restart{'s' * (restarts > 1)}" if restarts else ""
    if restarts > 2:
        return markup.Markup(markup.text(ends[-1]) + markup.details(
            title, "<br>".join(markup.text(each) for each in ends)))
    return markup.Markup("<br>".join(markup.text(each)
                                     for each in [*([title] if title else []), *ends]))


def _at(end: float, start: float) -> str:
    clock = datetime.datetime.fromtimestamp(end, datetime.timezone.utc)
    return f"at {clock:%H:%M:%S} UTC, {duration(end - start)} after the start of the job"


def hints(lives: Mapping[str, Sequence[Life]]) -> list[str]:
    """Returns a sentence for each task whose process ended by failure and was started again."""
    found = []
    start = min((life.start for each in lives.values() for life in each), default=0.0)
    for task, each in lives.items():
        died = [(life, after) for life, after in zip(each, each[1:])
                if colour(life) in ("killed", "failed", "lost")]
        if not died:
            continue
        life, after = died[-1]
        times = f", {len(died)} times in all" if len(died) > 1 else ""
        code = life.exit_code or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with {life.status}"
        step = f" at step {life.last_step:,}" if life.last_step is not None else ""
        found.append(f"{task} {how}{step}, {_at(life.end, start)}, and was back after"
                     f" {duration(after.start - life.end)}{times}")
    return found


def sentence(life: Life) -> str:
    """Returns how long a process lived, its steps, and how it ended."""
    steps = ""
    if life.last_step is not None:
        first = life.last_step if life.first_step is None else life.first_step
        steps = f", steps {first} to {life.last_step}" if first != life.last_step else (
            f", step {life.last_step}")
    code = "" if life.exit_code is None else f", exit {life.exit_code}"
    if life.exit_code is not None and life.exit_code < 0:
        code = f", by signal {-life.exit_code}"
    reason = f" ({life.reason})" if life.reason else ""
    shown = "" if life.status == f"exit {life.exit_code}" else life.status
    return f"{duration(life.end - life.start)}: " + f"{shown}{reason}{steps}{code}".lstrip(", ")


def colour(life: Life) -> str:
    """Returns the class of a life's bar."""
    if life.status.startswith("exit"):
        return "failed"
    return life.status if life.status in _COLOURS else "unknown"
