"""Runs random fault schedules, or named cases, and checks every promise of docs/job_ends.md.

    python -m benchmarks.chaos [--schedules=500] [--seed=0] [--parallel=2] [--shape=NAME] [--only=N]
    python -m benchmarks.chaos --cases[=NAME,...]

Each job runs in a new model_dir, with two faults. Tasks that ended with 142, 143 or a kill are
restarted. Each broken promise is one line; logs of wrong jobs stay in `--work`. The last
lines are a table in Markdown. The exit code is 1 if any job was wrong.
"""

from __future__ import annotations

import argparse
from concurrent import futures
import itertools
import multiprocessing
import pathlib
import sys
import time
from typing import Iterator

from benchmarks.chaos import outcome as outcome_lib, schedules
from benchmarks.chaos.outcome import Outcome
from tests.support import jobs


def main() -> int:
    """Runs the schedules or cases of the command line; returns the exit code."""
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
    print(outcome_lib.table(outcomes))
    return 1 if any(outcome.problems for outcome in outcomes) else 0


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
            yield outcome_lib.run(options.seed, number, *words)
        jobs.end_fork_server()
        return
    # A spawned process has no TensorFlow threads, so its fork server can be its child.
    with futures.ProcessPoolExecutor(options.parallel,
                                     multiprocessing.get_context("spawn")) as pool:
        for done in futures.as_completed(
                [pool.submit(outcome_lib.run, options.seed, number, *words) for number in numbers]):
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
