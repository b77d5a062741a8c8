"""The evaluated examples of several runs beside each other: figures, classes, columns."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from estimator_trainer.reports import markup
from estimator_trainer.reports.run_files import RunFiles

_MOST_CLASSES = 30


def section(runs: Sequence[RunFiles]) -> markup.Markup:
    """Returns the section on the final evaluations; empty if fewer than two runs have one."""
    found = [(run.name, run.judgement) for run in runs if run.judgement]
    if len(found) < 2:
        return markup.Markup("")
    names = [name for name, _ in found]
    contents = [content for _, content in found]
    return markup.section("The evaluated examples", _figures(names, contents),
                          _classes(names, contents))


def _figures(names: Sequence[str], contents: Sequence[Mapping[str, Any]]) -> markup.Markup:
    rows: list[tuple[str, list[Any]]] = [
        ("step", [f"{each['step']:,}" for each in contents]),
        ("examples", [f"{each['examples']:,}" for each in contents]),
        ("expected calibration error (lower is better)", [
            each["calibration"]["expected_error"] if "calibration" in each else None
            for each in contents])]
    return markup.compared(["", *names], [row for row in rows if any(
        value is not None for value in row[1])])


def _classes(names: Sequence[str], contents: Sequence[Mapping[str, Any]]) -> markup.Markup:
    """Returns recall of each class in each run; the classes with the largest differences first."""
    recalls = [{each["name"]: each["recall"] for each in content.get("per_class", ())}
               for content in contents]
    rows = []
    for name in dict.fromkeys(name for each in recalls for name in each):
        values = [each.get(name) for each in recalls]
        known = [value for value in values if value is not None]
        if len(known) > 1:
            rows.append((max(known) - min(known), name, values))
    rows.sort(key=lambda row: -row[0])
    if not rows:
        return markup.Markup("")
    shown = [(name, [*values, gap]) for gap, name, values in rows[:_MOST_CLASSES]]
    cut = f" ({_MOST_CLASSES} of {len(rows)})" if len(rows) > _MOST_CLASSES else ""
    return markup.Markup(f"<h3>recall of each class, the largest difference first{cut}</h3>" + str(
        markup.compared(["class", *names, "difference"], shown)))
