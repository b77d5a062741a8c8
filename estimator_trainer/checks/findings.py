"""Findings hold what `check` has found out about a job."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class Findings:
    """The findings of one look at a job; each sentence names its remedy.

    Attributes:
      problems: Sentences, each on what would make `train` fail.
      warnings: Sentences, each on what may still come right, such as a peer that has not started.
      facts: Texts, numbers or lists of texts, by what they tell of.
    """

    problems: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Findings) -> Findings:
        return Findings(self.problems + other.problems, self.warnings + other.warnings,
                        {**self.facts, **other.facts})
