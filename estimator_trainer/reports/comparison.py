"""The comparison of several runs: which is best, what differs, and how they got there."""

from __future__ import annotations

import time
from typing import Any, Sequence

from estimator_trainer.reports import (compared_evaluations, compared_settings, compared_tasks,
                                       curves, markup, metric_direction, run_summary, task_lives)
from estimator_trainer.reports.run_files import RunFiles
from estimator_trainer.reports.run_summary import Summary

# These metrics are shown first, and named in the sentences at the top.
_MAIN = ("accuracy", "auc", "f1", "rmse", "mae", "average_loss", "loss")
_MOST_NAMED = 4
_BEST = "best"


def section(runs: Sequence[RunFiles], charts: markup.Charts, now: float) -> markup.Markup:
    """Returns the comparison, which precedes the runs' own parts; the runs have names."""
    names = [run.name for run in runs]
    summaries = [run_summary.of_run(run, now) for run in runs]
    different = compared_settings.rows([run.record for run in runs])
    return markup.Markup("".join((
        f"<h1>{markup.text(', '.join(names))}</h1>",
        *(f"<p>{markup.text(each)}</p>" for each in sentences(runs, summaries, different)),
        markup.section("Results", markup.compared(["", *names], _results(runs, summaries)),
                       *map(markup.note, _remarks(runs, summaries))),
        markup.section(
            "Settings that differ", markup.compared(["", *names], different) if different else
            markup.note("The records of these runs have the same plug-ins, params, settings, data"
                        " and versions.")),
        markup.section("Training and evaluation", charts.grid(curves.of_training(runs))),
        compared_evaluations.section(runs),
        compared_tasks.section(runs, now),
        markup.section("Speed", charts.grid(curves.of_speed(runs))))))


def sentences(runs: Sequence[RunFiles], summaries: Sequence[Summary],
              different: Sequence[compared_settings.Row]) -> list[str]:
    """Returns which run is best by the main metrics, and what that run alone has."""
    found: list[str] = []
    named: list[int] = []
    for metric in _ordered(runs, summaries):
        if len(found) < 2 and (best := _best_of(metric, runs, summaries)):
            position, sentence = best
            found.append(sentence)
            named += [position] if position not in named else []
    for position in named:
        own = compared_settings.only_of(position, [
            row for row in different if row[0] != "command" and "sha256" not in row[0]])
        if own:
            shown = ", ".join(f"{name} {value if value is not None else 'not set'}"
                              for name, value in own[:_MOST_NAMED])
            more = f", and {len(own) - _MOST_NAMED} more" if len(own) > _MOST_NAMED else ""
            found.append(f"Only {runs[position].name} has: {shown}{more}.")
    return found


def _best_of(metric: str, runs: Sequence[RunFiles],
             summaries: Sequence[Summary]) -> tuple[int, str] | None:
    """Returns the position of the best run by a metric, and its sentence; None without one."""
    values = [each.best[metric].value if metric in each.best else None for each in summaries]
    marked = _marks(values, _direction(metric, runs))
    if sum(marked) != 1:
        return None
    position = marked.index(True)
    mine = summaries[position].best[metric]
    sign = 1 if _direction(metric, runs) == "min" else -1
    next_best = min((sign * value, i) for i, value in enumerate(values)
                    if value is not None and i != position)[1]
    shown = compared_settings.shown([mine.value, values[next_best]])
    return position, (f"Best {metric}: {shown[0]}, of {summaries[position].name} at step"
                      f" {mine.step:,}. Next: {shown[1]}, of {summaries[next_best].name}.")


