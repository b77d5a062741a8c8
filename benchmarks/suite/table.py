"""Shows results.json as markdown: a table for each case, the targets, the machine."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.suite import comparison
from benchmarks.suite.agreement import LOSS_TOLERANCE, Runs


def text(results: dict[str, Any]) -> str:
    """Returns the markdown of `results`, the content of results.json."""
    lines = []
    for case, runs in results["cases"].items():
        lines += [*_case(case, runs), ""]
    return "\n".join([*lines, *_targets(results["cases"]), _origin(results)])


def _case(case: str, runs: Runs) -> list[str]:
    first, [result, *_] = next(iter(runs.items()))
    speed = comparison.ratios(runs, "examples_per_sec")
    memory = comparison.ratios(runs, "peak_rss_mb")
    lines = [f"| {case}, batch {result['batch_size']} | examples/s | {first} is faster by"
             f" | min-max | parameters | loss | peak MB | {first} takes |",
             "|---|---|---|---|---|---|---|---|"]
    for peer, reports in runs.items():
        middle = {field: statistics.median(report[field] for report in reports)
                  for field in ("examples_per_sec", "loss", "peak_rss_mb")}
        lines.append(
            f"| {peer} | {middle['examples_per_sec']:,.0f} | {statistics.median(speed[peer]):.2f}x"
            f" | {min(speed[peer]):.2f}-{max(speed[peer]):.2f} | {reports[0]['parameters']:,}"
            f" | {middle['loss']:.3f} | {middle['peak_rss_mb']:,.0f}"
            f" | {statistics.median(memory[peer]):.2f}x |")
    return lines


def _targets(cases: dict[str, Runs]) -> list[str]:
    verdicts = comparison.verdicts(cases)
    if not verdicts:
        return []
    return ["| target for the trainer | measured | met |", "|---|---|---|",
            *(f"| {target} | {measured:.2f}x | {'yes' if target.is_met(measured) else 'no'} |"
              for target, measured in verdicts), ""]


def _origin(results: dict[str, Any]) -> str:
    environments = "; ".join(
        f"{kind}: " + ", ".join(f"{name} {version}" for name, version in versions.items())
        for kind, versions in results["versions"].items())
    [threads] = {report["threads"] for runs in results["cases"].values()
                 for reports in runs.values() for report in reports}
    return (f"{results['date']}, estimator_trainer {results['commit']}, {results['machine']},"
            f" {results['cores']} cores, {threads} threads; {environments}. Medians of"
            f" {results['repeats']} repetitions in turn, {results['steps']:,} steps each; losses"
            f" are of the steps after those, and agree to {LOSS_TOLERANCE:.0%}.\n")
