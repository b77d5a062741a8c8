"""A run is sent to the trackers of --track, such as MLflow, by one task: the chief.

The job's history has the events of all tasks, those of an evaluator among them, so a tracker
follows the history. Each one has a thread of its own: if it hangs or fails, neither training nor
another tracker notices.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import posixpath
import threading
import time
from typing import Any, Mapping
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, redaction, schema, storage
from estimator_trainer.checks import model_dir_name
from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints, shared_files
from estimator_trainer.record import record_file, run_record
from estimator_trainer.reports import history, page, tracker as tracker_lib
from estimator_trainer.reports.tracker import Event

NAME = "trackers.json"
# Pause between two readings of the history, as a multiple of the time that one takes.
_REST = 20
_THREAD = "track "  # The thread of each tracker has this before its name.
_OF_TRAINING = ("loss", "steps_per_sec", "examples_per_sec")


@dataclasses.dataclass(frozen=True)
class _KeptRun:
    """The tracker's own id of the run; the time of the last line sent, by its task and kind."""

    id: str = ""
    sent: dict[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class _Content:
    run_id: str
    trackers: dict[str, _KeptRun] = dataclasses.field(default_factory=dict)


def is_hanging() -> bool:
    """Returns whether a tracker has not answered in time, and still does not."""
    return any(thread.name.startswith(_THREAD) for thread in threading.enumerate())


class Tracking:
    """The trackers of a run, which follow its history from here on until `end`."""

    def __init__(self, plan: Plan):
        """Starts a thread for each tracker, if this task has any."""
        self._plan = plan
        track = dict.fromkeys(plan.config.track) if plan.task.is_chief else ()
        kept = _KeptRuns(plan.config.model_dir)
        self._followers = [_Follower(plan, name, kept) for name in track]

    def end(self, is_stopped: bool, lacks_page: bool) -> None:
        """Waits, for a bounded time, until the trackers have received the end of the run.

        Args:
          is_stopped: Whether this process was requested to stop, and may be killed soon.
          lacks_page: Whether a launcher or a script writes the page of the run later.
        """
        if not self._followers:
            return
        if self._plan.config.report and lacks_page:
            page.write_if_possible(self._plan.config.model_dir)
        secs = deadlines.STOPPED_TRACKERS_SECS if is_stopped else deadlines.TRACKERS_SECS
        deadline = time.monotonic() + secs
        for follower in self._followers:
            follower.end()
        for follower in self._followers:
            follower.wait(deadline, secs)


class _KeptRuns:
    """The file `model_dir/trackers.json`, by which a resumed run joins the run of before."""

    def __init__(self, model_dir: str):
        self._path = posixpath.join(model_dir, NAME)
        self._lock = threading.Lock()
        self._written_at = -math.inf
        self._content: _Content | None = None

    @property
    def run_id(self) -> str:
        """A name of the run that no other has, the same after each resume."""
        return self._read().run_id

    def of_tracker(self, name: str) -> _KeptRun:
        """Returns what was kept of a tracker."""
        return self._read().trackers.get(name, _KeptRun())

    def keep(self, name: str, run: _KeptRun) -> None:
        """Writes the file, with the run of a tracker."""
        content = self._read()
        with self._lock:
            content.trackers[name] = run
            if storage.is_object_store(self._path):
                free_at = self._written_at + deadlines.OBJECT_WRITE_SECS
                time.sleep(max(0.0, free_at - time.monotonic()))
            shared_files.write_text(self._path, json.dumps(dataclasses.asdict(content)) + "\n")
            self._written_at = time.monotonic()

    def _read(self) -> _Content:
        with self._lock:
            if not self._content:
                self._content = shared_files.read_or_warn(
                    functools.partial(schema.parsed, _Content), self._path,
                    "The trackers begin a new run.") or _Content(uuid.uuid4().hex)
            return self._content


class _Follower:
    """The thread of one tracker."""

    def __init__(self, plan: Plan, name: str, kept: _KeptRuns):
        self._plan, self._name, self._kept = plan, name, kept
        self._began = round(time.time(), 3)
        self._run_id = ""
        self._sent: dict[str, float] = {}
        self._tracker: tracker_lib.Tracker | None = None
        self._is_off = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{_THREAD}{name}", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Lets the thread send what is missing, and the end of the run."""
        self._over.set()

    def wait(self, deadline: float, secs: float) -> None:
        """Waits for the thread until a deadline, which is `secs` after the end of the run."""
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._thread.is_alive():
            self._give_up(f"it did not answer within {secs:.0f} s")

    def _give_up(self, why: str) -> None:
        if not self._is_off:
            self._is_off = True
            logging.warning("tracker %s has failed, and does not have the whole run: %s",
                            self._name, why)

    def _run(self) -> None:
        try:
            least_secs = pause_secs = deadlines.history_secs(self._plan.config.model_dir)
            while not self._over.wait(pause_secs):
                began = time.monotonic()
                lines = self._read()
                pause_secs = max(least_secs, _REST * (time.monotonic() - began))
                self._follow(lines, is_last=False)
            self._follow(self._read(), is_last=True)
        except BaseException as error:  # A function may even end its thread.
            self._give_up(f"{type(error).__name__}: {errors.first_line(error)}")

    def _read(self) -> list[history.Line]:
        return history.read(self._plan.config.model_dir, lambda sentence: None)

    def _follow(self, lines: list[history.Line], is_last: bool) -> None:
        """Sends the new lines of the history; of a run that has not begun, none."""
        own = [line for line in lines if line["task"] == self._plan.task.name
               and line["time"] >= self._began and line["kind"] != "exit"]
        if not self._tracker:
            # The record is written before training begins, and before the end.
            if not (own if is_last else any(line["kind"] != "start" for line in own)):
                return
            self._tracker = self._begun()
        new = [line for line in lines if line["time"] > self._sent.get(_key(line), 0.0)]
        if events := [event for line in new if (event := self._event(line))]:
            self._tracker.send(events)
        if new:
            self._sent |= {_key(line): line["time"] for line in new}
            self._keep()
        if is_last:
            ends = [line for line in own if line["kind"] == "end"]
            self._tracker.end({**_end(self._plan, ends[-1] if ends else {}),
                               "run_id": self._kept.run_id})

    def _begun(self) -> tracker_lib.Tracker:
        """Returns the tracker, with a run that has begun, or was joined."""
        model_dir, known = self._plan.config.model_dir, self._kept.of_tracker(self._name)
        made = tracker_lib.made(self._name)
        record = record_file.read_if_whole(model_dir, lambda sentence: None)
        self._run_id = made.start({
            "kind": "start", "run_id": self._kept.run_id, "is_resumed": bool(known.id),
            "name": posixpath.basename(model_dir.rstrip("/")), "model_dir": model_dir,
            "time": self._began, **redaction.masked("", _described(record, self._plan))}, known.id)
        # Another run has none of the lines yet.
        self._sent = dict(known.sent) if self._run_id == known.id else {}
        self._keep()
        return made

    def _keep(self) -> None:
        self._kept.keep(self._name, _KeptRun(self._run_id, self._sent))

    def _event(self, line: history.Line) -> Event | None:
        """Returns the event that a line of the history is; None for other lines."""
        step = line.get("step")
        event = {"run_id": self._kept.run_id, "step": step, "time": line["time"],
                 "task": line["task"]}
        if step is None:
            return None
        if line["kind"] == "evaluation":
            return {**event, "kind": "evaluation", "metrics": _numbers(line.get("metrics", {}))}
        # The loss of another trainer is that of other examples, at steps of its own.
        if line["kind"] == "train" and line["task"] == self._plan.task.name:
            return {**event, "kind": "step", "metrics": _numbers(
                {name: line.get(name) for name in _OF_TRAINING})}
        return None


def _key(line: history.Line) -> str:
    return f"{line['task']} {line['kind']}"


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if isinstance(value, (int, float))}


