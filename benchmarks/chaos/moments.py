"""Moments of a job, detected in its files, its model's marks, and its logs."""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Callable

from benchmarks.chaos import schedules


class Moments:
    """The progress of a running job.

    Attributes:
      model_dir: The job's directory.
    """

    def __init__(self, model_dir: pathlib.Path, marks: pathlib.Path,
                 trainer_logs: Callable[[], list[pathlib.Path]], last_exporter: str):
        """Makes the moments of a job.

        Args:
          model_dir: The job's directory.
          marks: The folder where the model leaves a mark at each evaluation.
          trainer_logs: Returns the logs of all processes that have trained so far.
          last_exporter: Name of the exporter whose export ends a job.
        """
        self.model_dir = model_dir
        self._marks = marks
        self._trainer_logs = trainer_logs
        self._last_exporter = last_exporter

    def has_come(self, fault: schedules.Fault) -> bool:
        """Returns whether the moment of a fault has come."""
        if fault.moment == "start":
            return True
        if fault.moment == "step":
            return last_step(self._trainer_logs()) >= fault.least
        if fault.moment == "save":
            return any(step >= fault.least for step in self._saved_steps())
        if fault.moment == "evaluation":
            return len(_names(self._marks)) > fault.least
        if fault.moment == "export":
            return any("temp" in name for name in self._export_names())
        if fault.moment == "after export":
            return any(name.isdigit() for name in self._export_names(self._last_exporter))
        return self._is_done()

    def _saved_steps(self) -> set[int]:
        found = (re.match(r"model\.ckpt-(\d+)", name) for name in _names(self.model_dir))
        return {int(match[1]) for match in found if match}

    def _export_names(self, exporter: str = "") -> list[str]:
        export = self.model_dir / "export"
        folders = [exporter] if exporter else _names(export)
        return [name for folder in folders for name in _names(export / folder)]

    def _is_done(self) -> bool:
        try:
            text = (self.model_dir / "result.json").read_text(encoding="utf-8")
            return json.loads(text).get("status") == "done"
        except (OSError, ValueError):
            return False


def last_step(logs: list[pathlib.Path]) -> int:
    """Returns the last step in any of these trainers' logs."""
    steps = [int(found) for path in logs if path.exists()
             for found in re.findall(r"  step (\d+)/", path.read_text(errors="replace"))[-1:]]
    return max(steps, default=0)


def _names(folder: pathlib.Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
