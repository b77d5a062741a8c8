"""Runs a cluster for minutes, and shows whether its tasks gather memory, open files or threads.

    python -m benchmarks.leaks [--minutes=20]

A job of chief, worker, ps and evaluator trains a small model on loopback, with a checkpoint every
two seconds, which the evaluator evaluates. Each task's resident memory, open files, sockets and
threads are read every five seconds. What a task gathers after its third minute is a leak: a line
through the samples tells how much 1,000 checkpoints (in the evaluator, evaluations) and two hours
add. The exit code is 1 if a task has more files open at the end, or its memory grows by more than
2% and 1 MB in ten minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import signal
import statistics
import sys
import tempfile
import time

import psutil

from tests.support import jobs

_CHECKPOINT_SECS = 2
_SAMPLE_SECS = 5.0
_START_SECS = 120.0
_TWO_HOURS_SECS = 7200.0
_TEN_MINUTES_SECS = 600.0
# Memory may grow in ten minutes by this part of itself and this many MB.
_PART, _MB = 0.02, 1.0
# Each line of these in a log is one checkpoint, or one evaluation.
_WORK = {"chief": re.compile("Saving checkpoints for"), "evaluator": re.compile("evaluated step")}


@dataclasses.dataclass(frozen=True)
class Sample:
    """The resources of one task at one moment.

    Attributes:
      secs: Seconds since all tasks have begun.
      work: Checkpoints that the job has saved; of the evaluator, evaluations.
      rss_mb: Resident memory, in MB of 10^6 bytes.
      files: Number of open file descriptors, sockets included.
      sockets: Number of them that are sockets.
      threads: Number of threads.
    """

    secs: float
    work: int
    rss_mb: float
    files: int
    sockets: int
    threads: int


def main() -> int:
    """Runs the job; returns 1 if a task leaks."""
    parser = argparse.ArgumentParser("python -m benchmarks.leaks",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--settle_minutes", type=float, default=3.0,
                        help="the first minutes, which do not count")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all samples")
    options = parser.parse_args()
    if options.minutes <= options.settle_minutes:
        parser.error("expected more --minutes than --settle_minutes")
    with tempfile.TemporaryDirectory() as folder:
        samples = _run(pathlib.Path(folder), options.minutes * 60)
    if options.json:
        options.json.write_text(json.dumps({name: [dataclasses.asdict(each) for each in found]
                                            for name, found in samples.items()}))
    return _report(samples, options.settle_minutes * 60)


def _run(root: pathlib.Path, secs: float) -> dict[str, list[Sample]]:
    """Runs the job for some seconds; returns the samples of each task."""
    plugin = jobs.REPO / "tests" / "support" / "slow.py"
    args = [f"--model_fn={plugin}", f"--input_fn={plugin}", f"--model_dir={root}/model",
            "--train_steps=1000000000", "--param=step_secs=0.02", "--param=examples=1000000000000",
            f"--save_checkpoints_secs={_CHECKPOINT_SECS}", "--log_every_steps=500"]
    with jobs.running(root, jobs.cluster(chief=1, worker=1, ps=1), args, evaluator=True,
                      is_forked=False) as tasks:
        jobs.wait_for(lambda: _count(tasks["evaluator:0"]), _START_SECS)
        start, samples = time.monotonic(), {name: [] for name in tasks}
        while (now := time.monotonic() - start) < secs:
            for name, task in tasks.items():
                if task.code is not None:
                    sys.exit(f"{name} ended with {task.code}:\n{task.log[-3000:]}")
                counted = task if name == "evaluator:0" else tasks["chief:0"]
                samples[name].append(_sample(task, now, _count(counted)))
            time.sleep(max(0.0, _SAMPLE_SECS - (time.monotonic() - start - now)))
        for task in tasks.values():
            os.kill(task.process.pid, signal.SIGTERM)
        jobs.wait_for(lambda: all(task.code is not None for task in tasks.values()), _START_SECS)
    return samples


def _count(task: jobs.Task) -> int:
    """Returns how many checkpoints a chief has saved, or an evaluator evaluated, by its log."""
    return len(_WORK[task.name.partition(":")[0]].findall(task.log))


def _sample(task: jobs.Task, secs: float, work: int) -> Sample:
    process = psutil.Process(task.process.pid)
    links = []
    for path in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            links.append(os.readlink(path))
        except FileNotFoundError:
            pass  # The file was closed meanwhile.
    return Sample(secs, work, process.memory_info().rss / 1e6, len(links),
                  sum(link.startswith("socket:") for link in links), process.num_threads())


def _report(samples: dict[str, list[Sample]], settle_secs: float) -> int:
    """Prints a row for each task, and what is wrong; returns the exit code."""
    print("| task | memory then, MB | at the end | in 10 minutes | of 1,000 checkpoints |"
          " in 2 hours | open files | sockets | threads |\n|---|---|---|---|---|---|---|---|---|")
    wrong = []
    for name, found in samples.items():
        settled = [sample for sample in found if sample.secs >= settle_secs]
        secs = _slope([each.secs for each in settled], [each.rss_mb for each in settled])
        work = _slope([each.work for each in settled], [each.rss_mb for each in settled])
        first, last = _thirds(settled)
        print(f"| {name} | {settled[0].rss_mb:.1f} | {settled[-1].rss_mb:.1f} |"
              f" {secs * _TEN_MINUTES_SECS:+.1f} | {work * 1000:+.1f} |"
              f" {secs * _TWO_HOURS_SECS:+.1f} | {_span(first, last, 'files')} |"
              f" {_span(first, last, 'sockets')} | {_span(first, last, 'threads')} |")
        if secs * _TEN_MINUTES_SECS > _PART * settled[0].rss_mb + _MB:
            wrong.append(f"{name} gathers {secs * _TEN_MINUTES_SECS:.1f} MB in ten minutes")
        if _median(last, "files") > _median(first, "files"):
            wrong.append(f"{name} opens files and keeps them: {_span(first, last, 'files')}")
    counts = {name: found[-1].work for name, found in samples.items()}
    print(f"{counts['chief:0']} checkpoints, {counts['evaluator:0']} evaluations;"
          f" {'; '.join(wrong) or 'nothing grows'}")
    return 1 if wrong else 0


def _thirds(samples: list[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Returns the first third of the samples, and the last."""
    count = max(1, len(samples) // 3)
    return samples[:count], samples[-count:]


def _median(samples: list[Sample], name: str) -> float:
    return statistics.median(getattr(each, name) for each in samples)


def _span(first: list[Sample], last: list[Sample], name: str) -> str:
    """Returns the medians of the first third and of the last, such as "52 to 52"."""
    return f"{_median(first, name):.0f} to {_median(last, name):.0f}"


def _slope(x: list[float], y: list[float]) -> float:
    """Returns the slope of the line nearest to the points; 0 where all are at one x."""
    return statistics.linear_regression(x, y).slope if len(set(x)) > 1 else 0.0


if __name__ == "__main__":
    sys.exit(main())
