"""The head of a run's page: its status, how far it is, its metrics, and where its files are."""

import math
import time
from typing import Any, Mapping, NamedTuple, Sequence

from estimator_trainer.reports import markup, task_lives
from estimator_trainer.reports.run_files import RunFiles
from estimator_trainer.reports.task_lives import Life
from estimator_trainer.settings.trainer_config import TrainerConfig

Lives = Mapping[str, Sequence[Life]]
# The speed of these last lines of progress decides the remaining time.
_LINES_OF_SPEED = 20
_NO_METRICS = ("global_step", "eval_name")


class State(NamedTuple):
    """The state of a run; `goal` is the last step, 0 if unknown, and `metric` what may end it."""

    status: str
    step: int
    reason: str
    goal: int
    metric: str

    @property
    def is_running(self) -> bool:
        """Whether the run goes on, as far as its files show."""
        return self.status == task_lives.RUNNING


def state(run: RunFiles, lives: Lives) -> State:
    """Returns the state of a run; that of its head, with which a job ends."""
    head = next(iter(lives.values()), None)
    steps = [line["step"] for line in run.lines if isinstance(line.get("step"), int)]
    begun = [line for line in run.of_kind("trains") if "max_steps" in line]
    goal = (begun[-1]["max_steps"] or 0, begun[-1].get("metric") or "") if begun else (0, "")
    result = run.result
    if head is None or head[-1].exit_code == 0 and result:
        return State(*((result.status, result.step, result.reason) if result else
                       ("no end recorded", max(steps, default=0), "")), *goal)
    last = head[-1]
    if last.status == task_lives.RUNNING:
        # All tasks together make the global step.
        steps = [line["step"] for line in _since(run, last.start) if line["kind"] == "train"]
        return State(last.status, max([*steps, last.last_step or 0]), last.reason, *goal)
    return State(last.status, last.last_step or max(steps, default=0), last.reason, *goal)


def section(run: RunFiles, lives: Lives, now: float) -> markup.Markup:
    """Returns the head of a run's page, made at the time `now` in seconds since 1970."""
    found = state(run, lives)
    note = run.result.note if run.result and found.status == run.result.status else ""
    shown = "".join(
        f'<div class="fact"><b>{markup.text(value)}</b><span>{markup.text(name)}</span></div>'
        for name, value in _facts(run, lives, found))
    summary = f"{run.model_dir}: {found.reason}".rstrip(".: ")
    return markup.Markup(
        f'<h1>{markup.text(run.name)} <span class="status {markup.text(found.status.split()[0])}">'
        f"{markup.text(found.status)}</span></h1>"
        + markup.note(f"{summary}.") + _progress(run, found) + _age(run, found, now)
        + markup.note(note) + f'<div class="facts">{shown}</div>' + _paths(run))


def wall_secs(lives: Lives) -> float:
    """Returns the seconds in which at least one task ran: pauses between runs do not count."""
    secs, end = 0.0, 0.0
    for life in sorted((life for found in lives.values() for life in found),
                       key=lambda life: life.start):
        secs += max(0.0, life.end - max(life.start, end))
        end = max(end, life.end)
    return secs


def _progress(run: RunFiles, found: State) -> str:
    """Returns how far a running training is: a bar, step, percent and remaining time."""
    if not found.is_running:
        return ""
    if not found.goal:
        return (f'<p class="progress">step {found.step:,}'
                + (" (this run has no last step: it ends with its input)" if found.step else "")
                + "</p>")
    percent = min(100.0, 100 * found.step / found.goal)
    goal = f"of {found.goal:,}" if not found.metric else (
        f"until no better {found.metric}, at most {found.goal:,}")
    end = _end(run, found)
    eta = f" &middot; ETA {'at most ' * bool(found.metric)}{_ticking(end, 'left')}" if end else ""
    return (f'<p class="progress"><progress max="{found.goal}" value="{found.step}"'
            ' aria-label="training"></progress>'
            f" <b>step {found.step:,}</b> {markup.text(goal)} &middot; {percent:.0f} %{eta}</p>")


