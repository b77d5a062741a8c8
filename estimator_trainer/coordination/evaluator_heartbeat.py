"""The evaluator's beat tells the chief that an evaluator runs, when TF_CONFIG does not say so.

Vertex AI and others keep the evaluator out of every cluster. So the evaluator writes a beat into
model_dir every few seconds, and at its end the step that it evaluated last, or that it failed. A
beat that does not change belongs to a process that is gone; no clock is compared, and nothing is
locked.
"""

from __future__ import annotations

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
from estimator_trainer.settings.trainer_config import TrainerConfig

_FILE = "evaluator.beat"
_LOG_SECS = 10.0


@dataclasses.dataclass(frozen=True)
class _Heartbeat:
    """The content of `evaluator.beat`.

    Attributes:
      process: Id of the evaluator's process; "" after its end.
      count: Number of beats of that process.
      evaluated: The step that was evaluated last, after the end; -1 before.
      failed: Whether the evaluator failed.
    """

    process: str = ""
    count: int = 0
    evaluated: int = -1
    failed: bool = False


@contextlib.contextmanager
def sending_heartbeats(model_dir: str, last_step: Callable[[], int]) -> Iterator[None]:
    """Shows, within the context, that this process is the evaluator of model_dir.

    Args:
      model_dir: The job's directory.
      last_step: Returns the step that was evaluated last; called at the end.
    """
    stop = threading.Event()
    path = posixpath.join(model_dir, _FILE)
    heartbeat_secs = deadlines.poll_intervals(model_dir).evaluator_heartbeat_secs

    def beat() -> None:
        process, count = uuid.uuid4().hex, 0
        while not stop.wait(heartbeat_secs if count else 0):
            count += 1
            shared_files.try_to_write(path, {"process": process, "count": count})

    thread = threading.Thread(target=beat, name="evaluator beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    shared_files.write(path, {"evaluated": last_step()})


class Presence:
    """Tells a chief that evaluates by itself whether there is an evaluator beside it.

    TFJob and Vertex AI leave the evaluator out of the cluster that they tell the chief of.
    """

    def __init__(self, model_dir: str):
        """Reads the beat, which may be that of an earlier job's evaluator."""
        self._model_dir = model_dir
        self._path = posixpath.join(model_dir, _FILE)
        self._last, self._changed_at = shared_files.read_as(_Heartbeat, self._path), -math.inf

    def is_there(self) -> bool:
        """Returns whether an evaluator has given a sign of life since the last look, or lately."""
        now = shared_files.read_as(_Heartbeat, self._path)
        if now is not None and now != self._last:
            self._last, self._changed_at = now, time.monotonic()
        is_alive = self._last is not None and bool(self._last.process)
        lost_secs = deadlines.poll_intervals(self._model_dir).evaluator_lost_secs
        return is_alive and time.monotonic() - self._changed_at < lost_secs


def tell_failure(model_dir: str) -> None:
    """Tells the chief that the evaluator has failed, so that the chief need not wait for it."""
    shared_files.try_to_write(posixpath.join(model_dir, _FILE), {"failed": True})


def evaluator_finishes(config: TrainerConfig, task: TaskConfig, step: int, stop: Stop) -> bool:
    """Waits until an evaluator has evaluated and exported the final checkpoint.

    The chief waits, since on many platforms its end is the end of all other tasks.

    Args:
      config: The settings, which name model_dir.
      task: The chief, which knows whether TF_CONFIG lists an evaluator.
      step: The global step of the final checkpoint.
      stop: Ends the wait when this task is asked to stop.

    Returns:
      False if there is no evaluator, or it is gone: then the chief has to evaluate. An evaluator
      that hangs ends itself; see Watchdog.

    Raises:
      Interrupted: if this task is asked to stop.
    """
    if task.name == "local":
        return False
    patience_secs = deadlines.EVALUATOR_STARTS_SECS if task.has_evaluator else 0.0
    poll_intervals = deadlines.poll_intervals(config.model_dir)
    beat, changed_at, logged_at = None, time.monotonic(), time.monotonic()
    while True:
        now = shared_files.read_as(_Heartbeat, posixpath.join(config.model_dir, _FILE))
        if now and now.evaluated >= step:
            logging.info("the evaluator has evaluated and exported the final checkpoint")
            return True
        if now and now.failed:
            beat = now
            break
        if now and now != beat:
            beat, changed_at = now, time.monotonic()
            patience_secs = max(patience_secs, poll_intervals.evaluator_lost_secs)
        if time.monotonic() - changed_at >= patience_secs:
            break
        if time.monotonic() - logged_at >= _LOG_SECS:
            logged_at = time.monotonic()
            logging.info("waiting for the evaluator to evaluate step %d", step)
        stop.sleep(poll_intervals.presence_secs)
        stop.check()
    who = "the evaluator is gone" if beat or task.has_evaluator else "no evaluator in this job"
    logging.info("%s: %s evaluates and exports", who, task.name)
    return False
