"""Measures how long a job takes to end: from its last training step to its last process gone.

    python -m benchmarks.tail [--repeats=5] [--epochs=6]

Whole jobs of real processes train on the bundled digits; their input ends before `--train_steps`.
An evaluator evaluates the last checkpoint and exports the best and the final model. The time
includes all of that, and the tasks' telling each other. Only jobs that end with exit code 0 count.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import time

from benchmarks import repetitions
from tests.support import jobs

JOBS = {
    "chief, 2 workers, ps, evaluator": ({"chief": 1, "worker": 2, "ps": 1}, []),
    "all-reduce: chief, worker, evaluator": (
        {"chief": 1, "worker": 1}, ["--train_distribute=multi_worker_mirrored"]),
    "all-reduce: 2 workers": ({"worker": 2}, ["--train_distribute=multi_worker_mirrored"])}
_LIMIT_SECS = 240.0
_POLL_SECS = 0.02


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser("python -m benchmarks.tail",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6, help="of training on the digits")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ran = jobs.trainer("--train_steps=1", f"--model_dir={folder}/model",
                           f"--param=data_dir={folder}")  # Writes the digits, once.
        if ran.returncode:
            sys.exit(ran.stderr)
        found = repetitions.measured(JOBS, options.repeats, lambda name: _measure(
            name, f"--param=data_dir={folder}", options.epochs))
    print("| job | last step to last process gone, s | min-max |\n|---|---|---|")
    for name in JOBS:
        print(f"| {name} | {found.median(name):.1f} | {found.span(name, '.1f')} |")


def _measure(name: str, data: str, epochs: int) -> float:
    """Runs a job to its end; returns the seconds that its end took."""
    counts, flags = JOBS[name]
    with tempfile.TemporaryDirectory() as folder, jobs.running(
            pathlib.Path(folder), jobs.cluster(**counts),
            ["--train_steps=1000000", f"--train_epochs={epochs}", "--log_every_steps=1",
             "--exporters=best,final", f"--model_dir={folder}/model", data, *flags],
            evaluator="chief" in counts) as tasks:
        last, ended = wait_for_end(list(tasks.values()))
        return ended - last


def wait_for_end(tasks: list[jobs.Task]) -> tuple[float, float]:
    """Waits until all tasks have ended; returns the times of the last step and of the end.

    Raises:
      AssertionError: with their logs and stacks, if one fails or does not end.
    """
    deadline = time.monotonic() + _LIMIT_SECS
    seen, changed_secs = 0, 0.0
    while any(task.code is None for task in tasks) and time.monotonic() < deadline:
        count = sum(len(task.losses) for task in tasks)
        if count > seen:
            seen, changed_secs = count, time.monotonic()
        time.sleep(_POLL_SECS)
    ended_secs = time.monotonic()
    if any(task.code != 0 for task in tasks):
        jobs.wait(tasks, 0)
    return changed_secs, ended_secs


if __name__ == "__main__":
    main()
