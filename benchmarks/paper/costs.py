"""Fits the costs of training, other than computing, to the measurements of benchmarks.scaling.

The processes of those measurements share cores, and their messages never leave the machine. So the
costs are CPU times: for copying, for gRPC, for applying gradients. There are two kinds of costs.
Costs in elapsed time, if every trainer has its own core, include the waits of one process for
another. Costs in CPU time do not; they are for cores that run another process during such waits.
"""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any, Callable, Sequence

import numpy as np

Run = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Linear:
    """A cost in core seconds: a fixed part, one for each variable or hop, one for each byte."""

    fixed: float = 0.0
    each: float = 0.0
    byte: float = 0.0

    def secs(self, number: float, size: float) -> float:
        """Returns the seconds for `number` variables or hops and `size` bytes."""
        return self.fixed + number * self.each + size * self.byte


@dataclasses.dataclass(frozen=True)
class Costs:
    """The costs of training.

    Attributes:
      ring: Cost to a trainer of a step with all-reduce: 2 (n - 1) hops and the bytes it sends.
      client: Cost to a trainer of a step with ps: the variables and their bytes.
      server: Cost to a ps of a step of one trainer: the variables on the ps and their bytes.
      sync: Additional cost for each trainer of a synchronous step with ps.
      save: Cost of a checkpoint: its bytes.
      record_secs: Seconds to read one training record.
    """

    ring: Linear = Linear()
    client: Linear = Linear()
    server: Linear = Linear()
    sync: Linear = Linear()
    save: Linear = Linear()
    record_secs: float = 0.0

    def ring_secs(self, trainers: int, size: float) -> float:
        """Returns the cost per trainer of an all-reduce of `size` bytes of gradients."""
        hops = 2 * (trainers - 1)
        return self.ring.secs(hops, hops / trainers * size)


def fit(measured: dict[str, Any]) -> Costs:
    """Fits all costs to a scaling.json."""
    alone = [run for run in measured["mlp"] + measured.get("cnn", [])
             if run["trainers"] == run["cores"]]
    costs = fit_steps(alone, clock_secs)
    [disk] = measured["disk"]
    sizes, secs = np.array(disk["checkpoint"]).T
    fixed, byte = _least_squares(np.stack([np.ones_like(sizes), sizes], axis=1), secs)
    return dataclasses.replace(costs, save=Linear(fixed=fixed, byte=byte),
                               record_secs=disk["record_secs"])


def fit_steps(runs: Sequence[Run], secs_of: Callable[[Run], float]) -> Costs:
    """Fits the costs of a step.

    Args:
      runs: The runs to fit, and runs with as many processes that only compute.
      secs_of: `clock_secs`, or `computing_secs`.
    """
    compute = compute_secs(runs)
    asynchronous = {_place(run): secs_of(run) for run in runs if run["mode"] == "async_ps"}
    rows: dict[str, list[tuple[list[float], float, float]]] = {
        "ring": [], "client": [], "server": [], "sync": []}
    for run in runs:
        if _place(run) not in compute:
            continue
        step, mode = secs_of(run), run["mode"]
        beside = step - compute[_place(run)]
        of_ps = [1.0, run["variables"], run["variable_bytes"]]
        if mode == "all_reduce":
            hops = 2 * (run["trainers"] - 1)
            sent = hops / run["trainers"] * run["variable_bytes"]
            rows["ring"].append(([1.0, hops, sent], beside, step))
        elif mode == "async_ps":
            serving = run["cpu_secs"]["ps"]
            rows["server"].append((of_ps, serving, step))
            rows["client"].append((of_ps, beside - serving, step))
        elif mode == "sync_ps":
            rows["sync"].append((of_ps, step - asynchronous[_place(run)], step))
    return Costs(**{name: Linear(*_fitted(each)) for name, each in rows.items()})


def predicted_secs(costs: Costs, run: Run, compute: float) -> float:
    """Returns the core seconds of a trainer's step in `run`, as predicted by the costs."""
    variables, size = run["variables"], run["variable_bytes"]
    if run["mode"] == "all_reduce":
        return compute + costs.ring_secs(run["trainers"], size)
    parts = [costs.client, costs.server] + [costs.sync] * (run["mode"] == "sync_ps")
    return compute + sum(part.secs(variables, size) for part in parts)


def clock_secs(run: Run) -> float:
    """Returns the seconds between two steps of a trainer, times the number of cores it has.

    Independent and asynchronous trainers each make their own steps; the others make each counted
    step together.
    """
    return run["cores"] * run["batch_size"] / run["examples_per_sec"]


def computing_secs(run: Run) -> float:
    """Returns the CPU seconds of all processes of a run for one trainer's step."""
    counts = {"worker": run["trainers"] - 1, "local": run["trainers"]}
    secs = sum(secs * counts.get(role, 1) for role, secs in run["cpu_secs"].items())
    return secs * run["steps_per_sec"] * run["batch_size"] / run["examples_per_sec"]


def compute_secs(runs: Sequence[Run]) -> dict[tuple[str, int], float]:
    """Returns the median core seconds of a step that only computes, by case and trainers."""
    found: dict[tuple[str, int], list[float]] = {}
    for run in runs:
        if run["mode"] in ("local", "independent"):
            found.setdefault(_place(run), []).append(clock_secs(run))
    return {place: statistics.median(secs) for place, secs in found.items()}


def _place(run: Run) -> tuple[str, int]:
    return run["case"], run["trainers"]


def _fitted(rows: list[tuple[list[float], float, float]]) -> list[float]:
    """Returns the coefficients for rows of (columns, seconds, seconds of the step).

    Errors are relative to the seconds of the step.
    """
    steps = np.array([step for _, _, step in rows])
    return _least_squares(np.array([columns for columns, _, _ in rows]) / steps[:, None],
                          np.array([secs for _, secs, _ in rows]) / steps)


def _least_squares(rows: np.ndarray, targets: np.ndarray) -> list[float]:
    """Returns the coefficients, none below 0, that come nearest to the targets."""
    kept = list(range(rows.shape[1]))
    while kept:
        # Columns of bytes and of ones differ by many orders of magnitude.
        scale = np.abs(rows[:, kept]).max(axis=0)
        scale[scale == 0.0] = 1.0
        found = np.linalg.lstsq(rows[:, kept] / scale, targets, rcond=None)[0] / scale
        if (found >= 0.0).all():
            return [float(found[kept.index(i)]) if i in kept else 0.0
                    for i in range(rows.shape[1])]
        kept.pop(int(np.argmin(found * scale)))
    return [0.0] * rows.shape[1]
