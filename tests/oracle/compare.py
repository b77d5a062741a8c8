"""Compares what two TensorFlows answered.

    python -m tests.oracle.compare NATIVE.json OURS.json    # two outputs of runner.py
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

# Kernels of two versions round differently.
RELATIVE, ABSOLUTE = 1e-4, 1e-5


def differences(right: Any, found: Any, where: str = "") -> list[str]:
    """Returns a sentence for each place in which an answer is not the right one."""
    if "raises" in right or "raises" in found:
        if right.get("raises") == found.get("raises"):
            return []
        return [f"{_end(right)} became {_end(found)}"]
    return (_differences(right["value"], found["value"], "value")
            + _differences(right["variables"], found["variables"], "variables"))


def _end(answer: Any) -> str:
    return (f"{answer['raises']}: {answer['message']}" if "raises" in answer
            else "an answer")


def _differences(right: Any, found: Any, where: str) -> list[str]:
    if isinstance(right, dict) and isinstance(found, dict):
        if set(right) != set(found):
            return [f"{where}: {sorted(right)} became {sorted(found)}"]
        return [each for key in right
                for each in _differences(right[key], found[key], f"{where}.{key}")][:5]
    if isinstance(right, list) and isinstance(found, list):
        if len(right) != len(found):
            return [f"{where}: {len(right)} values became {len(found)}"]
        return [each for index, pair in enumerate(zip(right, found))
                for each in _differences(*pair, f"{where}[{index}]")][:5]
    return [] if _same(right, found) else [f"{where}: {right!r} became {found!r}"]


def _same(right: Any, found: Any) -> bool:
    if isinstance(right, float) and isinstance(found, (int, float)):
        return math.isclose(right, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(right) is type(found) and right == found


def main(native: str, ours: str) -> None:
    """Prints each case that differs, and the counts of each area."""
    with open(native, encoding="utf-8") as file:
        right = json.load(file)["answers"]
    with open(ours, encoding="utf-8") as file:
        found = json.load(file)["answers"]
    for area, cases in right.items():
        wrong = {name: differences(answer, found[area][name])
                 for name, answer in cases.items() if name in found.get(area, {})}
        for name, sentences in wrong.items():
            for sentence in sentences:
                print(f"{area}.{name}: {sentence}"[:400])
        same = sum(not sentences for sentences in wrong.values())
        print(f"{area}: {same} of {len(cases)} the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
