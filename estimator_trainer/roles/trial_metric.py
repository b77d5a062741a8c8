"""The metric of a tuning trial, reported at each evaluation as the tuning services read it.

Standard output has `NAME=VALUE`, the line that Katib's collector finds by its default filter
(https://www.kubeflow.org/docs/components/katib/user-guides/metrics-collector/). In a trial of
Vertex AI or AI Platform a file has the lines of JSON that the package cloudml-hypertune writes, and
that the service, or Katib's collector of files, reads.
"""

import collections
import contextlib
import json
import os
import time
from typing import Any, Callable, Iterator, Mapping

from absl import logging

from estimator_trainer import environment, task_events
from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import near_match, Setting
from estimator_trainer.result import Result

# As in cloudml-hypertune 0.1.0.dev6, which keeps the last lines only.
_FILE = "/tmp/hypertune/output.metrics"
_MOST_LINES = 100


@contextlib.contextmanager
def reported(plan: Plan) -> Iterator[Callable[[Result], None]]:
    """Reports --trial_metric of each evaluation of this process within a `with` statement.

    Yields the function that reports the metric of the final evaluation, if this process has not: an
    earlier process, or the evaluator in place of this chief, may have made that evaluation.
    """
    variables, name = environment.read(), plan.config.trial_metric
    trial = plan.task.trial or variables.trial
    if plan.task.role == "evaluator" and plan.task.index:
        yield lambda ended: None  # The first evaluator reports for all.
        return
    if not name:
        if trial:
            logging.info("trial %s of a tuning job reports no metric; to report one: %s", trial,
                         Setting("trial_metric", "loss"))
        yield lambda ended: None
        return
    is_in_file = bool(trial or variables.metric_file)
    reports = TrialMetric(name, trial, (variables.metric_file or _FILE) if is_in_file else "")

    def receive(kind: str, values: Mapping[str, Any]) -> None:
        if kind in ("evaluation", "result"):
            reports.add(values["step"], values["metrics"])

    with task_events.received_by(receive):
        yield reports.end


class TrialMetric:
    """The values of one metric, by the steps of a trial."""

    def __init__(self, name: str, trial: str, path: str):
        """Makes an empty list of values; `path` is the file of a tuning service, or ""."""
        self._name, self._trial, self._path = name, trial or "0", path
        self._lines: collections.deque[str] = collections.deque(maxlen=_MOST_LINES)
        self._last: tuple[int, float] | None = None

    def add(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Reports the metric of one evaluation."""
        if self._name not in metrics:
            logging.warning("trial_metric is %r, and the evaluation of step %d has only %s.%s",
                            self._name, step, ", ".join(sorted(metrics)),
                            near_match(self._name, metrics))
            return
        value = float(metrics[self._name])
        self._last = step, value
        print(f"{self._name}={value}", flush=True)
        if self._path:
            self._lines.append(json.dumps({
                "timestamp": time.time(), "trial": self._trial, self._name: str(value),
                "global_step": str(step), "checkpoint_path": ""}, sort_keys=True))
            self._write()

    def end(self, ended: Result) -> None:
        """Reports the metric of the model that a task ends with, if it is not the last reported."""
        if ended.status != "done" or self._name not in ended.metrics:
            return
        step, value = self._last or (0, None)
        if value != float(ended.metrics[self._name]):
            # The best model may be of an earlier step, and services expect steps that grow.
            self.add(max(step, int(ended.metrics.get("global_step", 0))), ended.metrics)

    def _write(self) -> None:
        try:
            os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
            with open(self._path, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in self._lines)
        except OSError as error:
            logging.warning("the metric of this trial cannot be written to %s: %s", self._path,
                            error.strerror)
