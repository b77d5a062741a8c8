"""Simulates how long a step waits for its slowest workers, and the best number of backups.

    python -m benchmarks.paper.stragglers [--measured=benchmarks/scaling/scaling.json]
        [--tail_probability=0.01]

Each worker's step time is drawn from a log-normal distribution; some steps have a Pareto tail. With
b backup workers among n, a step takes the first n - b gradients, after Chen et al., "Revisiting
Distributed Synchronous SGD", 2016, arXiv:1604.00981. Throughput is the number of gradients
used per second, which does not include the effect of fewer gradients per step on convergence.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import heapq
import json
import math
import pathlib
from typing import Any, Callable

import numpy as np

from benchmarks import paper

WORKERS = (8, 16, 32, 64, 128, 256, 512, 1024)
_DRAWS = 2_000_000
_TOKEN_STEPS = 200
# A step that is this many sigmas above the median belongs to the tail.
_TAIL_SIGMAS = 3.0
_NORMAL_TAIL = 0.00135


@dataclasses.dataclass(frozen=True)
class StepTimes:
    """The step times of one worker: median x log-normal, and for some a Pareto factor.

    Attributes:
      sigma: Standard deviation of the logarithm of a step time.
      tail_probability: Share of the steps that a factor prolongs.
      tail_shape: Shape of the factor's Pareto distribution: P(factor > x) = (x / least) ** -shape.
      tail_least: The least factor.
    """

    sigma: float
    tail_probability: float = 0.0
    tail_shape: float = 2.0
    tail_least: float = 1.0

    def draw(self, dice: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Returns step times in units of the median, float64 of the given shape."""
        times = np.exp(self.sigma * dice.standard_normal(shape))
        is_late = dice.random(shape) < self.tail_probability
        factor = self.tail_least * (1.0 + dice.pareto(self.tail_shape, shape))
        return np.where(is_late, times * factor, times)


def fit(step_secs: np.ndarray) -> StepTimes:
    """Fits the distribution to one worker's measured step times, float [steps].

    Sigma comes from the 16th and 84th percentile, which a tail does not affect. The tail is the
    share of steps beyond three sigmas, less a log-normal distribution's; its shape is Hill's
    estimate.
    """
    low, median, high = np.quantile(step_secs, [0.159, 0.5, 0.841])
    sigma = math.log(high / low) / 2
    start = median * math.exp(_TAIL_SIGMAS * sigma)
    late = step_secs[step_secs > start]
    share = len(late) / len(step_secs) - _NORMAL_TAIL
    if share <= 0.0:
        return StepTimes(sigma)
    # The mean of the factor exists only for a shape above 1.
    shape = max(1.05, 1.0 / float(np.mean(np.log(late / start))))
    return StepTimes(sigma, share, shape, float(start / median))


def expected_waits(draws: np.ndarray) -> np.ndarray:
    """Returns how long a step waits for its first 1, 2, ... n gradients.

    Args:
      draws: Step times, float [steps, workers].

    Returns:
      The means of the order statistics, float [workers], in the unit of `draws`.
    """
    return np.sort(draws, axis=1).mean(axis=0)


def best_backup(waits: np.ndarray, step_overhead: float = 0.0) -> int:
    """Returns the number of backup workers with the most gradients used per second.

    Args:
      waits: The waits that `expected_waits` returns.
      step_overhead: Additional time of a step, in the same unit.
    """
    used = np.arange(1, len(waits) + 1) / (waits + step_overhead)
    return len(waits) - 1 - int(np.argmax(used))


def token_step(draw: Callable[[int], float], workers: int, gradients: int,
               steps: int = _TOKEN_STEPS) -> float:
    """Returns the mean time of a step with TensorFlow's SyncReplicasOptimizer.

    A late worker ends its batch, and its gradient is dropped if it belongs to an older step. Each
    completed step puts one token for each worker into a queue, first in first out. A worker's next
    gradient belongs to the step of the token that it takes, so tokens left by late workers make
    others compute gradients that are dropped.

    Args:
      draw: A function that returns the time of a batch of the worker with the given number.
      workers: Number of workers.
      gradients: Number of gradients that complete a step.
      steps: Number of steps to simulate.
    """
    busy = [(draw(worker), worker, 0) for worker in range(workers)]
    heapq.heapify(busy)
    tokens: collections.deque[int] = collections.deque()
    idle: list[int] = []
    step, taken, now = 0, 0, 0.0
    while step < steps:
        now, worker, stamp = heapq.heappop(busy)
        taken += stamp == step
        idle.append(worker)
        if taken == gradients:
            step, taken = step + 1, 0
            tokens.extend([step] * workers)
        while tokens and idle:
            worker = idle.pop(0)
            heapq.heappush(busy, (now + draw(worker), worker, tokens.popleft()))
    return now / steps


