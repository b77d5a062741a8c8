"""Writes the table of the programs' answers into the manual.

    python -m tests.oracle.table
"""

from __future__ import annotations

import re

from tests.oracle import make
from tests.support import jobs

MANUAL = jobs.REPO / "docs" / "tf1.md"
HEAD = "| area | cases | the same | different, and why |\n|---|---|---|---|\n"


def rows() -> str:
    """Returns a line for each area, and one for all of them."""
    lines, cases, different = [], 0, 0
    for area in make.areas():
        reasons: dict[str, list[str]] = {}
        expected = dict(make.constant(area, "DIFFERENT"))
        for case, reason in expected.items():
            reasons.setdefault(reason.rstrip("."), []).append(f"`{case}`")
        number = len(make.cases(area))
        cases, different = cases + number, different + len(expected)
        why = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        lines.append(f"| {area} | {number} | {number - len(expected)} | {why} |\n")
    return "".join([*lines, f"| all | {cases} | {cases - different} | |\n"])


def main() -> None:
    """Replaces the table in the manual."""
    text = MANUAL.read_text(encoding="utf-8")
    table = re.compile(re.escape(HEAD) + r"(\|.*\n)*")
    MANUAL.write_text(table.sub(lambda _: HEAD + rows(), text), encoding="utf-8")


if __name__ == "__main__":
    main()
