"""The result of a run is its last line, and `model_dir/result.json`."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from typing import Annotated, Any, Literal

from estimator_trainer import schema, task_events

# A job, or a task of it, runs, is asked to stop, or has ended in one of four ways.
Status = Literal["running", "stopping", "done", "stopped", "failed", "lost"]

# 142 and 143 are for the scheduler to restart the task (TFJob's restartPolicy: ExitCode retries
# codes over 127).
EXIT_CODES: dict[Status, int] = {"done": 0, "failed": 1, "lost": 142, "stopped": 143}


# A failure whose reason begins so is a mistake of the configuration, in every task that hears it.
CONFIGURATION = "configuration"
_CONFIGURATION_CODE = 2


@dataclasses.dataclass(frozen=True)
class Result:
    """The way in which a process ended.

    Attributes:
      role: The task, as its platform calls it: "chief:0", "local".
      status: How the process ended: "done", "stopped", "failed" or "lost".
      step: The global step reached; for a job that failed, the step of its last checkpoint.
      reason: Why training ended: "train_steps", "input_exhausted", "early_stopping",
        "stopped_by_hook", "own_train" (by an Estimator with a `train` of its own), the name of a
        signal, or the error.
      metrics: Metrics of the final evaluation by name; empty in a task that evaluated nothing.
      exports: Paths of the SavedModels that this process exported.
      history: Metrics of each evaluation in model_dir by step, for Python; not in `result.json`.
      was_finished: Whether an earlier run had reached the last step, so this one trained nothing.
      note: Sentences on such a run, and on plug-ins that are not those which wrote the checkpoint
        that training began with; "" if there is nothing to say.
      returned: What the Estimator returned for the last evaluation, its metrics and what its
        exporters exported, for a script; not in `result.json`.
    """

    role: str
    status: Status
    step: int
    reason: str
    metrics: dict[str, Any] = dataclasses.field(default_factory=dict)
    exports: tuple[str, ...] = ()
    history: tuple[dict[str, Any], ...] = ()
    was_finished: bool = False
    note: str = ""
    returned: tuple[dict[str, Any] | None, list[Any] | None] = dataclasses.field(
        default=(None, None), compare=False, repr=False)

    def __repr__(self) -> str:
        # Behind a long history nobody would read the note.
        shown = {name: getattr(self, name) for name in
                 (*["note"] * bool(self.note), "role", "status", "step", "reason", "metrics",
                  "exports", "history", "was_finished")}
        return f"Result({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return exit_code(self.status, self.reason)


_Metrics = Annotated[dict[str, schema.Metric], schema.Rule(
    "numbers, with an integer as global_step",
    lambda metrics: isinstance(metrics.get("global_step", 0), int))]


@dataclasses.dataclass(frozen=True)
class _ResultFile:
    """The content of `result.json`: the fields of a Result that are not for Python alone.

    Versions before this one wrote neither `was_finished` nor `note`.
    """

    role: str
    status: Literal["done", "stopped", "failed", "lost"]
    step: int
    reason: str
    metrics: _Metrics
    exports: tuple[schema.Path, ...]
    was_finished: bool = False
    note: str = ""


def exit_code(status: Status, reason: str) -> int:
    """Returns the exit code of a process that ends so."""
    if status == "failed" and reason.startswith(CONFIGURATION):
        return _CONFIGURATION_CODE
    return EXIT_CODES[status]


def to_json(result: Result) -> str:
    """Returns the text of `result.json`; NaN and infinities become null."""
    content = dataclasses.asdict(dataclasses.replace(result, returned=(None, None)))
    del content["history"], content["returned"]
    content["metrics"] = {
        name: value if math.isfinite(value) else None for name, value in result.metrics.items()
    }
    return json.dumps(content, indent=2) + "\n"


def from_json(text: str) -> Result:
    """Returns the result that `to_json` wrote, null as NaN.

    Raises:
      SchemaError: if the text is something else.
    """
    found = schema.parsed(_ResultFile, text)
    metrics = {name: math.nan if value is None else value
               for name, value in found.metrics.items()}
    return Result(**{**vars(found), "metrics": metrics})


def print_last_line(result: Result) -> None:
    """Prints the process's last line to standard error, and tells it to a launcher."""
    task_events.emit("end", {"exit_code": result.exit_code}, status=result.status,
                     step=int(result.step), reason=result.reason)
    reason = result.reason if result.reason.isidentifier() else json.dumps(result.reason)
    print(f"role={result.role} status={result.status} step={result.step} reason={reason}",
          file=sys.stderr, flush=True)
