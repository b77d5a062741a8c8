"""Short names for several runs: the shortest part of their paths that tells them apart."""

from __future__ import annotations

import dataclasses
from typing import Sequence

from estimator_trainer.reports.run_files import RunFiles


def of_paths(paths: Sequence[str]) -> list[str]:
    """Returns a name for each path: the last part, or the parts that differ.

    `/a/x`, `/a/y` are x, y; `/a/x/model`, `/a/y/model` are x, y; `/a/x/1`, `/b/x/2` are 1, 2.
    """
    parts = [[each for each in path.split("/") if each] or [path] for path in paths]
    last = [each[-1] for each in parts]
    if len(set(last)) == len(last) or len(paths) == 1:
        return last
    while all(len(each) > 1 for each in parts) and len({each[-1] for each in parts}) == 1:
        parts = [each[:-1] for each in parts]
    while all(len(each) > 1 for each in parts) and len({each[0] for each in parts}) == 1:
        parts = [each[1:] for each in parts]
    last = [each[-1] for each in parts]
    return last if len(set(last)) == len(last) else ["/".join(each) for each in parts]


def named(runs: Sequence[RunFiles]) -> list[RunFiles]:
    """Returns the runs with names that differ."""
    return [dataclasses.replace(run, label=name) for run, name in zip(
        runs, of_paths([run.model_dir for run in runs]))]