def _described(record: run_record.RunRecord | None, plan: Plan) -> dict[str, Any]:
    """Returns the params, settings and tags of a run, without secrets, as its record has them."""
    cluster = ", ".join(f"{len(hosts)} {role}" for role, hosts in plan.task.cluster.items())
    tags = {"task": plan.task.name, "cluster": cluster or "none"}
    if record is None:
        return {"params": {}, "settings": {}, "tags": tags}
    tags |= {f"version_{name}": str(version) for name, version in record.versions.items()}
    tags |= {f"{kind}_commit": entry["git"]["commit"] for kind, entry in record.plugins.items()
             if "git" in entry}
    if record.runs and (changes := record.runs[-1].get("changes")):
        tags["changes"] = "; ".join(changes)
    plugins = {kind: entry.get("name", "") for kind, entry in record.plugins.items()}
    return {"params": {**record.params, **record.unrecorded},
            "settings": {**plugins, **record.settings}, "tags": tags}


def _end(plan: Plan, line: Mapping[str, Any]) -> Event:
    """Returns the event of the end, with the final metrics and the exports of a job that is done.
    """
    model_dir, status = plan.config.model_dir, line.get("status", "failed")
    result = checkpoints.read_result(model_dir, lambda sentence: None) if status == "done" else None
    path = posixpath.join(model_dir, model_dir_name.PAGE)
    has_page = plan.config.report and tf.io.gfile.exists(path)
    return {"kind": "end", "status": status, "step": line.get("step"),
            "reason": redaction.without_credentials(str(line.get("reason", ""))),
            "exit_code": line.get("exit_code", 1), "time": line.get("time", time.time()),
            "metrics": _numbers({name: value for name, value in (
                result.metrics if result else {}).items() if name != "global_step"}),
            "exports": list(result.exports) if result else [],
            "report": path if has_page else ""}
