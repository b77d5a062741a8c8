"""The result of a run: its last line, and `model_dir/result.json`."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from typing import Any


@dataclasses.dataclass(frozen=True)
class Result:
    """How a process ended.

    Attributes:
      role: The task, as its platform calls it: "chief:0", "local".
      status: "done" or "failed".
      step: The global step reached.
      reason: Why training ended: "train_steps" or "input_exhausted"; or the error.
      metrics: The final evaluation; empty in a task that evaluated nothing.
      exports: Paths of the SavedModels that this process exported.
    """

    role: str
    status: str
    step: int
    reason: str
    metrics: dict[str, Any] = dataclasses.field(default_factory=dict)
    exports: tuple[str, ...] = ()


def to_json(result: Result) -> str:
    """Returns the text of `result.json`; NaN and infinities become null."""
    content = dataclasses.asdict(result)
    content["metrics"] = {
        name: value if math.isfinite(value) else None for name, value in result.metrics.items()
    }
    return json.dumps(content, indent=2) + "\n"


def print_last_line(result: Result) -> None:
    """Prints the process's last line to standard error."""
    reason = result.reason if result.reason.isidentifier() else json.dumps(result.reason)
    print(f"role={result.role} status={result.status} step={result.step} reason={reason}",
          file=sys.stderr, flush=True)
