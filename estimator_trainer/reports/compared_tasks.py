"""The tasks of several runs beside each other, on one clock from each run's start."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from estimator_trainer.reports import head, markup, run_summary, task_lives
from estimator_trainer.reports.run_files import RunFiles
from estimator_trainer.reports.task_lives import Life

_MOST_TASKS = 16


def section(runs: Sequence[RunFiles], now: float) -> markup.Markup:
    """Returns the section on the tasks of all runs."""
    lives = [task_lives.of_tasks(run.lines, now) for run in runs]
    longest = max(map(head.wall_secs, lives), default=0.0)
    rows: list[str] = []
    for run, of_run in zip(runs, lives):
        clock = _clock(of_run)
        speeds, waits = run_summary.speeds(run), run_summary.waits(run)
        for i, task in enumerate(list(of_run)[:_MOST_TASKS]):
            more = len(of_run) - _MOST_TASKS
            name = f"{run.name} ({_MOST_TASKS} of {len(of_run)} tasks)" if more > 0 else run.name
            rows.append(_row(name, i == 0, task, _bars(of_run[task], clock, longest),
                             speeds.get(task), waits.get(task)))
    if not rows:
        return markup.Markup("")
    headings = "".join(f'<th scope="col">{each}</th>' for each in (
        "run", "task", f"0 to {task_lives.duration(longest)} since the start of each run",
        "examples/s", "waits for input"))
    return markup.section(
        "The tasks", '<div class="wide"><table class="lives of-runs"><thead><tr>'
        f"{headings}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>",
        markup.note("Pauses between two runs of one training are left out."))


def _row(name: str, is_first: bool, task: str, bars: str, speed: float | None,
         wait: float | None) -> str:
    cells: list[Any] = [markup.Markup("") if speed is None else f"{speed:,.0f}",
                        markup.Markup("") if wait is None else f"{100 * wait:.0f} %"]
    return (f'<tr{" class=first" * is_first}><th scope="row">{markup.text(name)}</th>'
            f"<td>{markup.text(task)}</td><td>{bars}</td>"
            + "".join(f'<td class="number">{markup.text(cell)}</td>' for cell in cells) + "</tr>")


def _bars(lives: Sequence[Life], clock: Callable[[float], float], longest: float) -> str:
    bars = task_lives.bars(lives, clock, longest)
    label = "; ".join(task_lives.sentence(life) for life in lives[-3:])
    return f'<div class="life" role="img" aria-label="{markup.text(label)}">{bars}</div>'


def _clock(lives: Mapping[str, Sequence[Life]]) -> Callable[[float], float]:
    """Returns a function of a time that returns the seconds in which a task ran before it."""
    spans: list[list[float]] = []
    for life in sorted((life for found in lives.values() for life in found),
                       key=lambda life: life.start):
        if spans and life.start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], life.end)
        else:
            spans.append([life.start, life.end])
    return lambda at: sum(max(0.0, min(at, end) - start) for start, end in spans)