def _end(run: RunFiles, found: State) -> float | None:
    """Returns when a running training will have made its last step; None if that is unknown.

    Evaluations between the last lines of progress count, because more of them will follow.
    """
    begun = run.of_kind("trains")
    lines = [line for line in _since(run, begun[-1]["time"] if begun else 0.0)
             if line["kind"] == "train"][-_LINES_OF_SPEED:]
    if len(lines) < 2 or lines[-1]["step"] <= lines[0]["step"]:
        return None
    step_secs = (lines[-1]["time"] - lines[0]["time"]) / (lines[-1]["step"] - lines[0]["step"])
    return float(lines[-1]["time"] + max(0, found.goal - lines[-1]["step"]) * step_secs)


def _age(run: RunFiles, found: State, now: float) -> str:
    """Returns when the data are from; while the run goes on, the page shows their age."""
    latest = max((line["time"] for line in run.lines), default=now)
    if found.is_running:
        return f'<p class="quiet">data from {_ticking(latest, "age")}</p>'
    return markup.note(f"Last line of the run: {_utc(latest)}. Page made: {_utc(now)}."
                       if run.lines else f"Page made: {_utc(now)}.")


def _ticking(at: float, kind: str) -> str:
    """Returns a time that live.js shows as an age or as the time left, every second."""
    return (f'<time data-at="{at:.3f}" data-shows="{kind}" title="{_utc(at)}">'
            f"{'' if kind == 'age' else 'at '}{_utc(at)}</time>")


def _utc(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))


def _facts(run: RunFiles, lives: Lives, found: State) -> list[tuple[str, str]]:
    """Returns (name, value) of the figures: steps, metrics, the best evaluation, wall time."""
    facts = [] if found.is_running and found.goal else [("step", f"{found.step:,}")]
    # While a run goes on, result.json is left from the run before.
    final = run.result.metrics if run.result and not found.is_running else {}
    latest = ({name: (value, final.get("global_step", found.step)) for name, value in final.items()
               if _is_metric(name, value)} or _latest_metrics(run))
    facts += [(f"{name} at step {step:,}", markup.text(float(value)))
              for name, (value, step) in latest.items()]
    # The history has fewer digits than the result.
    if (best := _best(run)) and latest.get(best[0], (0.0, -1))[1] != best[2]:
        facts.append((f"best {best[0]}, at step {best[2]:,}", markup.text(float(best[1]))))
    if wall := wall_secs(lives):
        facts.append(("wall time", task_lives.duration(wall)))
    return facts


def _best(run: RunFiles) -> tuple[str, float, int] | None:
    """Returns (metric, value, step) of the best evaluation by --best_metric; None without one."""
    if run.best:
        return run.best.metric, run.best.value, run.best.step
    settings = run.record.settings if run.record else {}
    metric = settings.get("best_metric", TrainerConfig.best_metric)
    sign = 1 if settings.get("best_mode", TrainerConfig.best_mode) == "min" else -1
    found = [(sign * metrics[metric], step) for step, metrics in run.metrics_by_step()
             if _is_metric(metric, metrics.get(metric))]
    if not found:
        return None
    value, step = min(found)
    return metric, sign * value, step


def _latest_metrics(run: RunFiles) -> dict[str, tuple[float, int]]:
    """Returns value and step of the last evaluation that has each metric."""
    found: dict[str, tuple[float, int]] = {}
    for step, metrics in run.metrics_by_step():
        found |= {name: (value, step) for name, value in metrics.items()
                  if _is_metric(name, value)}
    return found


def _is_metric(name: str, value: Any) -> bool:
    return name not in _NO_METRICS and isinstance(value, (int, float)) and math.isfinite(value)


def _paths(run: RunFiles) -> str:
    """Returns the paths of the last checkpoint and of the exports."""
    rows = [("checkpoint", markup.code(run.checkpoint))] if run.checkpoint else []
    rows += [("export", markup.code(path)) for path in (run.result.exports if run.result else ())]
    return markup.table([], rows, "paths") if rows else ""


def _since(run: RunFiles, start: float) -> list[dict[str, Any]]:
    return [line for line in run.lines
            if line["time"] >= start and isinstance(line.get("step"), int)]
