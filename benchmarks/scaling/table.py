"""Shows scaling.json as tables of ratios, and writes the file's text."""

from __future__ import annotations

import json
import math
import statistics
from typing import Any


def text(results: dict[str, Any]) -> str:
    """Returns the tables: medians and ranges of the ratios within one repetition."""
    lines = [f"{results['date']}, {results['machine']}, " + ", ".join(
        f"{name} {version}" for name, version in results["versions"].items())]
    if results["flags"]:
        lines.append("flags: " + " ".join(results["flags"]))
    if any(run["trainers"] > run["cores"] for run in results.get("cnn", [])):
        lines.append("Where there are fewer cores than processes, they share them.")
    for part in ("cnn", "mlp"):
        runs = results.get(part, [])
        for case in dict.fromkeys(run["case"] for run in runs):
            lines += ["", *_speeds([run for run in runs if run["case"] == case])]
    return "\n".join([*lines, *_curves(results.get("curves", [])),
                      *_backup(results.get("backup", []))])


def _speeds(runs: list[dict[str, Any]]) -> list[str]:
    by_place: dict[tuple[str, int], dict[int, float]] = {}
    for run in runs:
        by_place.setdefault((run["mode"], run["trainers"]), {})[run["repeat"]] = run[
            "examples_per_sec"]
    one = by_place["local", 1]
    counts = sorted({trainers for _, trainers in by_place})
    lines = [f"| {runs[0]['case']}, {statistics.median(one.values()):,.0f} examples/s in one"
             f" process | " + " | ".join(f"{n} process{'es' * (n > 1)}" for n in counts) + " |",
             "|---|" + "---|" * len(counts)]
    for mode in dict.fromkeys(mode for mode, _ in by_place if mode != "local"):
        cells = []
        for count in counts:
            speeds = by_place.get((mode, count))
            ratios = [speeds[i] / one[i] for i in speeds] if speeds else []
            cells.append(f"{statistics.median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})"
                         if ratios else "-")
        lines.append(f"| {mode} | " + " | ".join(cells) + " |")
    return lines


def _curves(curves: list[dict[str, Any]]) -> list[str]:
    if not curves:
        return []
    lines = ["", "| global batch | mode | test loss | accuracy | chief's loss differs at most by |",
             "|---|---|---|---|---|"]
    for curve in curves:
        [peer] = [c for c in curves if c["trainers"] == curve["trainers"]
                  and c["mode"] == "all_reduce"]
        ours, theirs = dict(curve["losses"]), dict(peer["losses"])
        apart = max((abs(ours[step] - theirs[step]) for step in ours.keys() & theirs.keys()),
                    default=math.nan)
        shown = f"{apart:.2g}" if curve["mode"] == "sync_ps" else "-"
        lines.append(f"| {curve['global_batch']} | {curve['mode']}, {curve['trainers']} |"
                     f" {curve['test_loss']:.4f} | {curve['accuracy']:.4f} | {shown} |")
    return lines


def _backup(runs: list[dict[str, Any]]) -> list[str]:
    return [""] * bool(runs) + [
        f"a step of {run['gradients']} of {run['workers']} gradients, late by"
        f" {run['late_secs']} s on average: {run['step_secs'] * 1e3:.1f} ms" for run in runs]


def as_json(results: dict[str, Any]) -> str:
    """Returns the text of scaling.json: one run on each line, floats to six digits."""
    parts = []
    for name, value in results.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n".join("  " + json.dumps(_rounded(row)) for row in value)
            parts.append(f'"{name}": [\n{rows}]')
        else:
            parts.append(f'"{name}": {json.dumps(_rounded(value))}')
    return "{" + ",\n".join(parts) + "}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
