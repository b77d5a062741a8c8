"""Runs cells of the table, and prints what differs: python -m tests.equality PROGRAM-SHAPE ...

A word without shape takes every shape, `-SHAPE` every program.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
import time

from estimator_trainer import tensorflow_import

SEPARATOR = "-"


def _chosen(words: list[str], cells: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, shape) for name, shape in cells
            if {f"{name}{SEPARATOR}{shape}", name, f"{SEPARATOR}{shape}"} & set(words)]


def main() -> None:
    """Runs the cells that the command line names."""
    tensorflow_import.load(is_verbose=False)
    from tests.equality import cell
    from tests.support import jobs
    for name, shape in _chosen(sys.argv[1:], cell.CELLS):
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"{name}-{shape}-") as folder:
            found = cell.differences(name, shape, pathlib.Path(folder))
        jobs.release_ports()
        seconds = time.monotonic() - start
        lines = [f"{'DIFFERS' if found else 'same'} {name}-{shape} {seconds:.0f} s", *found]
        print("\n".join(lines).replace("\n", "\n    "), flush=True)
    jobs.end_fork_server()


if __name__ == "__main__":
    main()
