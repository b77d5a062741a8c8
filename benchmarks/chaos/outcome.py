"""The outcome of a schedule's job: how it ended, and which promises were broken.

Other processes run this code; they cannot import it from `__main__`.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import pathlib
import shutil
from typing import Iterable

from benchmarks.chaos import job as job_lib, model_dir, promises, schedules


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a schedule's job ended.

    Attributes:
      schedule: The schedule.
      kinds: Kinds of the faults that met a running process.
      problems: A sentence for each broken promise.
      secs: Duration of the job.
      folder: The folder of the logs; removed if no promise was broken.
    """

    schedule: schedules.Schedule
    kinds: tuple[str, ...]
    problems: tuple[str, ...]
    secs: float
    folder: pathlib.Path


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
    """Returns a table in Markdown: jobs that ended correctly, of all, by shape and kind of fault.

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
