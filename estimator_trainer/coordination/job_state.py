"""The state of the job, from which every task learns that training ended, at which step, and why.

The chief keeps the state in `model_dir/job.json`, with an id of its run. It alone writes there; the
others read, and leave messages to the chief: see messages.py. What a task finds when it starts may
be that of an earlier run, which must not end this one. No file is locked, no clocks are compared.
"""

from __future__ import annotations

import contextlib
import dataclasses
import posixpath
import threading
import time
from typing import Mapping
import uuid

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.coordination import messages, shared_files, small_files
from estimator_trainer.coordination.stop import Request, Stop
from estimator_trainer.result import Status

JOB_FILE = "job.json"
_POLL_SECS = 0.25
_GOES_ON = ("running", "stopping")


@dataclasses.dataclass(frozen=True)
class JobState:
    """How a job stands, as `model_dir/job.json` says it.

    Attributes:
      run: Id of the chief's process, a new one for each.
      status: "running"; "stopping", when the chief asks the trainers to stop; "done", "stopped",
        "failed" or "lost" after the end.
      step: The global step of the final checkpoint; 0 before the end.
      reason: Why training ended, or is to; "" while running.
      finisher: The task that evaluates the final checkpoint, once that is not the evaluator.
      beat: Number of signs of life since the last change.
      cluster: Number of tasks by role, as the chief was told; {} if it does not say so.
      addresses: The fingerprint of the chief's cluster; "" if it does not say so.
      is_complete: Whether all trainers of an all-reduce have joined the run.
    """

    run: str
    status: Status
    step: int = 0
    reason: str = ""
    finisher: str = ""
    beat: int = 0
    cluster: Mapping[str, int] = dataclasses.field(default_factory=dict)
    addresses: str = ""
    is_complete: bool = False


class JobStateWriter:
    """The chief's side says that a run began, that the chief lives, and how the run ended."""

    def __init__(self, model_dir: str, is_heard: bool,
                 peer_timeout_secs: float = deadlines.PEER_TIMEOUT_SECS,
                 cluster: Mapping[str, int] | None = None, addresses: str = ""):
        """Makes the writer.

        Args:
          model_dir: The job's directory.
          is_heard: Whether there may be other tasks; a run on its own writes nothing.
          peer_timeout_secs: How long the others wait for a sign of life.
          cluster: Number of tasks by role.
          addresses: The fingerprint of the cluster.
        """
        self._model_dir, self._is_heard = model_dir, is_heard
        self._poll_intervals = deadlines.poll_intervals(model_dir, peer_timeout_secs)
        self._lock = threading.Lock()
        self._now = JobState(uuid.uuid4().hex, "running", cluster=cluster or {},
                             addresses=addresses)
        self._has_begun = False
        self._written_at = self._polled_at = 0.0
        self._said: frozenset[str] = frozenset()
        self._request: Request | None = None

    def announce(self, status: Status, step: int = 0, reason: str = "", finisher: str = "") -> None:
        """Tells every task how the job stands; see JobState."""
        with self._lock:
            if self._is_heard and not self._has_begun:
                messages.begin(self._model_dir)
            self._has_begun = True
            self._write(dataclasses.replace(
                self._now, status=status, step=step, reason=reason, finisher=finisher, beat=0))

    def gather(self, num_workers: int, stop: Stop) -> None:
        """Waits until all workers of an all-reduce have joined the run, and tells them so.

        TensorFlow's own wait for them lasts an hour, and neither a signal nor a thread of Python
        reaches the process meanwhile.

        Raises:
          Interrupted: if this process is asked to stop.
        """
        missing = {f"worker-{index}.joined" for index in range(num_workers)}
        while not missing <= self._said:
            stop.check()
            stop.sleep(_POLL_SECS)
            self.listen(is_waiting=True)
        with self._lock:
            self._write(dataclasses.replace(self._now, is_complete=True))

    def write_heartbeat(self) -> None:
        """Shows that the chief lives; is called often, and writes rarely."""
        if time.monotonic() - self._written_at < self._poll_intervals.chief_heartbeat_secs:
            return
        with self._lock:
            if self._has_begun and self._now.status in _GOES_ON:
                try:
                    self._write(dataclasses.replace(self._now, beat=self._now.beat + 1))
                except tf.errors.OpError as error:
                    logging.warning("cannot write %s: %s", JOB_FILE, errors.first_line(error))

    def listen(self, is_waiting: bool) -> None:
        """Looks what the other tasks say to this run; is called often, and looks rarely.

        Args:
          is_waiting: Whether the chief waits for others, and does not train.
        """
        poll_intervals = self._poll_intervals
        secs = poll_intervals.chief_waits_secs if is_waiting else poll_intervals.chief_trains_secs
        goes_on = self._has_begun and self._now.status in _GOES_ON
        if not goes_on or not self._is_heard or time.monotonic() - self._polled_at < secs:
            return
        self._polled_at = time.monotonic()
        self._said = messages.received(self._model_dir, self._now.run)
        for name in sorted(self._said):
            if name.endswith(".stop") and self._request is None:
                self._request = messages.read_as(Request, self._model_dir, self._now.run, name)

    @property
    def requested(self) -> Request | None:
        """The first request of another task to this run, of those that were heard."""
        return self._request

    def has_left(self, worker: int) -> bool:
        """Returns whether the worker of that index has finished its part, as far as heard."""
        return f"worker-{worker}.left" in self._said

    def is_joined_twice(self, worker: int) -> bool:
        """Returns whether a second process of that worker wanted to join, as far as heard."""
        return f"worker-{worker}.joined-twice" in self._said

    def _write(self, final_state: JobState) -> None:
        self._now, self._written_at = final_state, time.monotonic()
        if self._is_heard:
            shared_files.write(posixpath.join(self._model_dir, JOB_FILE),
                               dataclasses.asdict(final_state))


