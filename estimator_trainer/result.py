"""The result of a run is its last line, and `model_dir/result.json`."""

import dataclasses
import json
import math
import sys
from typing import Annotated, Any, Literal

from estimator_trainer import result_view, schema, task_events

# The state of a job or a task: the last four are ends.
Status = Literal["running", "stopping", "done", "stopped", "failed", "lost"]

# 142 and 143 make the scheduler restart the task (TFJob's restartPolicy ExitCode retries codes
# over 127).
EXIT_CODES: dict[Status, int] = {"done": 0, "failed": 1, "lost": 142, "stopped": 143}
# A failure whose reason begins with this word is a configuration mistake, in every task.
CONFIGURATION = "configuration"
_CONFIGURATION_CODE = 2
# The reason of a training that is to be continued, and that nobody has to start again at once.
MAX_SECS = "max_secs"


@dataclasses.dataclass(frozen=True)
class Result:
    """How a process ended.

    Attributes:
      task: The platform's name of the task: "chief:0", "local".
      status: "done", "stopped", "failed" or "lost".
      step: The last global step; for a job that failed, the step of its last checkpoint; for a
        training until there is no improvement, that of the best checkpoint, which is the model.
      reason: Why training ended: "train_steps", "input_exhausted", "no_improvement", "most_steps",
        "early_stopping", "stop_at", "stopped_by_hook", "own_train" (an Estimator that overrides
        `train`), "max_secs", the name of a signal, or the error.
      metrics: Metrics of the final evaluation by name; empty in a task without evaluation.
      exports: Paths of the SavedModels that this process exported.
      history: Values of training and evaluations in model_dir, for Python: a dict for each
        `global_step` that has any, with `train_loss`, `examples_per_sec` and the metrics. Not in
        `result.json`.
      was_finished: Whether an earlier run had reached the last step, so this one trained nothing.
      note: Sentences on a training until there is no improvement, on a finished run, and on
        plug-ins that have changed since the checkpoint from which training began; "" for none.
      model_dir: The directory of the training, for Python; not in `result.json`.
      returned: The Estimator's return value for the last evaluation, for a script: metrics and
        exports; not in `result.json`.
    """

    task: str
    status: Status
    step: int
    reason: str
    metrics: dict[str, Any] = dataclasses.field(default_factory=dict)
    exports: tuple[str, ...] = ()
    history: tuple[dict[str, Any], ...] = ()
    was_finished: bool = False
    note: str = ""
    model_dir: str = dataclasses.field(default="", compare=False)
    returned: tuple[dict[str, Any] | None, list[Any] | None] = dataclasses.field(
        default=(None, None), compare=False, repr=False)

    def __repr__(self) -> str:
        return result_view.line(self)

    def _repr_html_(self) -> str:
        return result_view.page(self)

    def to_frame(self) -> Any:
        """Returns the history as a pandas DataFrame with a row for each global step."""
        return result_view.frame(self.history)

    def plot(self, *names: str) -> Any:
        """Returns a Matplotlib figure of the history, which a notebook shows.

        Args:
          *names: The values, a chart for each, such as "accuracy"; default: all, and the loss of
            training beside that of the evaluations.
        """
        return result_view.chart(self.history, names)

    @property
    def role(self) -> str:
        """The former name of `task`."""
        return self.task

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return exit_code(self.status, self.reason)


_Metrics = Annotated[dict[str, schema.Metric], schema.Rule(
    "numbers, with an integer as global_step",
    lambda metrics: isinstance(metrics.get("global_step", 0), int))]


@dataclasses.dataclass(frozen=True)
class _ResultFile:
    """The content of `result.json`; earlier versions wrote neither `was_finished` nor `note`."""

    role: str
    status: Literal["done", "stopped", "failed", "lost"]
    step: int
    reason: str
    metrics: _Metrics
    exports: tuple[schema.Path, ...]
    was_finished: bool = False
    note: str = ""


def exit_code(status: Status, reason: str) -> int:
    """Returns the exit code of a process that ends with this status and reason."""
    if status == "failed" and reason.startswith(CONFIGURATION):
        return _CONFIGURATION_CODE
    if status == "stopped" and reason == MAX_SECS:
        return 0
    return EXIT_CODES[status]


def to_json(result: Result) -> str:
    """Returns the text of `result.json`; NaN and infinities become null."""
    content = {field.name: getattr(result, field.name) for field in dataclasses.fields(_ResultFile)}
    content["metrics"] = {
        name: value if math.isfinite(value) else None for name, value in result.metrics.items()}
    return json.dumps(content, indent=2) + "\n"


def from_json(text: str) -> Result:
    """Returns the result that `to_json` wrote, null as NaN; raises SchemaError for other texts."""
    values = dict(vars(schema.parsed(_ResultFile, text)))
    values["metrics"] = {name: math.nan if value is None else value
                         for name, value in values["metrics"].items()}
    return Result(values.pop("role"), **values)


def print_last_line(result: Result) -> None:
    """Prints the process's last line to standard error, and sends it to the launcher."""
    task_events.emit("end", {"exit_code": result.exit_code}, status=result.status,
                     step=int(result.step), reason=result.reason)
    reason = result.reason if result.reason.isidentifier() else json.dumps(result.reason)
    print(f"role={result.task} status={result.status} step={result.step} reason={reason}",
          file=sys.stderr, flush=True)
