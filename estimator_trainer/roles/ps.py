"""A ps serves variables until training has ended and no trainer needs them any more."""

import time
from typing import Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, task_events
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import job_view
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.result import Result
from estimator_trainer.roles import outcome
from estimator_trainer.roles.task_run import FollowerRun
from estimator_trainer.settings.trainer_config import TrainerConfig

_POLL_SECS = 0.5
_SILENT_POLL_SECS = 2.0
_FIRST_LOAD_SECS, _LONGEST_LOAD_SECS = 1.0, 60.0


def serve(run: FollowerRun) -> Result:
    """Serves variables until training has ended.

    The Estimator's own ps joins its server, and the join never returns
    (tensorflow/tensorflow#25858, tensorflow/tensorflow#21305), nor lets a signal handler run.

    Raises Interrupted if the job is to stop, or this task is and the chief has saved or does not
    answer; and TrainerError if training failed.
    """
    run.log_start()
    plan, task = run.plan, run.task
    # The server must have a name: without a reference it would be collected, and stop.
    server = _server(task, run.config.train_distribute != "none",
                     plan.script_run.protocol if plan.script_run else None)
    logging.info("serves variables at %s", server.target)
    task_events.emit("serves")
    return outlive_trainers(run, lambda now: None, ends_job=True)


def outlive_trainers(run: FollowerRun, follow: Callable[[JobState | None], None],
                     ends_job: bool) -> Result:
    """Waits until training has ended and no trainer needs this task any more.

    Args:
      follow: Function that is called, often, with the state of the job that this task belongs to;
        None before that is known.
      ends_job: Whether training cannot go on without this task, so that the chief saves and stops
        when this task is requested to stop.

    Raises what `serve` does.
    """
    task, state, load = run.task, run.state, _LoadLines()
    trainers = _trainers(task)
    leaves_at: float | None = None
    membership = job_view.Membership(run.config, task, state)
    while True:
        final_state, request = state.poll_final_state(), run.stop.request
        now = state.poll()
        is_member = bool(now and now.status == "running" and membership.check(now))
        if request and leaves_at is None and ends_job:
            # Training needs this ps's variables, so the chief must save them first.
            if now is None or not job_view.is_of_another_job(task, now):
                state.request_end(request.status, request.reason, task.name)
        if (request or final_state) and leaves_at is None:
            leaves_at = time.monotonic() + deadlines.PS_GRACE_SECS
        is_late = leaves_at is not None and time.monotonic() > leaves_at
        if final_state and (is_late or not trainers.answers()):
            return outcome.follow(task, final_state)
        if request and is_late:
            raise errors.Interrupted(request.status, request.reason, request.by)
        follow(now if is_member else None)
        load.add_if_due()
        time.sleep(_POLL_SECS)


def serve_silent(task: TaskConfig, is_done: Callable[[], bool], config: TrainerConfig,
                 has_strategy: bool, protocol: str | None = None) -> bool:
    """Serves the variables of trainers that report no state of the job, until they are gone.

    `is_done` returns whether the chief has written how training ended; the settings limit how long
    trainers may be gone, or not come at all. `protocol` None: gRPC.

    Returns:
      Whether training is done; else the trainers were lost.
    """
    server = _server(task, has_strategy, protocol)
    logging.info("serves variables at %s", server.target)
    task_events.emit("serves")
    load = _LoadLines()
    ends_at = time.monotonic() + config.stall_timeout_secs
    trainers, has_ended = _trainers(task), False
    while True:
        now, is_used = time.monotonic(), trainers.answers()
        if is_done() and not has_ended:
            # A worker that comes late would wait for the chief as long as this ps serves.
            has_ended, ends_at = True, now + deadlines.PS_GRACE_SECS
        elif is_used and not has_ended:
            ends_at = now + config.peer_timeout_secs
        if now > ends_at or has_ended and not is_used:
            logging.info("no trainer needs %s any more", server.target)
            return has_ended
        load.add_if_due()
        time.sleep(_SILENT_POLL_SECS)


class _LoadLines:
    """Adds lines of how busy this ps is to its history, ever more seldom."""

    def __init__(self) -> None:
        self._gap_secs = _FIRST_LOAD_SECS
        self._began_at = time.monotonic()

    def add_if_due(self) -> None:
        """Adds a line, if one is due."""
        now = time.monotonic()
        if now - self._began_at >= self._gap_secs:
            task_events.emit("load", {"secs": now - self._began_at})
            self._gap_secs = min(1.5 * self._gap_secs, _LONGEST_LOAD_SECS)
            self._began_at = now


def _server(task: TaskConfig, has_strategy: bool, protocol: str | None) -> tf.distribute.Server:
    cluster = {job: list(hosts) for job, hosts in task.server_place(has_strategy).cluster.items()}
    return tf.distribute.Server(cluster, job_name="ps", task_index=task.index, protocol=protocol)


def _trainers(task: TaskConfig) -> peers.Group:
    return peers.Group(address for role in ("chief", "worker")
                       for address in task.cluster.get(role, ()))
