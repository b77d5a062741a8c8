"""The comparison of several runs."""

import json
from typing import Any, Sequence

from estimator_trainer.reports import charts as charts_lib, markup
from estimator_trainer.reports.run_files import RunFiles


def names(runs: Sequence[RunFiles]) -> list[str]:
    """Returns a name for each run: the last part of its directory, or the whole path."""
    short = [run.name for run in runs]
    return short if len(set(short)) == len(short) else [run.model_dir for run in runs]


def section(runs: Sequence[RunFiles], charts: markup.Charts) -> markup.Markup:
    """Returns the comparison, which precedes the runs' own parts."""
    shown = names(runs)
    different = _rows([_settings(run) for run in runs], only_different=True)
    return markup.Markup("".join((
        f"<h1>{markup.text(', '.join(shown))}</h1>",
        markup.section("What came of them", markup.table(
            ["", *shown], _rows([_results(run) for run in runs], only_different=False))),
        markup.section("What differs", markup.table(["", *shown], different) if different else
                       markup.note("The records of these runs name the same plug-ins, params,"
                                   " settings and versions.")),
        markup.section("Training and evaluation", charts.grid(charts_lib.of_training(runs))),
        markup.section("Speed", charts.grid(charts_lib.of_speed(runs))))))


def _results(run: RunFiles) -> dict[str, Any]:
    found: dict[str, Any] = {"model_dir": run.model_dir}
    models, lines = run.of_kind("model"), run.of_kind("train")
    if run.result:
        found |= {"status": run.result.status, "step": run.result.step, "reason": run.result.reason,
                  **{name: value for name, value in run.result.metrics.items()
                     if name != "global_step"}}
    elif run.evaluations:
        found |= run.evaluations[-1]
    if models:
        found["parameters"] = models[-1]["parameters"]
    speeds = [line["examples_per_sec"] for line in lines if line.get("examples_per_sec")]
    if speeds:
        found["examples/s, median of a task"] = sorted(speeds)[len(speeds) // 2]
    return found


def _settings(run: RunFiles) -> dict[str, Any]:
    record = run.record
    if record is None:
        return {}
    cluster = record.runs[-1].get("cluster", {}) if record.runs else {}
    return {
        **{kind: entry.get("name") for kind, entry in record.plugins.items()},
        **{f"param {name}": value for name, value in {**record.params,
                                                      **record.unrecorded}.items()},
        **{f"--{name}": value for name, value in record.settings.items()},
        **{f"data: {name}": value for name, value in record.data.items()},
        **{f"version of {name}": value for name, value in record.versions.items()},
        "tasks": ", ".join(f"{count} {role}" for role, count in cluster.items()) or "one process"}


def _rows(of_runs: Sequence[dict[str, Any]], only_different: bool) -> list[list[Any]]:
    keys = list(dict.fromkeys(key for each in of_runs for key in each))
    rows = []
    for key in keys:
        values = [each.get(key) for each in of_runs]
        if not only_different or len({json.dumps(value) for value in values}) > 1:
            rows.append([key, *values])
    return rows
