"""Measures what a job asks of the bucket that holds its model_dir, and how long it takes to end.

    python -m benchmarks.bucket [--train_secs=60] [--latency_ms=50]

Jobs of real processes use the tests' Cloud Storage, which answers after --latency_ms, and refuses a
second write of an object within a second. A job trains, ends at `--train_steps`, the evaluator
exports, and the chief writes the page. Requests are counted by task while the job trains, and in
all while it ends. Prices are Google's of 2026-11 for Standard storage in one region
(cloud.google.com/storage/pricing).
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import tempfile
import time

from benchmarks import tail
from tests.support import cloud_storage, jobs, slow_jobs

JOBS = {
    "chief, 1 worker, ps, evaluator": ({"chief": 1, "worker": 1, "ps": 1}, []),
    "chief, 4 workers, ps, evaluator": ({"chief": 1, "worker": 4, "ps": 1}, []),
    "all-reduce: chief, worker, evaluator": (
        {"chief": 1, "worker": 1}, ["--train_distribute=multi_worker_mirrored"])}
_STEP_SECS = 0.1
_LIMIT_SECS = 300.0
# An upload is two requests and one operation.
_CLASS_A = {"insert": 0.5, "list": 1, "rewrite": 1, "bucket": 1}
_CLASS_B = {"get": 1, "read": 1}
_DOLLARS_A, _DOLLARS_B = 0.005 / 1000, 0.0004 / 1000
_SETTLE_SECS = 5.0


def main() -> None:
    """Measures and prints two tables."""
    parser = argparse.ArgumentParser("python -m benchmarks.bucket",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--train_secs", type=float, default=60)
    parser.add_argument("--latency_ms", type=float, default=50)
    options = parser.parse_args()
    print("| job | task, while the job trains | requests/s | class A/h | class B/h | US$/h |\n"
          "|---|---|---|---|---|---|")
    ends = {}
    for name, (counts, flags) in JOBS.items():
        with tempfile.TemporaryDirectory() as folder, cloud_storage.CloudStorage(
                pathlib.Path(folder), latency_secs=options.latency_ms / 1000,
                is_write_limited=True) as storage:
            first, last, ended = _run(pathlib.Path(folder), storage, counts, flags,
                                      options.train_secs)
            window = first + _SETTLE_SECS, last - _SETTLE_SECS
            for task, found in sorted(_by_task(storage, *window).items()):
                print(f"| {name} | {task} | {_row(found, window[1] - window[0])} |")
            late = sum(request.at > last for request in storage.requests)
            ends[name] = f"{ended - last:.1f} | {late}"
    print("\n| job | last step to last process gone, s | requests in that time |\n|---|---|---|")
    for name, row in ends.items():
        print(f"| {name} | {row} |")


def _run(folder: pathlib.Path, storage: cloud_storage.CloudStorage, counts: dict[str, int],
         flags: list[str], train_secs: float) -> tuple[float, float, float]:
    """Runs a job; returns the times at which all trained, of the last step, and of the end."""
    asynchronous = counts["chief"] + counts["worker"] if "ps" in counts else 1
    steps = round(asynchronous * (train_secs + 2 * _SETTLE_SECS) / _STEP_SECS)
    args = slow_jobs.patient_flags(
        f"--param=step_secs={_STEP_SECS}", "--model_dir=gs://bucket/job", "--log_every_steps=1",
        "--report", f"--train_steps={steps}", *flags)
    with jobs.running(folder, jobs.cluster(**counts), args, evaluator=True,
                      variables=storage.environment) as running:
        tasks = list(running.values())
        trainers = [task for task in tasks if task.name.startswith(("chief", "worker"))]
        jobs.wait_for(lambda: all(task.losses for task in trainers) and
                      "evaluated step 0" in running["evaluator:0"].log, _LIMIT_SECS)
        first = time.monotonic()
        return first, *tail.wait_for_end(tasks)


def _by_task(storage: cloud_storage.CloudStorage, start: float,
             end: float) -> dict[str, collections.Counter[str]]:
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for request in storage.requests:
        if start <= request.at < end:
            found[request.client][request.kind] += 1
    return found


def _row(found: collections.Counter[str], secs: float) -> str:
    a, b = (sum(share * found[kind] for kind, share in kinds.items()) * 3600 / secs
            for kinds in (_CLASS_A, _CLASS_B))
    dollars = a * _DOLLARS_A + b * _DOLLARS_B
    return f"{found.total() / secs:.2f} | {a:.0f} | {b:.0f} | {dollars:.4f}"


if __name__ == "__main__":
    main()
