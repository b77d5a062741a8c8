"""Checks whether peers did the same work: equal sizes, and losses as close as with other seeds."""

from __future__ import annotations

import statistics
from typing import Any

# The reports of all repetitions, by peer.
Runs = dict[str, list[dict[str, Any]]]

SAME = {"parameters": "trainable parameters", "batch_size": "examples a step",
        "dtype": "as precision", "threads": "threads"}
# A share of the median of all losses. Eight seeds of raw_loop, 2,000 steps, had a standard
# deviation of 1.3% (cnn) and 2.0% (sigmoid), the farthest was 3.3% from their median, and another
# order of the input adds up to 3%. Other initial kernels (Glorot's for the sigmoids) make 15%.
LOSS_TOLERANCE = 0.1


def problem(runs: Runs) -> str:
    """Returns why the peers' speeds cannot be compared, as one sentence; "" if they can."""
    reports = [(peer, report) for peer, reports in runs.items() for report in reports]
    first, expected = reports[0]
    for field, name in SAME.items():
        for peer, report in reports:
            if report[field] != expected[field]:
                return (f"no comparison: {peer} has {report[field]} {name}, {first} has"
                        f" {expected[field]}")
    middle = statistics.median(report["loss"] for _, report in reports)
    for peer, report in reports:
        # Unlike its opposite, this condition finds a NaN too.
        if not abs(report["loss"] - middle) <= LOSS_TOLERANCE * middle:
            return (f"no comparison: {peer} ended with a loss of {report['loss']:.4g}, more than"
                    f" {LOSS_TOLERANCE:.0%} from {middle:.4g}, the median of all peers")
    return ""
