"""Runs random fault schedules, or named cases, and checks every promise of docs/job_ends.md.

    python -m benchmarks.chaos [--schedules=500] [--seed=0] [--parallel=2] [--shape=NAME] [--only=N]
    python -m benchmarks.chaos --cases[=NAME,...]

Each job runs in a fresh model_dir, with two faults. Tasks that ended with 142, 143 or a kill are
started again. A line tells of each broken promise; logs of wrong jobs stay in `--work`. The last
lines are a table in Markdown. The exit code is 1 if any job was wrong.
"""

from __future__ import annotations

import argparse
import collections
from concurrent import futures
import dataclasses
import itertools
import multiprocessing
import pathlib
import shutil
import sys
import time
from typing import Iterable, Iterator

from benchmarks.chaos import job as job_lib
from benchmarks.chaos import model_dir
from benchmarks.chaos import promises
from benchmarks.chaos import schedules
from tests.support import jobs


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a job of a schedule ended.

    Attributes:
      schedule: The schedule.
      kinds: Kinds of the faults that met a running process.
      problems: A sentence for each broken promise.
      secs: Seconds that the job took.
      folder: The folder of the logs, which is gone if all was right.
    """

    schedule: schedules.Schedule
    kinds: tuple[str, ...]
    problems: tuple[str, ...]
    secs: float
    folder: pathlib.Path


def main() -> int:
    """Runs what was asked for; returns the exit code."""
    options = _options()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.cases is not None:
        from benchmarks.chaos import cases
        return cases.main(options.cases, options.work, options.keep)
    start = time.monotonic()
    numbers = [options.only] if options.only is not None else list(
        itertools.islice(_numbers(options), options.schedules))
    outcomes = []
    for outcome in _all(options, numbers):
        outcomes.append(outcome)
        _print(outcome, len(outcomes), len(numbers))
    print(f"\n{len(outcomes)} jobs in {(time.monotonic() - start) / 60:.0f} minutes\n")
    print(table(outcomes))
    return 1 if any(outcome.problems for outcome in outcomes) else 0


def run(seed: int, number: int, work: pathlib.Path, keep: bool = False) -> Outcome:
    """Runs one schedule, and checks all promises."""
    model_dir.quiet_tensorflow()
    schedule = schedules.make(seed, number)
    folder = work / f"seed-{seed}-schedule-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    ended = job_lib.run(schedule, folder)
    problems = promises.broken(ended)
    promises.history(ended.processes, folder)
    if not problems and not keep:
        shutil.rmtree(folder)
    kinds = tuple(schedule.faults[index].kind for index in ended.applied)
    return Outcome(schedule, kinds, tuple(problems), ended.secs, folder)


def table(outcomes: Iterable[Outcome]) -> str:
    """Returns a table in Markdown: jobs that ended right, of all, by shape and kind of fault.

    A job counts under each kind of its faults, and once under `all`.
    """
    right: collections.Counter[tuple[str, str]] = collections.Counter()
    total: collections.Counter[tuple[str, str]] = collections.Counter()
    for outcome in outcomes:
        kinds = set(outcome.kinds) or {"none"}
        for row, kind in itertools.product((outcome.schedule.shape, "all"), (*kinds, "all")):
            total[row, kind] += 1
            right[row, kind] += not outcome.problems
    columns = [kind for kind in (*schedules.KINDS, "none", "all") if total["all", kind]]
    rows = [row for row in (*schedules.SHAPES, "all") if total[row, "all"]]
    lines = ["| shape | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {row} | " + " | ".join(
        f"{right[row, kind]} of {total[row, kind]}" if total[row, kind] else "–"
        for kind in columns) + " |" for row in rows]
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.chaos",
                                     description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--schedules", type=int, default=500, help="number of jobs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first schedule")
    parser.add_argument("--only", type=int, help="the number of the one schedule to run")
    parser.add_argument("--shape", choices=sorted(schedules.SHAPES),
                        help="only schedules of this kind of job")
    parser.add_argument("--parallel", type=int, default=1, help="jobs at a time")
    parser.add_argument("--keep", action="store_true", help="keep folders of right jobs too")
    parser.add_argument("--cases", nargs="?", const="", help="run named cases, all by default")
    parser.add_argument("--in_namespace", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/chaos"))
    return parser.parse_args()


def _numbers(options: argparse.Namespace) -> Iterator[int]:
    for number in itertools.count(options.first):
        if not options.shape or schedules.make(options.seed, number).shape == options.shape:
            yield number


def _all(options: argparse.Namespace, numbers: list[int]) -> Iterator[Outcome]:
    words = options.work, options.keep
    if options.parallel == 1:
        for number in numbers:
            yield run(options.seed, number, *words)
        jobs.end_fork_server()
        return
    # A spawned process has no threads of TensorFlow's, so its fork server can be its child.
    with futures.ProcessPoolExecutor(options.parallel,
                                     multiprocessing.get_context("spawn")) as pool:
        for done in futures.as_completed(
                [pool.submit(run, options.seed, number, *words) for number in numbers]):
            yield done.result()


def _print(outcome: Outcome, count: int, total: int) -> None:
    state = "WRONG" if outcome.problems else "right"
    print(f"{count}/{total}  {outcome.schedule.number:4}  {outcome.secs:5.1f} s  {state}"
          f"  {outcome.schedule}", flush=True)
    for problem in outcome.problems:
        print(f"      promised: {problem}", flush=True)
    if outcome.problems:
        print(f"      logs: {outcome.folder}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
