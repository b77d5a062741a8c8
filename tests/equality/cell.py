"""A cell of the table: one program in one shape, run plainly and in each of our ways."""

from __future__ import annotations

import pathlib

from tests.equality import comparison, shapes, table
from tests.equality.shapes import Ran

CELLS = [(name, shape) for shape in shapes.SHAPES for name, program in table.PROGRAMS.items()
         if shape in program.shapes]


def differences(name: str, shape: str, folder: pathlib.Path) -> list[str]:
    """Runs a cell, and returns what differs, a line each; none if all ways mean the same.

    Args:
      name: The program's name.
      shape: The shape's name.
      folder: A folder for all that the runs write.
    """
    program, chosen = table.PROGRAMS[name], shapes.SHAPES[shape]
    plain = shapes.plain(name, shape, folder / "plain")
    if None in plain.codes.values():
        return [f"plain does not end: {plain.codes}", *_logs("plain", plain)]
    if plain.is_good == (shape in program.plain_fails):
        return [f"plain {'ends well' if plain.is_good else 'fails'}", *_logs("plain", plain)]
    ran = shapes.by_run(name, shape, folder / "run")
    if not plain.is_good:
        # None is a task that was killed, since it did not end.
        is_right = ran.is_good if shape in program.ours_trains else (
            not ran.is_good and None not in ran.codes.values())
        return [] if is_right else [f"plain fails, run ends so: {ran.codes}", *_logs("run", ran)]
    found = _found("run", ran, comparison.differences(plain, ran, chosen))
    if program.is_plugin:
        ran = shapes.as_plugin(name, program, shape, folder / "plugin")
        found += _found("plug-in", ran, comparison.differences(
            plain, ran, chosen, is_plugin=True))
    return found


def _found(way: str, ran: Ran, lines: list[str]) -> list[str]:
    """Returns the lines with the way in front, and what the tasks printed if they failed."""
    found = [f"{way}: {line}" for line in lines]
    return [*found, *_logs(way, ran)] if found and not ran.is_good else found


def _logs(way: str, ran: Ran) -> list[str]:
    return [f"--- {way} {task}\n{log[-1500:]}" for task, log in ran.logs.items()]
