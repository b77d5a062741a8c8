"""The view of the job is what a task sees of the others through the files in model_dir.

The chief and the other tasks see different things; the watchdog asks both in the same way.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol

from absl import logging

from estimator_trainer import deadlines
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import membership
from estimator_trainer.coordination.job_state import JobStateReader, JobStateWriter
from estimator_trainer.coordination.lease import Lease
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.result import Status
from estimator_trainer.settings.trainer_config import TrainerConfig


@dataclasses.dataclass(frozen=True)
class Observation:
    """The outcome of one look at the job.

    Attributes:
      lost: Why this process must end now; "" if it need not.
      waiting: What this process waits for, for the log; "" if for nothing.
    """

    lost: str = ""
    waiting: str = ""


class JobView(Protocol):
    """What the watchdog asks of either view."""

    def poll(self, has_stepped: bool, is_past_steps: bool) -> Observation:
        """Looks how the job stands, and asks this process for what others ask of it.

        Args:
          has_stepped: Whether this process has made a training step.
          is_past_steps: Whether it makes no more.
        """

    def restarted_peer(self) -> str:
        """Returns the name of a peer of an all-reduce that was started again, or ""."""

    def tell_end(self, status: Status, step: int, reason: str) -> None:
        """Tells the other tasks that this process ends now, if they are to know."""


class ChiefView:
    """The view of the chief, which shows that it lives, and hears what the others say."""

    def __init__(self, task: TaskConfig, stop: Stop, state_writer: JobStateWriter, lease: Lease):
        """Makes the view; `stop` gets the requests of the others."""
        self._task, self._stop, self._state_writer = task, stop, state_writer
        self._lease, self._is_replaced = lease, False

    def poll(self, has_stepped: bool, is_past_steps: bool) -> Observation:
        other = self._lease.lost_to(is_stopping=not self._stop.is_done)
        if other:
            self._is_replaced = True
            return Observation(lost=f"model_dir was taken over by {other}")
        self._state_writer.write_heartbeat()
        self._state_writer.listen(is_waiting=is_past_steps)
        request = self._state_writer.requested
        if request:
            self._stop.request_end(request.status, request.reason, request.by)
        return Observation()

    def restarted_peer(self) -> str:
        if self._task.is_all_reduce:
            for i in range(len(self._task.cluster.get("worker", ()))):
                if self._state_writer.is_joined_twice(i):
                    return self._task.name_of("worker", i)
        return ""

    def tell_end(self, status: Status, step: int, reason: str) -> None:
        # The files of model_dir are the other training's by now.
        if not self._is_replaced:
            self._state_writer.announce(status, step, reason)
            self._lease.release()


class OthersView:
    """The view of a worker, ps or evaluator, which watches the chief."""

    def __init__(self, config: TrainerConfig, task: TaskConfig, stop: Stop,
                 state_reader: JobStateReader):
        """Makes the view.

        Args:
          config: The settings, which limit how long the chief may be silent.
          task: The task of this process.
          stop: Gets the chief's request to stop, in a trainer.
          state_reader: Reads what the chief writes.
        """
        self._config, self._task, self._stop = config, task, stop
        self._state_reader = state_reader
        self._chief = task.name_of("chief", 0)
        self._has_told_of_model_dir = self._has_agreed = False

    def poll(self, has_stepped: bool, is_past_steps: bool) -> Observation:
        reader, now = self._state_reader, self._state_reader.now()
        if now and now.status != "running":
            if self._task.is_trainer:
                self._stop.request_end(now.status, now.reason, self._chief)
            return Observation()
        if now and membership.agrees(self._task, now):
            self._has_agreed = True
        elif now and self._has_agreed and self._task.role != "evaluator":
            return Observation(lost=f"{self._chief} was started again with another cluster")
        if now and reader.joined_run and reader.joined_run != now.run:
            if has_stepped:
                return Observation(lost=f"{self._chief} was started again")
            reader.join(self._task.index)
        if now is None and reader.silent_secs > self._config.peer_timeout_secs / 2:
            self._tell_if_model_dir_is_not_shared()
        # Without a chief no worker makes a step.
        has_begun = reader.has_seen_chief or has_stepped
        limit = self._config.peer_timeout_secs if has_begun else self._config.stall_timeout_secs
        if reader.silent_secs > limit:
            return Observation(lost=f"{self._chief} gave no sign of life for {limit} s")
        if reader.silent_secs > deadlines.QUIET_SECS:
            return Observation(waiting=f"waiting for {self._chief}: no sign of life for"
                               f" {reader.silent_secs:.0f} s")
        return Observation()

    def restarted_peer(self) -> str:
        return ""

    def tell_end(self, status: Status, step: int, reason: str) -> None:
        pass

    def _tell_if_model_dir_is_not_shared(self) -> None:
        """Warns once if the chief answers, since it writes job.json before it starts its server."""
        address = next(iter(self._task.cluster.get("chief", ())), "")
        if address and not self._has_told_of_model_dir and peers.state(address) == "up":
            self._has_told_of_model_dir = True
            logging.warning(
                "model_dir %s seems not to be shared with %s, which answers at %s but wrote no"
                " job.json here. Give every task one directory that all of them see: the same"
                " mount, or one like --model_dir=gs://bucket/job; `check --probe` tells",
                self._config.model_dir, self._chief, address)
