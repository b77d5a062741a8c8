"""The comparison of several runs: which is best, what differs, and how they got there."""

from __future__ import annotations

import collections
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
    different, of_some = compared_settings.parted(
        compared_settings.rows([run.record for run in runs]))
    return markup.Markup("".join((
        f"<h1>{markup.text(', '.join(names))}</h1>",
        *(f"<p>{markup.text(each)}</p>" for each in sentences(runs, summaries, different)),
        markup.section("Results", markup.compared(["", *names], _results(runs, summaries)),
                       *map(markup.note, _remarks(runs, summaries))),
        markup.section(
            "Settings that differ", markup.compared(["", *names], different) if different else
            markup.note("The records of these runs have the same plug-ins, params, settings, data"
                        " and versions."),
            markup.details(f"{len(of_some)} settings that only some of the runs have",
                           markup.compared(["", *names], of_some) if of_some else "")),
        markup.section("Training and evaluation", charts.grid(curves.of_training(runs))),
        compared_evaluations.section(runs),
        compared_tasks.section(runs, now),
        markup.section("Speed", charts.grid(curves.of_speed(runs))))))


def sentences(runs: Sequence[RunFiles], summaries: Sequence[Summary],
              different: Sequence[compared_settings.Row]) -> list[str]:
    """Returns which run is best by the main metrics, and what that run alone has."""
    found: list[str] = []
    named: list[int] = []
    for metric in ordered(runs, summaries):
        if len(found) < 2 and (best := _best_of(metric, runs, summaries)):
            position, sentence = best
            found.append(sentence)
            named += [position] if position not in named else []
    for position in named:
        own = compared_settings.only_of(position, [
            row for row in different if row[0] != "command" and "sha256" not in row[0]])
        if own:
            shown = ", ".join(f"{name} {value}" for name, value in own[:_MOST_NAMED])
            more = f", and {len(own) - _MOST_NAMED} more" if len(own) > _MOST_NAMED else ""
            found.append(f"What differs in {runs[position].name} alone: {shown}{more}.")
    return found


def comparable(runs: Sequence[RunFiles], summaries: Sequence[Summary]) -> list[bool]:
    """Returns whether each run was evaluated on the data of most runs; others are not ranked."""
    found = [(run.record.plugins.get("input_fn", {}).get("name") if run.record else None,
              summary.evaluated) for run, summary in zip(runs, summaries)]
    counts = collections.Counter(each for each, summary in zip(found, summaries) if summary.last)
    most = counts.most_common(1)[0][0] if counts else None
    return [each == most or not summary.evaluated for each, summary in zip(found, summaries)]


def _best_of(metric: str, runs: Sequence[RunFiles],
             summaries: Sequence[Summary]) -> tuple[int, str] | None:
    """Returns the position of the best run by a metric, and its sentence; None without one."""
    ranked = comparable(runs, summaries)
    values = [each.best[metric].value if metric in each.best and is_ranked else None
              for each, is_ranked in zip(summaries, ranked)]
    marked = _marks(values, better_of(metric, runs))
    if sum(marked) != 1:
        return None
    position = marked.index(True)
    mine = summaries[position].best[metric]
    sign = 1 if better_of(metric, runs) == "min" else -1
    next_best = min((sign * value, i) for i, value in enumerate(values)
                    if value is not None and i != position)[1]
    shown = compared_settings.shown([mine.value, values[next_best]])
    return position, (f"Best {metric}: {shown[0]}, of {summaries[position].name} at step"
                      f" {mine.step:,}. Next: {shown[1]}, of {summaries[next_best].name}.")


def _results(runs: Sequence[RunFiles], summaries: Sequence[Summary]
             ) -> list[tuple[str, Sequence[Any]]]:
    ranked = comparable(runs, summaries)
    rows: list[tuple[str, Sequence[Any]]] = [
        ("status", [status(each) for each in summaries]),
        ("began", [_began(each) for each in summaries]),
        ("step", [f"{each.step:,}" for each in summaries])]
    for metric in ordered(runs, summaries):
        direction = better_of(metric, runs)
        words = f" ({metric_direction.in_words(direction)})" if direction else ""
        rows.append((f"{metric}{words}", marked(
            [each.last.get(metric) for each in summaries], direction, ranked)))
        if direction and any(each.best.get(metric) != each.last.get(metric) for each in summaries):
            rows.append((f"{metric} at its best step", marked(
                [each.best.get(metric) for each in summaries], direction, ranked, has_step=True)))
    rows += [
        ("wall time", [None if each.wall_secs is None else task_lives.duration(each.wall_secs)
                       for each in summaries]),
        ("examples/s, all tasks", [None if each.examples_per_sec is None else
                                   f"{each.examples_per_sec:,.0f}" for each in summaries]),
        ("parameters", [None if each.parameters is None else f"{each.parameters:,}"
                        for each in summaries]),
        ("model_dir", [markup.code(each.model_dir) for each in summaries])]
    return [row for row in rows if any(value is not None for value in row[1])]


def marked(found: Sequence[run_summary.Measured | None], direction: metric_direction.Direction,
           ranked: Sequence[bool], has_step: bool = False) -> list[markup.Markup | None]:
    """Returns the values of a metric, the best of those that are ranked marked by a word."""
    values = [None if each is None else each.value for each in found]
    texts = compared_settings.shown(values)
    cells: list[markup.Markup | None] = []
    marks = _marks([value if is_ranked else None for value, is_ranked in zip(values, ranked)],
                   direction)
    for each, text, is_best in zip(found, texts, marks):
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


def better_of(metric: str, runs: Sequence[RunFiles]) -> metric_direction.Direction:
    """Returns the better direction of a metric; "" if the runs disagree."""
    found = {metric_direction.of_metric(metric, run.record.settings if run.record else {})
             for run in runs}
    return found.pop() if len(found) == 1 else ""


def ordered(runs: Sequence[RunFiles], summaries: Sequence[Summary]) -> list[str]:
    """Returns the names of all metrics: --best_metric, the main ones, then the others."""
    chosen = [run.record.settings.get("best_metric") for run in runs if run.record]
    first = [name for name in dict.fromkeys([*chosen, *_MAIN]) if name]
    names = list(dict.fromkeys(name for each in summaries for name in each.last))
    return sorted(names, key=lambda name: (
        first.index(name) if name in first else len(first), names.index(name)))


def status(summary: Summary) -> markup.Markup:
    """Returns the status of a run and its reason."""
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
    others = [f"{each.name} ({each.evaluated:,} examples)" for each, is_ranked in zip(
        summaries, comparable(runs, summaries)) if not is_ranked]
    if others:
        found.append("Evaluated on other data than most runs, and therefore not ranked:"
                     f" {', '.join(others)}.")
    without = [each.name for each in summaries if not each.last]
    if without:
        found.append(f"No evaluation yet: {', '.join(without)}.")
    if missing := [run.name for run in runs if run.record is None]:
        found.append(f"Settings are not known, because record.json is missing or damaged:"
                     f" {', '.join(missing)}.")
    return found
