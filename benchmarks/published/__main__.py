"""Runs published Estimator programs, unchanged, with tiny data made here.

    python -m benchmarks.published --checkouts=FOLDER [--only=NAME] [--python=OTHER_PYTHON]
        [--write=docs/compatibility.md]

FOLDER has each program's checkout in OWNER+NAME, and its commit in the file OWNER+NAME.commit;
nothing is downloaded. OTHER_PYTHON, which needs the programs' packages, runs them with its
TensorFlow. With --write, the results join those of other TensorFlows in results.json, and the table
of the page is replaced.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

import benchmarks
from benchmarks.published import attempt, checkout, page, results
from benchmarks.published.catalog import PROGRAMS


def main() -> None:
    """Runs the programs, prints their outcomes, and writes the page if --write is set."""
    options = _options()
    folders = {"checkouts": options.checkouts.resolve(), "work": options.work.resolve(),
               "data": options.work.resolve() / "data"}
    programs = [program for program in PROGRAMS if options.only.lower() in program.name.lower()]
    if not programs:
        sys.exit(f"--only is {options.only!r}; expected a part of a name, one of "
                 + ", ".join(program.name for program in PROGRAMS))
    if missing := [problem for program in programs
                   if (problem := checkout.problem(program, folders["checkouts"]))]:
        sys.exit("\n".join(dict.fromkeys(missing)))
    _make_data(options.python, folders["data"])
    machine = results.versions(options.python)
    for program in programs:
        outcome = attempt.run(program, options.python, folders)
        print(page.line(program.name, outcome), flush=True)
        if options.write:
            # Read again: another run may have written the results of another TensorFlow.
            found = results.read()
            results.add(found, program, outcome, machine, folders["checkouts"])
            results.write(found)
            page.write(options.write, found)


def _make_data(python: str, folder: pathlib.Path) -> None:
    made = subprocess.run([python, "-m", "benchmarks.published.tiny_data", folder],
                          cwd=benchmarks.REPO, capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(f"the tiny data could not be made:\n{made.stderr[-2000:]}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.published",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--checkouts", type=pathlib.Path, required=True,
                        help="folder of checkouts, each OWNER+NAME")
    parser.add_argument("--only", default="", help="a part of the names of the programs to run")
    parser.add_argument("--python", default=sys.executable,
                        help="the interpreter that runs them")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/published"))
    parser.add_argument("--write", type=pathlib.Path, help="the page to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
