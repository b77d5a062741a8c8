"""Compares ways to train a wide and deep model of many hashed columns, with and without ps.

    python -m benchmarks.sparse [--rows=plain,ours] [--ps=0,1,2] [--columns=26] [--dimension=16]
        [--batch=512] [--repeats=5] [--work=/tmp/benchmarks] [-- FLAGS OF THIS PROJECT]
    python -m benchmarks.sparse --markdown

The model is `DNNLinearCombinedClassifier` on columns of 10,000 buckets, peers/work.py defines it;
--columns, --dimension and --batch may have several values, and every combination is measured. With
N ps there are a chief and N workers, in PyTorch the same trainers without a ps. A step is one batch
of one trainer. The rows of a model and a number of ps take turns, --repeats times, and a ratio is
computed inside one repetition. The benchmark writes its records, and an environment for PyTorch,
below --work.

The runs are kept in sparse.json in --work. A new measurement of a row replaces its runs; --append
adds to them, so that a long measurement can be made in parts. --markdown prints the tables of the
file, and measures nothing. --quick tries the program out; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import itertools
import json
import os
import pathlib
import signal
import sys
from typing import Any, Callable, Iterator

from benchmarks import machine
from benchmarks.scaling import table as scaling_table
from benchmarks.sparse import measurement, rows, table
from benchmarks.sparse.peers import work
from benchmarks.suite import environments

_EXAMPLES = 60_000


def main() -> None:
    """Measures, and prints the tables."""
    options = _options()
    # Without an exit, the tasks of a row would go on for ever.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    path = options.work / "sparse.json"
    if not options.markdown:
        _measure(options, path)
    elif not path.exists():
        sys.exit(f"there is no {path}; measure first, without --markdown")
    print(table.text(json.loads(path.read_text())), flush=True)


def _measure(options: argparse.Namespace, path: pathlib.Path) -> None:
    """Measures all cases; the file has each run as soon as it is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"runs": []}
    origin = _origin(options.work, options.rows)
    # Rows that are not measured now may need other libraries.
    origin["versions"] = {**results.get("versions", {}), **origin["versions"]}
    results.update(origin)
    for todo, ps in _cases(options):
        for run in _runs(options, todo, ps, results["runs"]):
            results["runs"].append(run)
            path.write_text(scaling_table.as_json(results))


def _options() -> argparse.Namespace:
    def several(convert: Callable[[str], Any]) -> Callable[[str], list[Any]]:
        return lambda text: [convert(each) for each in text.split(",")]

    def row(name: str) -> str:
        if name not in rows.ROWS:
            raise argparse.ArgumentTypeError(
                f"{name!r} is no row; expected some of {', '.join(rows.ROWS)}")
        return name

    parser = argparse.ArgumentParser("python -m benchmarks.sparse",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=several(row), default=list(rows.ROWS))
    parser.add_argument("--ps", type=several(int), default=[0, 1, 2])
    parser.add_argument("--columns", type=several(int), default=[26])
    parser.add_argument("--dimension", type=several(int), default=[16])
    parser.add_argument("--batch", type=several(int), default=[512])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--warm_up", type=int, default=600, help="global steps before the timed")
    parser.add_argument("--steps", type=int, default=1000, help="global steps that are timed")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--append", action="store_true", help="keeps earlier runs of the rows")
    parser.add_argument("--markdown", action="store_true", help="prints the tables of sparse.json")
    parser.add_argument("--quick", action="store_true", help="makes few steps, once")
    parser.add_argument("flags", nargs="*", help="more flags of this project, after --")
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.warm_up, options.steps = 1, 100, 200
    return options


def _cases(options: argparse.Namespace) -> Iterator[tuple[work.Work, int]]:
    """Yields each model and number of ps; the records of a model are there."""
    for columns, dimension, batch in itertools.product(
            options.columns, options.dimension, options.batch):
        todo = work.Work(options.work / "sparse", columns, dimension, batch)
        measurement.make_data(todo, _EXAMPLES)
        for ps in options.ps:
            yield todo, ps


def _runs(options: argparse.Namespace, todo: work.Work, ps: int,
          known: list[table.Run]) -> Iterator[table.Run]:
    """Measures the rows of a case in turn; removes its earlier runs from `known` or counts on."""
    case = {"columns": todo.columns, "dimension": todo.dimension, "batch": todo.batch, "ps": ps}
    names = rows.of(ps, options.rows)
    old = [run for run in known if run["row"] in names and run.items() >= case.items()]
    if not options.append:
        known[:] = [run for run in known if run not in old]
    first = 1 + max((run["repeat"] for run in old), default=-1) if options.append else 0
    window = measurement.Window(options.warm_up, options.steps)
    for repeat in range(first, first + options.repeats):
        for name in names:
            found = measurement.measure(rows.ROWS[name], todo, ps, window, options.work,
                                        options.flags)
            print(f"{todo.columns} columns, dimension {todo.dimension}, batch {todo.batch},"
                  f" {ps} ps: {name:12} {found.steps_per_sec:8.1f} steps/s"
                  f" {sum(found.cpu_ms.values()):7.2f} CPU ms"
                  f" {found.foreign_cores:6.2f} cores busy elsewhere", flush=True)
            yield {**case, "row": name, "repeat": repeat, "commit": machine.commit(),
                   "flags": options.flags, **dataclasses.asdict(found)}


def _origin(folder: pathlib.Path, names: list[str]) -> dict[str, Any]:
    """Returns the conditions of the measurements."""
    pythons = [sys.executable, *(environments.python(folder, "torch") for name in names
                                 if rows.ROWS[name].is_torch)]
    return {"date": datetime.date.today().isoformat(),
            "machine": f"{len(os.sched_getaffinity(0))} cores, {machine.cpu_name()}",
            "versions": {name: version for python in reversed(pythons)
                         for name, version in environments.versions(pathlib.Path(python)).items()}}


if __name__ == "__main__":
    main()
