"""Draws results.json: `python -m benchmarks.suite.drawing results.json results.png`.

Each peer has a bar for its speed relative to the first peer's, with a whisker from the smallest to
the largest of the repetitions. Only this module needs matplotlib, so it runs in its own
environment.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import sys
from typing import Any

import matplotlib

from benchmarks.suite import comparison
from benchmarks.suite.agreement import Runs

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  pylint: disable=wrong-import-position

_OURS, _OTHERS = "tab:blue", "silver"


def main() -> None:
    """Draws the figure."""
    source, target = sys.argv[1:]
    results: dict[str, Any] = json.loads(pathlib.Path(source).read_text())
    cases = results["cases"]
    rows = max(len(runs) for runs in cases.values())
    figure, axes = pyplot.subplots(1, len(cases), squeeze=False, layout="constrained",
                                   figsize=(6.5 * len(cases), 1.4 + 0.38 * rows))
    for axis, (case, runs) in zip(axes[0], cases.items()):
        _draw(axis, case, runs)
    figure.supxlabel(f"{results['date']}, {results['machine']}, {results['cores']} cores,"
                     f" {results['repeats']} repetitions", fontsize=8, color="dimgray")
    figure.savefig(target, dpi=150)


def _draw(axis: Any, case: str, runs: Runs) -> None:
    first, [result, *_] = next(iter(runs.items()))
    faster = comparison.ratios(runs, "examples_per_sec")
    relative = {peer: [1.0 / ratio for ratio in ratios] for peer, ratios in faster.items()}
    # The table's medians, inverted: the median of an even number of inverses would differ.
    middles = {peer: 1.0 / statistics.median(ratios) for peer, ratios in faster.items()}
    peers = sorted(middles, key=lambda peer: middles[peer])
    ends = [[middles[peer] - min(relative[peer]) for peer in peers],
            [max(relative[peer]) - middles[peer] for peer in peers]]
    axis.barh(peers, [middles[peer] for peer in peers], xerr=ends, capsize=3, ecolor="dimgray",
              color=[_OURS if peer == first else _OTHERS for peer in peers])
    for row, peer in enumerate(peers):
        speed = statistics.median(report["examples_per_sec"] for report in runs[peer])
        axis.annotate(f"{middles[peer]:.2f}   {speed:,.0f}/s", (max(relative[peer]), row),
                      (6, 0), textcoords="offset points", va="center", fontsize=9,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axis.axvline(1.0, color=_OURS, linewidth=0.8, linestyle=":")
    axis.set_xlim(0, 1.35 * max(max(ratios) for ratios in relative.values()))
    axis.set_title(f"{case}, batch {result['batch_size']}: examples/s, {first} = 1", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
