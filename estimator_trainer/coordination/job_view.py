"""The view of a job: what a task sees of the others through the files in model_dir.

The chief and the other tasks see different files; the watchdog polls both views in the same way.

A task takes part in a job only with the chief's cluster. Tasks divide the data by the number of
tasks in each role, and TensorFlow finds a task by its index in a role. With other numbers, such as
after a job was scaled, a task would read wrong shards, or break the job. A cluster that has no
address in common with the chief's belongs to another job in the same model_dir.

In a job with ps the number of workers alone may differ. The data is divided by the chief's number,
and a ps, which fetches tensors from workers, may know the addresses of workers that come later.
"""

import abc
import time
from typing import Mapping, NamedTuple

from absl import logging

from estimator_trainer import deadlines, errors, task_events
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination.job_state import JobState, JobStateReader, JobStateWriter
from estimator_trainer.coordination.lease import Lease
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.result import Status
from estimator_trainer.settings.trainer_config import TrainerConfig


class Observation(NamedTuple):
    """The result of one poll: why this process must end now, and what it waits for; or ""."""

    lost: str = ""
    waiting: str = ""


class JobView(abc.ABC):
    """The part of both views that the watchdog needs."""

    @abc.abstractmethod
    def poll(self, has_stepped: bool, is_past_steps: bool) -> Observation:
        """Reads how the job stands, and passes other tasks' requests on to this process."""

    def restarted_peer(self) -> str:
        """Returns the name of a peer of an all-reduce that was started again, or ""."""
        return ""

    def announce_end(self, status: Status, step: int, reason: str) -> None:
        """Announces to the other tasks that this process ends now, if they depend on it."""


class ChiefView(JobView):
    """The view of the chief, which sends heartbeats and receives messages."""

    def __init__(self, task: TaskConfig, stop: Stop, state_writer: JobStateWriter, lease: Lease):
        """Makes the view; `stop` gets the requests of the other tasks."""
        self._task, self._stop, self._state_writer = task, stop, state_writer
        self._lease, self._is_replaced = lease, False
        self._trainers = _Trainers(task, state_writer)

    def poll(self, has_stepped: bool, is_past_steps: bool) -> Observation:
        other = self._lease.renew(is_stopping=not self._stop.is_done)
        if other:
            self._is_replaced = True
            return Observation(lost=f"model_dir was taken over by {other}")
        self._state_writer.write_heartbeat()
        self._state_writer.receive(is_waiting=is_past_steps)
        self._trainers.log_if_due()
        request = self._state_writer.request
        if request:
            self._stop.request_end(request.status, request.reason, request.by)
        return Observation()

    def restarted_peer(self) -> str:
        if self._task.is_all_reduce:
            for i in range(len(self._task.cluster.get("worker", ()))):
                if self._state_writer.is_joined_twice(i):
                    return self._task.name_of("worker", i)
        return ""

    def announce_end(self, status: Status, step: int, reason: str) -> None:
        # After a takeover the files of model_dir belong to the other training.
        if not self._is_replaced:
            self._state_writer.announce(status, step, reason)
            self._lease.release()


class _Trainers:
    """Logs in the chief which workers join and leave, and from then on how many train."""

    def __init__(self, task: TaskConfig, state_writer: JobStateWriter):
        self._task, self._state_writer = task, state_writer
        self._joined: set[str] = set()
        self._counted_at: float | None = None

    def log_if_due(self) -> None:
        joined = {} if self._task.is_all_reduce else self._state_writer.joined()
        for name in sorted(joined.keys() - self._joined):
            logging.info("%s has joined", name)
        for name in sorted(self._joined - joined.keys()):
            logging.info("%s has left", name)
        self._joined, now = set(joined), time.monotonic()
        if joined and self._counted_at is None:
            self._counted_at = now
        if self._counted_at and now - self._counted_at > deadlines.TRAINERS_COUNT_SECS:
            self._counted_at = now
            states = peers.states(self._task.workers | joined)
            up = [name for name, state in states.items() if state == "up"]
            logging.info("%d tasks train: %s", 1 + len(up), ", ".join([self._task.name, *up]))
            task_events.emit("trainers", {"count": 1 + len(up)})