def table(times: StepTimes, step_overhead: float = 0.0, seed: int = 0) -> list[str]:
    """Returns a table's lines: the best number of backup workers for each number of workers."""
    dice = np.random.default_rng(seed)
    lines = ["| workers | wait for all | of linear | best backup | of linear | gain |"
             " gain with TensorFlow's tokens |", "|---|---|---|---|---|---|---|"]
    for workers in WORKERS:
        draws = times.draw(dice, (max(_DRAWS // workers, 1000), workers))
        waits = expected_waits(draws)
        backup = best_backup(waits, step_overhead)
        alone = float(draws.mean()) + step_overhead
        full = alone / (waits[-1] + step_overhead)
        best = (workers - backup) / workers * alone / (waits[-backup - 1] + step_overhead)
        pool = iter(draws.ravel())
        token = token_step(lambda _, pool=pool: next(pool), workers,  # type: ignore[misc]
                           workers - backup, min(_TOKEN_STEPS, _DRAWS // workers // 4))
        with_tokens = (workers - backup) / workers * alone / (token + step_overhead)
        lines.append(f"| {workers} | {waits[-1]:.2f} | {full:.0%} | {backup} | {best:.0%} |"
                     f" {best / full:.2f}x | {with_tokens / full:.2f}x |")
    return lines


def beside_measured(runs: list[dict[str, Any]], seed: int = 0) -> list[str]:
    """Returns a table that compares measured steps of randomly late workers with two simulations.

    Args:
      runs: The runs of part "backup" of a scaling.json: `workers`, `gradients`, `late_secs`, the
        mean of the exponential distribution of a worker's lateness, and `step_secs`. In one of
        them no worker is late.
      seed: Seed of the simulations.
    """
    [base] = [run["step_secs"] for run in runs if not run["late_secs"]]
    dice = np.random.default_rng(seed)
    lines = ["| gradients of workers | step measured, ms | order statistics | error |"
             " TensorFlow's tokens | error |", "|---|---|---|---|---|---|"]
    for run in runs:
        if not run["late_secs"]:
            continue
        late = dice.exponential(run["late_secs"], (100_000, run["workers"]))
        ideal = base + expected_waits(late)[run["gradients"] - 1]
        tokens = token_step(lambda _, late=run["late_secs"]: base + dice.exponential(late),
                            run["workers"], run["gradients"], 20_000)
        found = run["step_secs"]
        lines.append(f"| {run['gradients']} of {run['workers']} | {found * 1e3:.1f} |"
                     f" {ideal * 1e3:.1f} | {ideal / found - 1:+.0%} | {tokens * 1e3:.1f} |"
                     f" {tokens / found - 1:+.0%} |")
    return lines


def main() -> None:
    """Prints the table for the measured step times and for a stated tail."""
    parser = argparse.ArgumentParser("python -m benchmarks.paper.stragglers",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--measured", default=str(paper.MEASURED),
                        help="file of benchmarks.scaling")
    parser.add_argument("--sigma", type=float, help="default: as measured")
    parser.add_argument("--tail_probability", type=float, default=0.01)
    parser.add_argument("--tail_shape", type=float, default=1.5)
    parser.add_argument("--step_overhead", type=float, default=0.0, help="in median step times")
    options = parser.parse_args()
    results = json.loads(pathlib.Path(options.measured).read_text())
    print("\n".join(beside_measured(results["backup"])))
    measured = fit(np.array(results["disk"][0]["step_secs"]))
    stated = StepTimes(measured.sigma if options.sigma is None else options.sigma,
                       options.tail_probability, options.tail_shape)
    for name, times in (("as measured", measured), ("with the stated tail", stated)):
        print(f"\nStep times {name}: {times}; in median step times\n")
        print("\n".join(table(times, options.step_overhead)))


if __name__ == "__main__":
    main()
