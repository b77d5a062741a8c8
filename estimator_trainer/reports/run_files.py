"""The files of a run are all that its page is made of: record, history, result, judgement, events.
"""

from __future__ import annotations

import dataclasses
import posixpath
from typing import Any

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import checkpoints
from estimator_trainer.evaluation import history as evaluations
from estimator_trainer.evaluation import judgement
from estimator_trainer.record import record_file
from estimator_trainer.record import run_record
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.reports import history
from estimator_trainer.reports import training_events
from estimator_trainer.reports.training_events import Events
from estimator_trainer.result import Result


@dataclasses.dataclass(frozen=True)
class RunFiles:
    """What the files of a model_dir say.

    Attributes:
      model_dir: The directory.
      record: Who wrote it, and each run; None if nothing recorded it.
      lines: The lines of the history, by time.
      result: How the job ended; None before.
      judgement: What the model said of the evaluation's examples, or None.
      events: The scalars and histograms of the event files.
      evaluations: The metrics of each evaluated step, `global_step` included.
      damaged: A sentence for each file that is damaged, and left out.
    """

    model_dir: str
    record: RunRecord | None
    lines: list[dict[str, Any]]
    result: Result | None
    judgement: dict[str, Any] | None
    events: Events
    evaluations: list[dict[str, Any]]
    damaged: list[str]

    @property
    def name(self) -> str:
        """The last part of the directory's path."""
        return posixpath.basename(self.model_dir.rstrip("/")) or self.model_dir

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Returns the history's lines of a kind, by time."""
        return [line for line in self.lines if line["kind"] == kind]


def read(model_dir: str) -> RunFiles:
    """Reads the files of a model_dir.

    Raises:
      ConfigError: if nobody has trained in this directory.
    """
    damaged: list[str] = []
    try:
        record = record_file.read_if_whole(model_dir, damaged.append)
        lines = history.read(model_dir, damaged.append)
    except tf.errors.OpError as error:
        raise errors.ConfigError(
            f"model_dir is {model_dir!r} (from --model_dir), which cannot be read:"
            f" {errors.first_line(error)}; expected the directory of a training. For example:"
            " --model_dir=/tmp/digits") from error
    found = RunFiles(model_dir, record, lines, checkpoints.read_result(model_dir, damaged.append),
                     judgement.read(model_dir, damaged.append), training_events.read(model_dir),
                     evaluations.read(model_dir), damaged)
    is_empty = record is None and not lines and not found.evaluations and (
        not found.events.scalars)
    if is_empty and not damaged:
        raise errors.ConfigError(
            f"model_dir is {model_dir!r} (from --model_dir), which holds neither {run_record.NAME}"
            f" nor {history.NAME} nor events; expected the directory of a training. For"
            " example: --model_dir=/tmp/digits")
    return found