class OthersView(JobView):
    """The view of a worker, ps or evaluator, which watches the chief."""

    def __init__(self, config: TrainerConfig, task: TaskConfig, stop: Stop,
                 state_reader: JobStateReader):
        """Makes the view; in a trainer, `stop` gets the chief's request to stop."""
        self._config, self._task, self._stop = config, task, stop
        self._state_reader = state_reader
        self._chief = task.name_of("chief", 0)
        self._has_warned = False
        # The numbers of tasks of the chief that agreed; None before.
        self._agreed: Mapping[str, int] | None = None

    def poll(self, has_stepped: bool, is_past_steps: bool) -> Observation:
        reader, state = self._state_reader, self._state_reader.poll()
        if state and state.status != "running":
            if self._task.is_trainer:
                self._stop.request_end(state.status, state.reason, self._chief)
            return Observation()
        if state and self._is_changed(state):
            return Observation(lost=f"{self._chief} was started again with another cluster")
        if state and reader.joined_run and reader.joined_run != state.run:
            if has_stepped:
                return Observation(lost=f"{self._chief} was started again")
            reader.join(self._task.index)
        service = state.data_service.get("address") if state else ""
        if service and reader.service_address not in ("", service):
            return Observation(lost=f"{self._chief} was started again, and hands out the training"
                               f" set at {service}, no longer at {reader.service_address}")
        if state is None and reader.silent_secs > self._config.peer_timeout_secs / 2:
            self._warn_if_model_dir_is_not_shared()
        # Without a chief no worker makes a step.
        has_begun = reader.has_seen_chief or has_stepped
        limit = self._config.peer_timeout_secs if has_begun else self._config.stall_timeout_secs
        if reader.silent_secs > limit:
            return Observation(lost=f"{self._chief} sent no heartbeat for {limit} s")
        if reader.silent_secs > deadlines.QUIET_SECS:
            return Observation(waiting=f"waiting for {self._chief}: no heartbeat for"
                               f" {reader.silent_secs:.0f} s")
        return Observation()

    def _is_changed(self, state: JobState) -> bool:
        """Returns whether the chief has another cluster than the one that agreed before."""
        if not agrees(self._task, state, bool(self._config.sync_replicas)):
            return self._agreed is not None and self._task.role != "evaluator"
        before, self._agreed = self._agreed, state.cluster
        # A worker's share of the data depends on the chief's number of workers.
        return self._task.role == "worker" and bool(before) and before != state.cluster

    def _warn_if_model_dir_is_not_shared(self) -> None:
        """Warns once if the chief's server answers, which starts after job.json is written."""
        address = next(iter(self._task.cluster.get("chief", ())), "")
        if address and not self._has_warned and peers.state(address) == "up":
            self._has_warned = True
            logging.warning(
                "model_dir %s seems not to be shared with %s, which answers at %s but wrote no"
                " job.json here. Give every task one directory that all of them can read: the same"
                " mount, or one like %s; `estimator-trainer check --probe` tests it",
                self._config.model_dir, self._chief, address,
                errors.Setting("model_dir", "gs://bucket/job"))


class Membership:
    """Compares the cluster of this task with the cluster of the running chief."""

    def __init__(self, config: TrainerConfig, task: TaskConfig, state_reader: JobStateReader):
        self._model_dir, self._task, self._state_reader = config.model_dir, task, state_reader
        self._is_synchronous = bool(config.sync_replicas)
        self._run, self._since = "", 0.0

    def check(self, now: JobState | None) -> bool:
        """Returns whether this task may take part; False while it has to wait.

        Raises:
          OtherClusterError: A running chief has had another cluster for OTHER_CLUSTER_SECS. For
            less long, the chief may be the last one of the job before, which is about to end.
        """
        if now is None or agrees(self._task, now, self._is_synchronous):
            return now is not None
        if now.run != self._run or not self._state_reader.has_seen_chief:
            self._run, self._since = now.run, time.monotonic()
        if time.monotonic() - self._since < deadlines.OTHER_CLUSTER_SECS:
            logging.log_every_n_seconds(
                logging.WARNING, "%s has another cluster, %s: waits until it ends or agrees",
                int(deadlines.QUIET_SECS), self._task.name_of("chief", 0), _shown(now.cluster))
            return False
        if is_of_another_job(self._task, now):
            raise errors.OtherClusterError(
                errors.Problem("model_dir", self._model_dir,
                               "and the training of another cluster goes on there: its"
                               f" {self._task.name_of('chief', 0)} runs, and none of its addresses"
                               f" is in {self._task.source}", "a directory of this job's own",
                               errors.Setting("model_dir", f"{self._model_dir.rstrip('/')}-2")),
                is_missed=False)
        task, count = self._task, now.cluster.get(self._task.role, 0)
        raise errors.OtherClusterError(
            errors.Problem("cluster", _shown(task.counts), source=task.source,
                           expected=f"the cluster of {task.name_of('chief', 0)},"
                           f" {_shown(now.cluster)!r}: tasks share data by these numbers",
                           advice="To grow or shrink a job, end all of its tasks, and start them"
                           f" again with one cluster and the same {errors.Setting('model_dir')}.",
                           example="kubectl delete, then apply"),
            is_missed=task.index < count and (task.role == "ps" or "ps" not in now.cluster))


def agrees(task: TaskConfig, now: JobState, is_synchronous: bool = False) -> bool:
    """Returns whether the chief of a run has the cluster of this task, as far as is known.

    An evaluator and a data worker share no data by their numbers, and the TF_CONFIG of an evaluator
    may list no other task. With ps, the number of workers may differ unless training is
    synchronous: a step has as many tokens as there were trainers at the start, and those that a
    worker takes along when it leaves never come back.
    """
    if is_of_another_job(task, now):
        return False
    if task.role in ("evaluator", "data_worker"):
        return True
    if not now.cluster or now.cluster == task.counts:
        return True
    mine, theirs = dict(task.counts), dict(now.cluster)
    num_workers, least = mine.pop("worker", 0), theirs.pop("worker", 0)
    # A chief without workers trains as if it was alone. A ps has to know the address of a worker.
    return "ps" in mine and not is_synchronous and mine == theirs and bool(least) and (
        task.role == "worker" or num_workers >= least)


def is_of_another_job(task: TaskConfig, now: JobState) -> bool:
    """Returns whether the clusters of the chief and of this task have no address in common."""
    mine, theirs = set(task.fingerprint.split()), set(now.addresses.split())
    return bool(mine and theirs and not mine & theirs)


def _shown(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {role}" for role, count in counts.items())
