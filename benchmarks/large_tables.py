"""Measures a job whose tables have 1.7 GB, with the plain Estimator and with this project.

    python -m benchmarks.large_tables [--rows=500000] [--repeats=1]

A chief, a worker, two ps and an evaluator train 26 tables of dimension 16 with Adagrad, each task
a process on this machine. For each task its most memory (VmHWM); the seconds for which the chief,
and the worker, stood still, mostly for a checkpoint; the seconds of each evaluation, its restore
included; the size of a checkpoint, and of all; and the median step of a trainer.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks import machine
from tests.support import jobs

KINDS = ("plain", "this project")
_JOB = pathlib.Path(__file__).with_name("large_tables_job.py")
_PLAIN = ("import estimator_trainer.compat, runpy, sys; del sys.argv[0];"
          " runpy.run_path(sys.argv[0], run_name='__main__')")
_LIMIT_SECS = 240.0
_POLL_SECS = 0.2
# A step that takes as long as this many is one in which training stood still.
_STOP_STEPS = 8


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser("python -m benchmarks.large_tables",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000, help="of each table")
    parser.add_argument("--columns", type=int, default=26)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--flags", default="", help="of `run`, separated by spaces")
    parser.add_argument("--only", default=",".join(KINDS))
    options = parser.parse_args()
    print("| | ps:0, MB | ps:1 | chief | worker | evaluator | chief stops, s | worker stops, s"
          " | evaluations, s | checkpoint, MB | step, ms |\n|---|" + 10 * "---|")
    for _ in range(options.repeats):
        for kind in options.only.split(","):
            with tempfile.TemporaryDirectory() as folder:
                print(f"| {kind} | {' | '.join(measured(kind, options, pathlib.Path(folder)))} |",
                      flush=True)


def measured(kind: str, options: argparse.Namespace, folder: pathlib.Path) -> list[str]:
    """Runs the job once; returns the cells of its row."""
    tasks = _started(kind, options, folder)
    most, deadline = {name: 0 for name in tasks}, time.monotonic() + _LIMIT_SECS
    try:
        # The plain ps never end.
        while any(task.poll() is None for name, task in tasks.items() if "ps" not in name):
            if time.monotonic() > deadline or any(task.poll() for task in tasks.values()):
                sys.exit(f"{kind}: a task failed, or the job did not end:\n" + "\n".join(
                    f"{path.name}:\n{path.read_text()[-1500:]}" for path in folder.glob("*.log")))
            for name, task in tasks.items():
                most[name] = max(most[name], machine.peak_bytes(task.pid) // 10**6)
            time.sleep(_POLL_SECS)
    finally:
        for task in tasks.values():
            task.send_signal(signal.SIGKILL)
            task.wait()
    return _cells(most, options, folder)


def _cells(most: dict[str, int], options: argparse.Namespace, folder: pathlib.Path) -> list[str]:
    stops = []
    for name in ("chief-0", "worker-0"):
        [times] = _times(folder / f"{name}.json")
        steps = [after - before for before, after in zip(times[1:], times[2:])]
        usual = statistics.median(steps)
        stops.append(" ".join(f"{step:.1f}" for step in steps if step > _STOP_STEPS * usual) or "-")
        speed = f"{1e3 * usual:.0f}"
    evaluations = [each[-1] - each[0] for each in _times(folder / "evaluator-0.json")]
    saved = [path.stat().st_size for path in (folder / "model").glob("model.ckpt-*")]
    newest = max(int(path.name.split("-")[1].split(".")[0])
                 for path in (folder / "model").glob("model.ckpt-*.index"))
    one = sum(path.stat().st_size for path in (folder / "model").glob(f"model.ckpt-{newest}.*"))
    return [*(f"{most[name]:,}" for name in most), *stops,
            " ".join(f"{each:.1f}" for each in evaluations),
            f"{one / 1e6:,.0f} of {sum(saved) / 1e6:,.0f}", speed]


def _times(path: pathlib.Path) -> list[list[float]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _started(kind: str, options: argparse.Namespace,
             folder: pathlib.Path) -> dict[str, subprocess.Popen[bytes]]:
    arguments = [str(_JOB), json.dumps({
        "rows": options.rows, "columns": options.columns, "dimension": 16, "steps": options.steps,
        "save_every": options.steps // 3, "out": str(folder)})]
    command = [sys.executable, "-c", _PLAIN, *arguments] if kind == "plain" else [
        sys.executable, "-m", "estimator_trainer", "run", *options.flags.split(), arguments[0],
        "--", *arguments[1:]]
    cluster, tasks = jobs.cluster(chief=1, worker=1, ps=2), {}
    for role, index in [("ps", 0), ("ps", 1), ("chief", 0), ("worker", 0), ("evaluator", 0)]:
        name = f"{role}-{index}"
        env = jobs.environment(TF_CPP_MIN_LOG_LEVEL="2", TF_CONFIG=json.dumps(
            {"cluster": cluster, "task": {"type": role, "index": index}}))
        with (folder / f"{name}.log").open("wb") as log:
            tasks[name] = subprocess.Popen(command, env=env, cwd=folder, stdout=log,
                                           stderr=subprocess.STDOUT)
    return tasks


if __name__ == "__main__":
    main()
