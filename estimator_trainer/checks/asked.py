"""What a process is asked for beside its settings: which of them are given, and by whom."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping

from estimator_trainer.record import recorded_run


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a process is asked for.

    Attributes:
      given: The names of the settings that the user gives; None: those not at their defaults.
      values: The params that a Python program gives, as they are.
      read: The function that reads a file of model_dir, for the record of the run before.
      command: The words that the user typed.
    """

    given: frozenset[str] | None = None
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    read: recorded_run.Read = recorded_run.read_local
    command: tuple[str, ...] = ()
