"""The part of docs/compatibility.md that is made from results.json."""

from __future__ import annotations

import pathlib
from typing import Any

from benchmarks.published.catalog import PROGRAMS

_MARK = "<!-- What follows is made by `python -m benchmarks.published`. -->\n"
# The title shows that the block cannot run everywhere.
_FENCE = '```sh title="Needs the programs and their packages"'


def line(name: str, outcome: dict[str, Any]) -> str:
    """Returns a program's outcome as a line for the terminal."""
    return f"{name}: {_result(outcome)}"


def write(path: pathlib.Path, found: dict[str, Any]) -> None:
    """Replaces the text after the mark in the page."""
    head, _, _ = path.read_text().partition(_MARK)
    path.write_text(head + _MARK + text(found))


def agrees(path: pathlib.Path, found: dict[str, Any]) -> bool:
    """Returns whether `write` would leave the page unchanged."""
    return path.read_text().endswith(_MARK + text(found))


def runs(outcome: dict[str, Any]) -> bool:
    """Returns whether the program trained and all its commands succeeded."""
    return "trains" in outcome["does"] and not outcome["cause"]


def text(found: dict[str, Any]) -> str:
    """Returns the tables and the commands as markdown."""
    tensorflows = sorted(found["tensorflow"], key=lambda name: [*map(int, name.split("."))])
    order = [program.name for program in PROGRAMS]
    programs = {name: found["programs"][name] for name in order if name in found["programs"]}
    lines = ["", "| | " + " | ".join(f"TensorFlow {name}" for name in tensorflows) + " |",
             "|---|" + "---|" * len(tensorflows)]
    for verb, holds in (("run", runs), ("do not", lambda outcome: not runs(outcome))):
        counts = [sum(holds(entry["results"][name]) for entry in programs.values()
                      if name in entry["results"]) for name in tensorflows]
        lines.append(f"| programs that {verb} | " + " | ".join(map(str, counts)) + " |")
    lines += ["", "| program | version | also needs | "
              + " | ".join(f"on {name}" for name in tensorflows) + " |",
              "|---|---|---|" + "---|" * len(tensorflows)]
    for name, entry in programs.items():
        cells = [_cell(entry, tensorflow) for tensorflow in tensorflows]
        lines.append(f"| {name} | {_version(entry)} | {', '.join(entry['needs'])} | "
                     + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *_commands(programs), _origin(found, tensorflows), ""])


def _version(entry: dict[str, Any]) -> str:
    if entry["commit"]:
        link = f"https://github.com/{entry['source']}/tree/{entry['commit']}"
        return f"[{entry['source']} {entry['commit'][:7]}]({link})"
    versions = {result["packages"].get(entry["source"]) for result in entry["results"].values()}
    return f"PyPI: {entry['source']} {', '.join(sorted(filter(None, versions)))}"


def _cell(entry: dict[str, Any], tensorflow: str) -> str:
    if tensorflow not in entry["results"]:
        return "not tried"
    return _result(entry["results"][tensorflow]).replace("|", "\\|")


def _result(outcome: dict[str, Any]) -> str:
    done = ", ".join(outcome["does"])
    if done:
        done += f" (step {outcome['step']}" + (
            f", {outcome['metric']})" if outcome["metric"] else ")")
    if not outcome["cause"]:
        return done
    return f"**fails**: `{outcome['cause'].replace('`', chr(39))}`" + (
        f"; before it {done}" if done else "")


def _commands(programs: dict[str, Any]) -> list[str]:
    lines = ["## Commands", "", "DATA is the folder of tiny data, OUT an empty one, DRIVERS is"
             " [benchmarks/published/drivers](../benchmarks/published/drivers).", "", _FENCE]
    for name, entry in programs.items():
        place = {".": "", "..": ", beside the checkout"}.get(
            entry["folder"], f", in {entry['folder']}")
        lines += ["# " + ", ".join([f"{name}{place}", *entry["places"]]), *entry["commands"]]
    return [*lines, "```", ""]


def _origin(found: dict[str, Any], tensorflows: list[str]) -> str:
    return "Taken with " + "; ".join(
        ", ".join(f"{package} {version}" for package, version in found["tensorflow"][name].items())
        for name in tensorflows) + "."