def _results(runs: Sequence[RunFiles], summaries: Sequence[Summary]
             ) -> list[tuple[str, Sequence[Any]]]:
    rows: list[tuple[str, Sequence[Any]]] = [
        ("status", [_status(each) for each in summaries]),
        ("began", [_began(each) for each in summaries]),
        ("step", [f"{each.step:,}" for each in summaries])]
    for metric in _ordered(runs, summaries):
        direction = _direction(metric, runs)
        words = f" ({metric_direction.in_words(direction)})" if direction else ""
        rows.append((f"{metric}{words}", _marked(
            [each.last.get(metric) for each in summaries], direction, has_step=False)))
        if direction and any(each.best.get(metric) != each.last.get(metric) for each in summaries):
            rows.append((f"{metric} at its best step", _marked(
                [each.best.get(metric) for each in summaries], direction, has_step=True)))
    rows += [
        ("wall time", [None if each.wall_secs is None else task_lives.duration(each.wall_secs)
                       for each in summaries]),
        ("examples/s, all tasks", [None if each.examples_per_sec is None else
                                   f"{each.examples_per_sec:,.0f}" for each in summaries]),
        ("parameters", [None if each.parameters is None else f"{each.parameters:,}"
                        for each in summaries]),
        ("model_dir", [markup.code(each.model_dir) for each in summaries])]
    return [row for row in rows if any(value is not None for value in row[1])]


def _marked(found: Sequence[run_summary.Measured | None], direction: metric_direction.Direction,
            has_step: bool) -> list[markup.Markup | None]:
    """Returns the values of a metric, the best of them marked by a word."""
    values = [None if each is None else each.value for each in found]
    texts = compared_settings.shown(values)
    cells: list[markup.Markup | None] = []
    for each, text, is_best in zip(found, texts, _marks(values, direction)):
        if each is None:
            cells.append(None)
            continue
        at = markup.Markup(f' <span class="quiet">step {each.step:,}</span>' * has_step)
        mark = f' <b class="best">{_BEST}</b>' if is_best else ""
        cells.append(markup.Markup(f"{markup.text(text)}{mark}{at}"))
    return cells


def _marks(values: Sequence[float | None], direction: metric_direction.Direction) -> list[bool]:
    """Returns whether each value is the best; none is, if all are equal or the best is unknown."""
    known = [value for value in values if value is not None]
    if not direction or len(set(known)) < 2:
        return [False] * len(values)
    best = min(known) if direction == "min" else max(known)
    return [value == best for value in values]


def _direction(metric: str, runs: Sequence[RunFiles]) -> metric_direction.Direction:
    """Returns the better direction of a metric; "" if the runs disagree."""
    found = {metric_direction.of_metric(metric, run.record.settings if run.record else {})
             for run in runs}
    return found.pop() if len(found) == 1 else ""


def _ordered(runs: Sequence[RunFiles], summaries: Sequence[Summary]) -> list[str]:
    """Returns the names of all metrics: --best_metric, the main ones, then the others."""
    chosen = [run.record.settings.get("best_metric") for run in runs if run.record]
    first = [name for name in dict.fromkeys([*chosen, *_MAIN]) if name]
    names = list(dict.fromkeys(name for each in summaries for name in each.last))
    return sorted(names, key=lambda name: (
        first.index(name) if name in first else len(first), names.index(name)))


def _status(summary: Summary) -> markup.Markup:
    word = summary.status.split()[0]
    reason = f' <span class="quiet">{markup.text(summary.reason)}</span>' if summary.reason else ""
    return markup.Markup(f'<span class="status {markup.text(word)}">'
                         f"{markup.text(summary.status)}</span>{reason}")


def _began(summary: Summary) -> str | None:
    if summary.began is None:
        return None
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(summary.began))


def _remarks(runs: Sequence[RunFiles], summaries: Sequence[Summary]) -> list[str]:
    """Returns what a reader of the results has to know."""
    found = []
    sizes = {each.evaluated for each in summaries if each.evaluated}
    if len(sizes) > 1:
        shown = ", ".join(f"{each.name} {each.evaluated:,}" for each in summaries if each.evaluated)
        found.append(f"The runs were evaluated on different numbers of examples ({shown}): their"
                     " metrics are not of the same data.")
    without = [each.name for each in summaries if not each.last]
    if without:
        found.append(f"No evaluation yet: {', '.join(without)}.")
    if missing := [run.name for run in runs if run.record is None]:
        found.append(f"Settings are not known, because record.json is missing or damaged:"
                     f" {', '.join(missing)}.")
    return found