class JobStateReader:
    """The others' side looks whether training goes on, and asks for its end.

    Attributes:
      joined_run: Id of the run that a worker of an all-reduce takes part in; "" before it does.
    """

    def __init__(self, model_dir: str, max_steps: int | None, poll_secs: float = 0.0):
        """Starts to read.

        Args:
          model_dir: The job's directory.
          max_steps: The last step of training; a run that got there has ended this one, too.
          look_secs: The least seconds between two looks; between them the last one counts.
        """
        self.joined_run = ""
        self._refused_run: str | None = None
        self._model_dir, self._max_steps, self._poll_secs = model_dir, max_steps, poll_secs
        self._lock = threading.Lock()
        # Some disks remember that a folder was not there; see small_files.read.
        with contextlib.suppress(tf.errors.OpError):
            small_files.make_folder(model_dir)
        self._seen = self._read()
        self._found = self._last = self._seen
        self._start = self._changed_at = self._seen_at = time.monotonic()

    @property
    def has_seen_chief(self) -> bool:
        """Whether the chief wrote anything since this task began."""
        return self._last != self._found

    @property
    def silent_secs(self) -> float:
        """Seconds since the chief last wrote anything, or since this task began."""
        return time.monotonic() - self._changed_at

    def final_state(self) -> JobState | None:
        """Returns how training ended, or None as long as it may go on."""
        now = self.now()
        return None if now is None or now.status in _GOES_ON else now

    def now(self) -> JobState | None:
        """Returns how the job stands; None if it has not begun, as far as can be seen."""
        now = self._poll(self._poll_secs)
        if now is not None and now != self._last:
            self._last, self._changed_at = now, time.monotonic()
        if now is None or now.status == "running":
            return now
        if now.status == "stopping":
            # If it was there at the start, that chief was killed, or says more soon.
            return None if now == self._found else now
        is_reached = self._max_steps and now.status == "done" and now.step >= self._max_steps
        age_secs = time.monotonic() - self._start
        may_be_stale = now == self._found and age_secs < deadlines.STALE_STATE_SECS
        return None if may_be_stale and not is_reached else now

    def expect_end_at(self, step: int) -> None:
        """Looks more often, if looks are rare, when training is to end at `step`, or has."""
        if self._max_steps and step >= self._max_steps:
            self._poll_secs = min(self._poll_secs, deadlines.GOAL_POLL_SECS)

    def wait(self, secs: float) -> JobState | None:
        """Waits at most `secs` until the chief says how training ended, and returns that."""
        deadline = time.monotonic() + secs
        while (found := self.final_state()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_SECS)
        return found

    def request_end(self, status: Status, reason: str, by: str) -> None:
        """Asks the chief to end the run that goes on; without one there is nothing to end."""
        # A state that cannot be read now is most likely what it was at the last look.
        now = self._poll(0) or self._last
        if now is None or now.status != "running":
            return
        try:
            messages.send(self._model_dir, now.run, f"{by.replace(':', '-')}.stop",
                          {"status": status, "reason": reason, "by": by})
        except tf.errors.OpError as error:
            # The chief cannot write there either, and ends by that.
            logging.warning("cannot tell the chief: %s", errors.first_line(error))

    def join(self, worker: int) -> bool:
        """Tells the chief that a worker takes part in the run that goes on; returns whether it may.

        An all-reduce cannot take in a second process of a worker.
        """
        run = self._last.run if self._last else ""
        if run == self._refused_run:
            return False
        said = messages.received(self._model_dir, run)
        joined, joined_twice = f"worker-{worker}.joined", f"worker-{worker}.joined-twice"
        is_second = joined in said
        if not is_second:
            self.joined_run = run
            messages.send(self._model_dir, run, joined)
        else:
            self._refused_run = run
            if joined_twice not in said:
                messages.send(self._model_dir, run, joined_twice)
        return not is_second

    def withdraw(self, worker: int) -> None:
        """Lets another process of a worker of an all-reduce take part; this one has not begun."""
        if self.joined_run:
            messages.take_back(self._model_dir, self.joined_run, f"worker-{worker}.joined")

    def leave(self, worker: int) -> None:
        """Tells the chief that the worker of that index has finished its part."""
        messages.send(self._model_dir, self._last.run if self._last else "",
                      f"worker-{worker}.left")

    def _poll(self, most_secs: float) -> JobState | None:
        """Returns what job.json holds, or held at most `most_secs` ago; for any thread."""
        with self._lock:
            if time.monotonic() - self._seen_at >= most_secs:
                self._seen, self._seen_at = self._read(), time.monotonic()
            return self._seen

    def _read(self) -> JobState | None:
        return shared_files.read_as(JobState, posixpath.join(self._model_dir, JOB_FILE))
