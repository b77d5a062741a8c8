"""Findings: what `check` has found out about a job."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class Findings:
    """What one look at the job found; each sentence names its remedy.

    Attributes:
      problems: What `train` would fail of.
      warnings: What may be all right, or become so: a peer that has not started yet.
      facts: What is so, by name; texts, numbers, or lists of texts.
    """

    problems: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Findings) -> Findings:
        return Findings(self.problems + other.problems, self.warnings + other.warnings,
                        {**self.facts, **other.facts})
