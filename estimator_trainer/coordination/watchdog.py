"""The watchdog: a thread that ends this process when its main thread waits in vain.

TensorFlow waits for a lost peer without limit, inside C++ where no exception reaches it
(tensorflow/tensorflow#47694, tensorflow/tensorflow#45088).
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines
from estimator_trainer import result
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoints
from estimator_trainer.coordination.job_state import JobStateReader
from estimator_trainer.coordination.job_state import JobStateWriter
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.settings.trainer_config import TrainerConfig


class Watchdog:
    """Watches one task: its peers, its progress, and whether it obeys a request to stop."""

    def __init__(self, config: TrainerConfig, task: TaskConfig, stop: Stop,
                 chief: JobStateWriter | JobStateReader):
        """Makes a watchdog; it watches while it is entered as a context.

        Args:
          config: Gives the limits.
          task: Whose process this is.
          stop: Gets the requests of others; what is asked of it is to be obeyed in time.
          chief: The Announcer, in the chief; in the others what watches it.
        """
        self._config, self._task, self._stop, self._chief = config, task, stop, chief
        self._peers = peers.needed(task)
        self._step = 0
        self._has_stepped = self._is_past_steps = False
        self._ticked_at = self._logged_at = time.monotonic()
        self._asked_at: float | None = None
        self._broke_at: float | None = None
        self._down_at: dict[str, float] = {}
        self._has_told_of_model_dir = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def tick(self, step: int | None = None) -> None:
        """Notes that progress was made: a training step, if `step` is given, or other work."""
        self._ticked_at = time.monotonic()
        if step is not None:
            self._step, self._has_stepped = step, True
            self._down_at.clear()

    def leave_steps(self) -> None:
        """Notes that this process makes no more training steps, and needs no peer any more."""
        self.tick()
        self._is_past_steps = True

    def wait_for_end(self) -> None:
        """Waits until this watchdog ends the process, because an all-reduce broke.

        TensorFlow breaks one when a trainer is gone, or did not answer for some 10 s, and does not
        mend it: a new session fails as the one before it did, for ever.
        """
        self._broke_at = time.monotonic()
        self._over.wait()

    def _run(self) -> None:
        while not self._over.wait(deadlines.WATCHDOG_LOOK_SECS):
            try:
                self._look()
            except (OSError, tf.errors.OpError) as error:
                logging.warning("cannot look after the job: %s", error)

    def _look(self) -> None:
        if isinstance(self._chief, JobStateWriter):
            self._obey_others(self._chief)
        else:
            self._obey_chief(self._chief)
        request, now = self._stop.request, time.monotonic()
        if request and not self._is_past_steps:
            self._asked_at = self._asked_at or now
            grace_secs = (deadlines.FAILED_GRACE_SECS if request.status == "failed"
                          else deadlines.SAVE_GRACE_SECS)
            if now - self._asked_at > grace_secs:
                status = "stopped" if request.status == "stopping" else request.status
                self._end(status, f"{request.by}: {request.reason}")
        # An impatient job looks for its peers before half of their time is over.
        patience_secs = min(deadlines.QUIET_SECS, self._config.peer_timeout_secs / 2)
        is_quiet = now - self._ticked_at > patience_secs or self._broke_at is not None
        if self._peers and not self._is_past_steps and is_quiet:
            self._look_for_peers(now)
        quiet_secs, limit = now - self._ticked_at, self._config.stall_timeout_secs
        if quiet_secs > limit and self._task.role != "ps":
            self._end("lost", f"no progress for {limit} s")

    def _obey_others(self, state_writer: JobStateWriter) -> None:
        state_writer.beat()
        state_writer.listen(is_waiting=self._is_past_steps)
        request = state_writer.requested
        if request:
            self._stop.ask(request.status, request.reason, request.by)

    def _obey_chief(self, state_reader: JobStateReader) -> None:
        now, chief = state_reader.now(), self._task.name_of("chief", 0)
        if now and now.status != "running":
            if self._task.is_trainer:
                self._stop.ask(now.status, now.reason, chief)
            return
        if now and state_reader.joined_run and state_reader.joined_run != now.run:
            if self._has_stepped:
                self._end("lost", f"{chief} was started again")
            state_reader.join(self._task.index)
        if now is None and state_reader.silent_secs > self._config.peer_timeout_secs / 2:
            self._tell_if_model_dir_is_not_shared()
        # Without a chief no worker makes a step.
        has_begun = state_reader.has_seen_chief or self._has_stepped
        limit = self._config.peer_timeout_secs if has_begun else self._config.stall_timeout_secs
        if state_reader.silent_secs > limit:
            self._end("lost", f"{chief} gave no sign of life for {limit} s")
        self._log_every(deadlines.QUIET_SECS, state_reader.silent_secs > deadlines.QUIET_SECS,
                        "waiting for %s: no sign of life for %.0f s", chief,
                        state_reader.silent_secs)

    def _tell_if_model_dir_is_not_shared(self) -> None:
        """Says so once if the chief answers: it writes job.json before it starts its server."""
        address = next(iter(self._task.cluster.get("chief", ())), "")
        if address and not self._has_told_of_model_dir and peers.state(address) == "up":
            self._has_told_of_model_dir = True
            logging.warning(
                "model_dir %s seems not to be shared with %s, which answers at %s but wrote no"
                " job.json here. Give every task one directory that all of them see: the same"
                " mount, or one like --model_dir=gs://bucket/job; `check --probe` tells",
                self._config.model_dir, self._task.name_of("chief", 0), address)

    def _look_for_peers(self, now: float) -> None:
        """Logs which peers do not answer, and ends this process when one is gone too long.

        A peer of an all-reduce that was started again answers, and is gone all the same.
        """
        if isinstance(self._chief, JobStateWriter) and self._task.is_all_reduce:
            for i in range(len(self._task.cluster.get("worker", ()))):
                if self._chief.is_joined_twice(i):
                    self._end("lost", f"{self._task.name_of('worker', i)} was started again")
        states = {name: peers.state(address) for name, address in self._peers.items()}
        lost = {name: state for name, state in states.items() if state != "up"}
        self._down_at = {name: self._down_at.get(name, now) for name in lost}
        shown = ", ".join(f"{name} at {self._peers[name]} is {state}"
                          for name, state in lost.items())
        if not lost and self._task.role == "worker" and not self._has_stepped:
            shown = f"waiting for {self._task.name_of('chief', 0)} to make the model ready"
        self._log_every(deadlines.QUIET_SECS, bool(shown), "no step for %.0f s: %s",
                        now - self._ticked_at, shown)
        limit = (self._config.peer_timeout_secs if self._has_stepped
                 else self._config.stall_timeout_secs)
        if any(now - since > limit for since in self._down_at.values()):
            self._end("lost", f"{shown} for {limit} s")
        broken_secs = 0 if self._broke_at is None else now - self._broke_at
        # One that failed first asks all to end, and says why, before it is gone.
        if not self._stop.request and (broken_secs and lost or broken_secs > deadlines.BROKEN_SECS):
            self._end("lost", f"the all-reduce broke: {shown or 'every trainer answers again'}")

    def _log_every(self, secs: float, is_due: bool, message: str, *args: Any) -> None:
        if is_due and time.monotonic() - self._logged_at >= secs:
            self._logged_at = time.monotonic()
            logging.info(message, *args)

    def _end(self, status: result.Status, reason: str) -> None:
        """Ends the process now; what a main thread that hangs held is in no checkpoint."""
        logging.error("ends at once: %s; the last checkpoint is kept", reason)
        if status == "lost":
            faulthandler.dump_traceback(sys.stderr.fileno(), all_threads=True)
        step = checkpoints.latest_step(self._config.model_dir)
        if isinstance(self._chief, JobStateWriter):
            self._chief.announce(status, step, reason)
        result.print_last_line(result.Result(self._task.name, status, step, reason))
        os._exit(result.EXIT_CODES[status])
