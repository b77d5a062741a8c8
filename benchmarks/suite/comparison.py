"""Compares the first peer with the others: ratios within one repetition, and the targets."""

from __future__ import annotations

import dataclasses
import statistics

from benchmarks.suite.agreement import Runs


@dataclasses.dataclass(frozen=True)
class Target:
    """A ratio to reach, of the trainer's number to a peer's.

    Attributes:
      case: The name of the work.
      peer: The name of the peer to compare with.
      ratio: The smallest ratio for speed, the largest for memory.
      field: The compared field of a peer's report.
    """

    case: str
    peer: str
    ratio: float
    field: str = "examples_per_sec"

    def is_met(self, measured: float) -> bool:
        """Returns whether a measured ratio is good enough."""
        if self.field == "peak_rss_mb":
            return measured <= self.ratio
        return measured >= self.ratio

    def __str__(self) -> str:
        if self.field == "peak_rss_mb":
            return f"{self.case}: at most {self.ratio:.2f}x the memory of {self.peer}"
        return f"{self.case}: at least {self.ratio:.2f}x {self.peer}"


TARGETS = [
    Target("cnn", "estimator_script", 1.4),
    Target("cnn", "keras2_fit", 1.2),
    Target("cnn", "keras3_fit", 1.2),
    Target("cnn", "torch_loop", 1.35),
    Target("cnn", "raw_loop", 0.97),
    Target("sigmoid", "keras2_fit", 1.75),
    Target("sigmoid", "keras3_fit", 1.75),
    Target("sigmoid", "torch_loop", 1.05),
    Target("sigmoid", "lightning_fit", 1.05),
    Target("sigmoid", "raw_loop", 0.97),
    Target("cnn", "estimator_tuned", 1.1, "peak_rss_mb"),
    Target("sigmoid", "estimator_tuned", 1.1, "peak_rss_mb"),
]


def ratios(runs: Runs, field: str) -> dict[str, list[float]]:
    """Returns, by peer, the first peer's number divided by its own, for each repetition."""
    first = next(iter(runs.values()))
    return {peer: [own[field] / other[field] for own, other in zip(first, results)]
            for peer, results in runs.items()}


def verdicts(cases: dict[str, Runs]) -> list[tuple[Target, float]]:
    """Returns the measured targets, each with the median of its ratios.

    Args:
      cases: The runs by work; only runs whose first peer is the trainer have targets.
    """
    return [(target, statistics.median(ratios(cases[target.case], target.field)[target.peer]))
            for target in TARGETS
            if target.peer in cases.get(target.case, {}) and "trainer" == next(iter(
                cases[target.case]))]
