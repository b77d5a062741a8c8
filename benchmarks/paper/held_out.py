"""Compares predictions of fitted costs with runs that were left out of the fit.

The computing time of a step is taken from as many independent processes on the same cores; the rest
of a step is predicted.
"""

from __future__ import annotations

import statistics
from typing import Any, Callable

from benchmarks.paper import costs as costs_lib
from benchmarks.paper.costs import Run

_MODES = ("all_reduce", "async_ps", "sync_ps")


def check(measured: dict[str, Any]) -> list[str]:
    """Returns tables of measured and predicted step times; each leaves out other runs.

    Args:
      measured: The content of a scaling.json.
    """
    runs = measured["mlp"] + measured.get("cnn", [])
    lines = _compared("Fitted to 1 and 2 processes, predicts 4", runs,
                      lambda run: run["trainers"] == 4)
    # The costs depend only on a network's size, not on its batch.
    for size in dict.fromkeys(map(_size, runs)):
        cases = ", ".join(dict.fromkeys(run["case"] for run in runs if _size(run) == size))
        lines += _compared(f"Fitted to the other networks, predicts {cases}", runs,
                           lambda run, size=size: _size(run) == size)  # type: ignore[misc]
    return lines


def _size(run: Run) -> tuple[int, int]:
    return run["variables"], run["variable_bytes"]


def _compared(title: str, runs: list[Run], is_left_out: Callable[[Run], bool]) -> list[str]:
    kept = [run for run in runs if not is_left_out(run)]
    # With fewer cores than trainers, a waiting trainer leaves its core to another.
    own = costs_lib.fit_steps([run for run in kept if run["trainers"] == run["cores"]],
                              costs_lib.clock_secs)
    shared = costs_lib.fit_steps(kept, costs_lib.computing_secs)
    compute = costs_lib.compute_secs(runs)
    lines = ["", f"{title}:", "", "| network | mode | processes | step measured, ms | predicted |"
             " error |", "|---|---|---|---|---|---|"]
    errors = []
    places = dict.fromkeys((run["case"], run["mode"], run["trainers"]) for run in runs
                           if is_left_out(run) and run["mode"] in _MODES)
    for case, mode, trainers in places:
        same = [run for run in runs if (run["case"], run["mode"], run["trainers"]) ==
                (case, mode, trainers)]
        processes_a_core = trainers / same[0]["cores"]
        costs = own if processes_a_core == 1 else shared
        found = processes_a_core * statistics.median(map(costs_lib.clock_secs, same))
        predicted = processes_a_core * costs_lib.predicted_secs(
            costs, same[0], compute[case, trainers])
        errors.append(predicted / found - 1.0)
        lines.append(f"| {case} | {mode} | {trainers} | {found * 1e3:.1f} | {predicted * 1e3:.1f} |"
                     f" {errors[-1]:+.0%} |")
    return [*lines, "", f"median error {statistics.median(map(abs, errors)):.0%}, at most"
            f" {max(map(abs, errors)):.0%}"]
