"""The trackers: MLflow, Weights & Biases, and a function of the user's.

An event is a dict. Its `kind` is one of these:

    start        once for each process: run_id, name, model_dir, is_resumed, params, settings, tags
    step         a line of the chief's training: step, metrics
    evaluation   of a checkpoint: step, metrics
    end          once: status, reason, step, exit_code, metrics, exports, report

docs/report.md describes them.
"""

from __future__ import annotations

import contextlib
import importlib
import os.path
import posixpath
import re
import tempfile
from typing import Any, Iterator, Mapping, Protocol, Sequence

import tensorflow as tf

from estimator_trainer import deadlines
from estimator_trainer.plugins import importing, trackers

Event = dict[str, Any]
_NOT_IN_NAMES = re.compile(r"[^\w/. -]")


class Tracker(Protocol):
    """One tracker, all of whose methods are called by one thread."""

    def start(self, event: Event, known: str) -> str:
        """Begins a run, or joins the one of this id; returns the tracker's own id of the run."""

    def send(self, events: Sequence[Event]) -> None:
        """Sends events of the kinds `step` and `evaluation`, by time."""

    def end(self, event: Event) -> None:
        """Ends the run."""


def made(name: str) -> Tracker:
    """Returns the tracker of a name, whose package or file is imported now."""
    if name == "mlflow":
        return _Mlflow(importlib.import_module(name))
    return _Wandb(importlib.import_module(name)) if name == "wandb" else _Function(name)


class _Function:
    """A function of the user's, which is called with each event."""

    def __init__(self, name: str):
        [plugin] = trackers.functions([name])
        self._function = getattr(importing.module_of(plugin), plugin.function)

    def start(self, event: Event, known: str) -> str:
        self._function(event)
        return str(event["run_id"])

    def send(self, events: Sequence[Event]) -> None:
        for event in events:
            self._function(event)

    def end(self, event: Event) -> None:
        self._function(event)


class _Mlflow:
    """MLflow; the server, the experiment and the run's name come from its own variables."""

    # Its limits for one request.
    _MOST_PARAMS, _MOST_METRICS = 100, 1000
    _STATUS = {"done": "FINISHED", "failed": "FAILED"}

    def __init__(self, mlflow: Any):
        self._mlflow, self._client = mlflow, mlflow.MlflowClient()
        self._id = ""

    def start(self, event: Event, known: str) -> str:
        run = self._mlflow.start_run(
            run_id=known if known and self._is_there(known) else None,
            run_name=None if known else event["name"])
        self._id = run.info.run_id
        # A value that was logged cannot be changed; the tag `changes` says what did.
        params = [self._mlflow.entities.Param(_allowed(name), str(value))
                  for name, value in _flat(event).items()
                  if _allowed(name) not in run.data.params]
        for i in range(0, len(params), self._MOST_PARAMS):
            self._client.log_batch(self._id, params=params[i:i + self._MOST_PARAMS])
        self._tag({**event["tags"], "model_dir": event["model_dir"]})
        return self._id

    def send(self, events: Sequence[Event]) -> None:
        metrics = [self._mlflow.entities.Metric(
            _allowed(name), float(value), int(1000 * event["time"]), int(event["step"]))
                   for event in events for name, value in _named(event).items()]
        for i in range(0, len(metrics), self._MOST_METRICS):
            self._client.log_batch(self._id, metrics=metrics[i:i + self._MOST_METRICS])

    def end(self, event: Event) -> None:
        self._tag({"status": event["status"], "reason": event["reason"], "step": event["step"],
                   "exports": "\n".join(event["exports"])})
        if event["report"]:
            with _local(event["report"]) as path:
                self._client.log_artifact(self._id, path)
        self._mlflow.end_run(self._STATUS.get(event["status"], "KILLED"))

    def _tag(self, tags: Mapping[str, Any]) -> None:
        self._client.log_batch(self._id, tags=[
            self._mlflow.entities.RunTag(_allowed(name), str(value))
            for name, value in tags.items()])

    def _is_there(self, run_id: str) -> bool:
        """Returns whether a run is in this store, and was not deleted."""
        try:
            return bool(self._client.get_run(run_id).info.lifecycle_stage == "active")
        except self._mlflow.exceptions.MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return False
            raise


class _Wandb:
    """Weights & Biases; project, entity and mode come from its own variables."""

    def __init__(self, wandb: Any):
        self._wandb, self._run = wandb, None

    def start(self, event: Event, known: str) -> str:
        # A sweep's agent has chosen an id.
        chosen = self._wandb.setup().settings.run_id
        self._run = run = self._wandb.init(
            id=chosen or known or event["run_id"], name=event["name"], resume="allow",
            config={**_flat(event), **event["tags"], "model_dir": event["model_dir"]},
            allow_val_change=True,
            # The script may have a run of its own. Nothing waits for a person at a terminal.
            settings=self._wandb.Settings(
                reinit="create_new", console="off", login_timeout=deadlines.CHECK_SECS,
                finish_timeout=deadlines.TRACKERS_SECS))
        # Evaluations come later than training has gone on, and wandb's own steps only grow.
        run.define_metric("global_step", hidden=True)
        run.define_metric("*", step_metric="global_step")
        return str(run.id)

    def send(self, events: Sequence[Event]) -> None:
        assert self._run
        for event in events:
            self._run.log({**_named(event), "global_step": event["step"]})

    def end(self, event: Event) -> None:
        assert self._run
        self._run.summary.update({
            "status": event["status"], "reason": event["reason"], "exports": event["exports"]})
        if event["report"]:
            with _local(event["report"]) as path:
                artifact = self._wandb.Artifact(f"report-{self._run.id}", "report")
                artifact.add_file(path)
                self._run.log_artifact(artifact)
        self._run.finish(exit_code=event["exit_code"])


def _named(event: Event) -> dict[str, Any]:
    """Returns the metrics of an event, such as `train/loss` and `eval/accuracy`."""
    folder = "train" if event["kind"] == "step" else "eval"
    return {f"{folder}/{name}": value for name, value in event["metrics"].items()}


def _flat(event: Event) -> dict[str, Any]:
    """Returns params and settings in one dict; a setting that has the name of a param has `--`."""
    params = event["params"]
    return {**params, **{f"--{name}" if name in params else name: value
                         for name, value in event["settings"].items()}}


def _allowed(name: str) -> str:
    """Returns a name with the characters that MLflow takes."""
    return _NOT_IN_NAMES.sub("_", name)


@contextlib.contextmanager
def _local(path: str) -> Iterator[str]:
    """Yields the path of a file, or of a copy on this machine."""
    if "://" not in path:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, posixpath.basename(path))
        tf.io.gfile.copy(path, copy)
        yield copy
