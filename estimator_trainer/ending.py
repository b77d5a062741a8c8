"""The end of training: how every role learns that it came, at which step, and why.

The chief keeps it in `model_dir/job.json`, with an id of its run, and is the only writer; the
others read. Another task that wants training to end asks for it in `model_dir/stop.json`, for
the run it sees; a worker that has finished its part says so in `worker-INDEX.left`. What a task
finds there when it starts may be of an earlier run in the same model_dir, which must not end this
one. Nothing is locked, and no two clocks are compared.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
import threading
import time
from typing import Any
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import checkpoints
from estimator_trainer.stop import Request

JOB_FILE = "job.json"
_REQUEST_FILE = "stop.json"
_LEFT_FILE = "worker-%d.left"
_JOINED_FILE = "worker-%d.joined"
_BEAT_SECS = 5.0
# That many may be late on a busy machine before the others take the chief for lost.
_BEATS_TO_MISS = 5
# A task that starts after the end (late, or restarted) sees no new run begin in this time.
_STALE_SECS = 60.0
_POLL_SECS = 0.25
_GOES_ON = ("running", "stopping")


@dataclasses.dataclass(frozen=True)
class Ending:
    """What job.json holds.

    Attributes:
      run: Id of the chief's process.
      status: "running"; "stopping", when the chief asks the trainers to stop; "done", "stopped",
        "failed" or "lost" after the end.
      step: The global step of the final checkpoint; 0 before the end.
      reason: Why training ended, or is to; "" while running.
      finisher: The task that evaluates the final checkpoint, once that is not the evaluator.
      beat: Grows while the chief lives.
    """

    run: str
    status: str
    step: int = 0
    reason: str = ""
    finisher: str = ""
    beat: int = 0


class Announcer:
    """The chief's side: says that a run began, that it lives, and how it ended."""

    def __init__(self, model_dir: str, is_heard: bool, peer_timeout_secs: float = 60):
        """Makes an announcer.

        Args:
          model_dir: The job's.
          is_heard: Whether there may be others; a run on its own writes nothing.
          peer_timeout_secs: How long the others wait for a sign of life.
        """
        self._model_dir = model_dir
        self._is_heard = is_heard
        self._beat_secs = min(_BEAT_SECS, peer_timeout_secs / _BEATS_TO_MISS)
        self._lock = threading.Lock()
        self._now = Ending(uuid.uuid4().hex, "")
        self._written_at = 0.0

    def announce(self, status: str, step: int = 0, reason: str = "", finisher: str = "") -> None:
        """Tells every role how the job stands; see Ending."""
        with self._lock:
            self._write(Ending(self._now.run, status, step, reason, finisher))

    def beat(self) -> None:
        """Shows that the chief lives; to be called often, writes rarely."""
        if time.monotonic() - self._written_at < self._beat_secs:
            return
        with self._lock:
            if self._now.status in _GOES_ON:
                try:
                    self._write(dataclasses.replace(self._now, beat=self._now.beat + 1))
                except tf.errors.OpError as error:
                    logging.warning("cannot write %s: %s", JOB_FILE, error.message)

    def requested(self) -> Request | None:
        """Returns what another task asks of this run."""
        content = _read(self._model_dir, _REQUEST_FILE) if self._is_heard else None
        if not content or content.pop("run", None) != self._now.run:
            return None
        return Request(**content)

    def has_left(self, worker: int) -> bool:
        """Returns whether the worker of that index has finished its part of this run."""
        return _read(self._model_dir, _LEFT_FILE % worker) == {"run": self._now.run}

    def is_joined_twice(self, worker: int) -> bool:
        """Returns whether a second process of that worker wanted to join this run."""
        return _read(self._model_dir, _JOINED_FILE % worker) == {
            "run": self._now.run, "is_joined_twice": True}

    def _write(self, ending: Ending) -> None:
        self._now, self._written_at = ending, time.monotonic()
        if self._is_heard:
            _write(self._model_dir, JOB_FILE, dataclasses.asdict(ending))


class Watch:
    """The others' side: looks whether training goes on, and asks for its end.

    Attributes:
      joined_run: Id of the run that a worker of an all-reduce takes part in; "" before it does.
    """

    def __init__(self, model_dir: str, max_steps: int | None):
        """Starts to watch.

        Args:
          model_dir: The job's.
          max_steps: Where training ends: an earlier run that got there has ended this one too.
        """
        self.joined_run = ""
        self._model_dir = model_dir
        self._max_steps = max_steps
        self._found = self._last = self._read()
        self._start = self._changed_at = time.monotonic()

    @property
    def has_seen_chief(self) -> bool:
        """Whether the chief wrote anything since this task began."""
        return self._last != self._found

    @property
    def silent_secs(self) -> float:
        """Seconds since the chief last wrote anything, or since this task began."""
        return time.monotonic() - self._changed_at

    def ending(self) -> Ending | None:
        """Returns how training ended, or None as long as it may go on."""
        now = self.now()
        return None if now is None or now.status in _GOES_ON else now

    def now(self) -> Ending | None:
        """Returns how the job stands; None if it has not begun, as far as can be seen."""
        now = self._read()
        if now is not None and now != self._last:
            self._last, self._changed_at = now, time.monotonic()
        if now is None or now.status == "running":
            return now
        if now.status == "stopping":
            # Seen from the start, it is of a chief that was killed then, or soon says more.
            return None if now == self._found else now
        is_reached = self._max_steps and now.status == "done" and now.step >= self._max_steps
        may_be_stale = now == self._found and time.monotonic() - self._start < _STALE_SECS
        return None if may_be_stale and not is_reached else now

    def wait(self, secs: float) -> Ending | None:
        """Waits at most `secs` until the chief says how training ended, and returns that."""
        deadline = time.monotonic() + secs
        while (found := self.ending()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_SECS)
        return found

    def ask(self, status: str, reason: str, by: str) -> None:
        """Asks the chief to end the run that goes on; without one there is nothing to end."""
        now = self.now()
        if now is not None and now.status == "running":
            content = {"run": now.run, "status": status, "reason": reason, "by": by}
            _write(self._model_dir, _REQUEST_FILE, content)

    def join(self, worker: int) -> bool:
        """Tells the chief that the worker of that index takes part in the run that goes on.

        Returns:
          Whether it may: an all-reduce cannot take in a second process of a worker.
        """
        run = self._last.run if self._last else ""
        before = _read(self._model_dir, _JOINED_FILE % worker) or {}
        is_second = before.get("run") == run
        if not before.get("is_joined_twice") or not is_second:
            _write(self._model_dir, _JOINED_FILE % worker,
                   {"run": run, "is_joined_twice": is_second})
        self.joined_run = self.joined_run if is_second else run
        return not is_second

    def leave(self, worker: int) -> None:
        """Tells the chief that the worker of that index has finished its part."""
        _write(self._model_dir, _LEFT_FILE % worker, {"run": self._last.run if self._last else ""})

    def _read(self) -> Ending | None:
        try:
            content = _read(self._model_dir, JOB_FILE)
            return Ending(**content) if content else None
        except TypeError:
            return None


def _write(model_dir: str, name: str, content: dict[str, Any]) -> None:
    checkpoints.write_text(posixpath.join(model_dir, name), json.dumps(content) + "\n")


def _read(model_dir: str, name: str) -> dict[str, Any] | None:
    try:
        with tf.io.gfile.GFile(posixpath.join(model_dir, name)) as file:
            return dict(json.load(file))
    except (tf.errors.NotFoundError, ValueError):
        # Not there, or half of it where a file system moves files in two steps.
        return None
