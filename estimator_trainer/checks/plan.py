"""The plan of a run: everything known, and every problem found, before TensorFlow."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Mapping, Protocol

from estimator_trainer import versions as versions_lib
from estimator_trainer.cluster import task_config
from estimator_trainer.errors import Problem
from estimator_trainer.plugins.eval_sets import EvalSet
from estimator_trainer.plugins.params import Params
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.plugins.source_files import Script
from estimator_trainer.record import recorded_run
from estimator_trainer.record.changes import Change
from estimator_trainer.settings.trainer_config import TrainerConfig


class ScriptRun(Protocol):
    """A training that a script requests in the place of plug-ins; see script/experiment.py."""

    @property
    def evaluates(self) -> bool: ...

    @property
    def protocol(self) -> str | None: ...

    @property
    def strategies(self) -> object: ...

    def load(self, plan: Plan) -> object: ...


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of what would run.

    Attributes:
      config: The settings, model_dir resolved.
      task: The place of this process in the job.
      problems: Everything wrong; the run can start only without any.
      model: The model_fn plug-in, or None if it was not found.
      data: The input_fn plug-in, of evaluation and prediction where training has its own; or None.
      train_data: The input_fn plug-in of training, or None if it is `data`.
      serving: The plug-in of --serving_input_fn, or None.
      eval_sets: The further sets of evaluation data.
      script_run: The training that the script has begun; None before, and without a script.
      recorded: The earlier run in the same model_dir, or None.
      changes: The differences from that run.
      notes: Sentences on differences of this process from the defaults.
      command: The words that started this process, for the record.
      began: When this process began to plan, in seconds of `time.monotonic`.
    """

    config: TrainerConfig
    task: task_config.TaskConfig
    problems: tuple[Problem | str, ...]
    model: Plugin | None = None
    data: Plugin | None = None
    params: Params | None = None
    train_data: Plugin | None = None
    serving: Plugin | None = None
    script: Script | None = None
    script_run: ScriptRun | None = None
    recorded: recorded_run.RecordedRun | None = None
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    eval_sets: tuple[EvalSet, ...] = ()
    versions: versions_lib.Versions = dataclasses.field(default_factory=versions_lib.installed)
    began: float = dataclasses.field(default_factory=time.monotonic, compare=False)

    @property
    def is_evaluated(self) -> bool:
        """Whether the job evaluates; a script that calls `Estimator.train` does so by itself."""
        return self.script_run is None or self.script_run.evaluates

    @property
    def passes(self) -> int:
        """Passes of all trainers together over the training set; 0 = as many as steps take."""
        workers = max(self.task.num_trainers, 1) if self.config.epochs_of == "worker" else 1
        return self.config.train_epochs * workers

    @property
    def has_data_service(self) -> bool:
        """Whether the training set is handed out while it is read, not in fixed shares."""
        return self.config.data_service or bool(self.task.data_workers)

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """All plug-ins that were found."""
        found = (self.model, self.data, self.train_data, self.serving)
        return tuple(plugin for plugin in found if plugin)


@dataclasses.dataclass
class Findings:
    """The findings of one check of a job; each sentence names its remedy.

    Problems would make `train` fail; warnings may still come right, such as a peer that has not
    started; facts are texts, numbers or lists of texts, by their subject.
    """

    problems: list[Problem | str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Findings) -> Findings:
        return Findings(self.problems + other.problems, self.warnings + other.warnings,
                        {**self.facts, **other.facts})


@dataclasses.dataclass(frozen=True)
class Invocation:
    """The request of the user to a process.

    Attributes:
      user_set: The names of the settings that the user sets; None: those not at their defaults.
      values: The params that a Python program passes.
      read: The function that reads a file of model_dir, for the record of the earlier run.
      notes: Sentences on words of the command line that the program reads as others.
    """

    user_set: frozenset[str] | None = None
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    read: recorded_run.Read = recorded_run.read_local
    command: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
