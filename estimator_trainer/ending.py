"""The end of training: how every role learns that it came, at which step, and why.

The chief keeps it in `model_dir/job.json`, with an id of its run; it is the only writer, and the
others read. What a task finds there when it starts may be of an earlier run in the same
model_dir, which must not end this one.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
import time
from typing import Any
import uuid

import tensorflow as tf

from estimator_trainer import checkpoints

_FILE = "job.json"
# A task that starts after the end (late, or restarted) sees no new run begin in this time.
_STALE_SECS = 60.0


@dataclasses.dataclass(frozen=True)
class Ending:
    """What job.json holds.

    Attributes:
      run: Id of the chief's process.
      status: "running", "done" or "failed".
      step: The global step of the final checkpoint; 0 while running.
      reason: Why training ended; "" while running.
    """

    run: str
    status: str
    step: int = 0
    reason: str = ""


class Announcer(tf.estimator.SessionRunHook):
    """The chief's side: says that a run began, when its session is ready, and how it ended."""

    def __init__(self, model_dir: str, is_heard: bool):
        """Makes the hook.

        Args:
          model_dir: The job's.
          is_heard: Whether there may be others; a run on its own writes nothing.
        """
        self._path = posixpath.join(model_dir, _FILE)
        self._is_heard = is_heard
        self._run = uuid.uuid4().hex

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self._write(Ending(self._run, "running"))

    def announce(self, status: str, step: int, reason: str) -> None:
        """Tells every role that training ended; `status` is "done" or "failed"."""
        self._write(Ending(self._run, status, step, reason))

    def _write(self, ending: Ending) -> None:
        if self._is_heard:
            checkpoints.write_text(self._path,
                                   json.dumps(dataclasses.asdict(ending)) + "\n")


class Watch:
    """The others' side: looks whether training has ended."""

    def __init__(self, model_dir: str, max_steps: int | None):
        """Starts to watch.

        Args:
          model_dir: The job's.
          max_steps: Where training ends: an earlier run that got there has ended this one too.
        """
        self._path = posixpath.join(model_dir, _FILE)
        self._max_steps = max_steps
        self._found = self._read()
        self._start = time.monotonic()

    def ending(self) -> Ending | None:
        """Returns how training ended, or None as long as it may go on."""
        now = self._read()
        if now is None or now.status == "running":
            return None
        is_reached = self._max_steps and now.status == "done" and now.step >= self._max_steps
        may_be_stale = now == self._found and time.monotonic() - self._start < _STALE_SECS
        return None if may_be_stale and not is_reached else now

    def _read(self) -> Ending | None:
        try:
            with tf.io.gfile.GFile(self._path) as file:
                return Ending(**json.load(file))
        except (tf.errors.NotFoundError, ValueError, TypeError):
            # Not there, or half of it where a file system moves files in two steps.
            return None
