"""The evaluator's heartbeat, by which the chief learns that an evaluator runs.

Vertex AI and others keep the evaluator out of every TF_CONFIG's cluster. The evaluator therefore
writes a heartbeat into model_dir every few seconds, and at its end the last evaluated step, or its
failure. A heartbeat that does not change belongs to a process that has ended; no clock is compared,
and nothing is locked.
"""

import contextlib
import dataclasses
import math
import posixpath
import threading
import time
from typing import Callable, Iterator
import uuid

from absl import logging

from estimator_trainer import deadlines
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import shared_files
from estimator_trainer.coordination.stop import Stop

_FILE = "evaluator.beat"
_LOG_SECS = 10.0


@dataclasses.dataclass(frozen=True)
class _Heartbeat:
    """The content of `evaluator.beat`.

    Attributes:
      process: Id of the evaluator's process; "" after its end.
      count: Number of heartbeats of that process.
      evaluated: The last evaluated step, after the end; -1 before.
    """

    process: str = ""
    count: int = 0
    evaluated: int = -1
    failed: bool = False


@contextlib.contextmanager
def sending_heartbeats(model_dir: str, last_step: Callable[[], int]) -> Iterator[None]:
    """Writes heartbeats of this evaluator within the context, and then its last step."""
    stop = threading.Event()
    path = posixpath.join(model_dir, _FILE)
    heartbeat_secs = deadlines.poll_intervals(model_dir).evaluator_heartbeat_secs

    def send() -> None:
        process, count = uuid.uuid4().hex, 0
        while not stop.wait(heartbeat_secs if count else 0):
            count += 1
            shared_files.try_to_write_json(path, {"process": process, "count": count})

    thread = threading.Thread(target=send, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    shared_files.write_json(path, {"evaluated": last_step()})


class Presence:
    """Polls whether an evaluator runs beside a chief that evaluates by itself."""

    def __init__(self, model_dir: str):
        """Reads the heartbeat, which may be left from an earlier job's evaluator."""
        self._model_dir = model_dir
        self._path = posixpath.join(model_dir, _FILE)
        self._last, self._changed_at = shared_files.read_as(_Heartbeat, self._path), -math.inf

    def poll(self) -> bool:
        """Reads the heartbeat, and returns whether it has changed now or lately."""
        now = shared_files.read_as(_Heartbeat, self._path)
        if now is not None and now != self._last:
            self._last, self._changed_at = now, time.monotonic()
        is_alive = self._last is not None and bool(self._last.process)
        lost_secs = deadlines.poll_intervals(self._model_dir).evaluator_lost_secs
        return is_alive and time.monotonic() - self._changed_at < lost_secs


def has_evaluated(model_dir: str, step: int) -> bool:
    """Returns whether an evaluator has ended after the evaluation of `step`, or of a later one."""
    found = shared_files.read_as(_Heartbeat, posixpath.join(model_dir, _FILE))
    return found is not None and found.evaluated >= step


def write_failure(model_dir: str) -> None:
    """Writes that the evaluator has failed, so that the chief does not wait for it."""
    shared_files.try_to_write_json(posixpath.join(model_dir, _FILE), {"failed": True})


def wait(model_dir: str, task: TaskConfig, step: int, stop: Stop) -> bool:
    """Waits until an evaluator has evaluated and exported the final checkpoint, of `step`.

    On many platforms all other tasks end with the chief. Returns False if there is no evaluator, or
    it is gone: then the chief has to evaluate. An evaluator that hangs is ended by its Watchdog.

    Raises:
      Interrupted: if this task is requested to stop.
    """
    if task.name == "local":
        return False
    patience_secs = deadlines.EVALUATOR_STARTS_SECS if task.has_evaluator else 0.0
    poll_intervals = deadlines.poll_intervals(model_dir)
    last, changed_at, logged_at = None, time.monotonic(), time.monotonic()
    while True:
        now = shared_files.read_as(_Heartbeat, posixpath.join(model_dir, _FILE))
        if now and now.evaluated >= step:
            logging.info("the evaluator has evaluated and exported the final checkpoint")
            return True
        if now and now != last:
            last, changed_at = now, time.monotonic()
            patience_secs = max(patience_secs, poll_intervals.evaluator_lost_secs)
        if now and now.failed or time.monotonic() - changed_at >= patience_secs:
            break
        if time.monotonic() - logged_at >= _LOG_SECS:
            logged_at = time.monotonic()
            logging.info("waiting for the evaluator to evaluate step %d", step)
        stop.sleep(poll_intervals.presence_secs)
        stop.check()
    reason = "the evaluator is gone" if last or task.has_evaluator else "no evaluator in this job"
    logging.info("%s: %s evaluates and exports", reason, task.name)
    return False
