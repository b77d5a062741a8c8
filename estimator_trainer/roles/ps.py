"""A ps serves variables until training has ended and no trainer needs them any more."""

from __future__ import annotations

import time
from typing import Callable

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines, errors, task_events
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import membership as membership_lib
from estimator_trainer.coordination.job_state import JobState, JobStateReader
from estimator_trainer.coordination.membership import Membership
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.result import Result
from estimator_trainer.roles import announcement, outcome
from estimator_trainer.settings.trainer_config import TrainerConfig

_POLL_SECS = 0.5
# Each look connects to every trainer.
_SILENT_POLL_SECS = 2.0


def run(plan: Plan, stop: Stop, state_reader: JobStateReader, watchdog: Watchdog) -> Result:
    """Serves variables until training has ended.

    Raises:
      Interrupted: if this task is asked to stop, or the job was.
      TrainerError: if training failed.
    """
    announcement.log(plan)
    return outcome.follow(plan.task, _serve(plan, state_reader, stop))


def _serve(plan: Plan, state_reader: JobStateReader, stop: Stop) -> JobState:
    """Runs this ps's server to the end of the job.

    The Estimator's own ps joins its server, and the join never returns
    (tensorflow/tensorflow#25858, tensorflow/tensorflow#21305), nor lets a signal handler run.

    Returns:
      How training ended.

    Raises:
      Interrupted: if this task was asked to stop, and the chief has saved or does not answer.
    """
    task = plan.task
    # Without a name the server would be collected, and stop.
    server = _server(task, plan.config.train_distribute != "none",
                     plan.given.model.config.protocol if plan.given else None)
    logging.info("serves variables at %s", server.target)
    task_events.emit("serves")
    leaves_at: float | None = None
    membership = Membership(plan.config.model_dir, task, state_reader)
    while True:
        final_state, request = state_reader.poll_final_state(), stop.request
        now = state_reader.poll()
        if now and now.status == "running":
            membership.check(now)
        if request and leaves_at is None:
            # Without this ps's variables there is no training, so the chief must save them first.
            if now is None or not membership_lib.is_of_another_job(task, now):
                state_reader.request_end(request.status, request.reason, task.name)
        if (request or final_state) and leaves_at is None:
            leaves_at = time.monotonic() + deadlines.PS_GRACE_SECS
        is_late = leaves_at is not None and time.monotonic() > leaves_at
        if final_state and (is_late or not _is_used(task)):
            return final_state
        if request and is_late:
            raise errors.Interrupted(request.status, request.reason, request.by)
        time.sleep(_POLL_SECS)


def serve_silent(task: TaskConfig, is_done: Callable[[], bool], config: TrainerConfig,
                 has_strategy: bool, protocol: str | None = None) -> bool:
    """Serves the variables of trainers that do not tell how training stands, until they are gone.

    Args:
      task: This task.
      is_done: Says whether the chief has written how training ended.
      config: The settings, for how long trainers may be gone, or not come at all.
      has_strategy: Whether the trainers train under a strategy.
      protocol: What the tasks talk in; None: gRPC.

    Returns:
      Whether training is done; else the trainers were lost.
    """
    server = _server(task, has_strategy, protocol)
    logging.info("serves variables at %s", server.target)
    task_events.emit("serves")
    ends_at = time.monotonic() + config.stall_timeout_secs
    has_ended = False
    while True:
        now, is_used = time.monotonic(), _is_used(task)
        if is_done() and not has_ended:
            # A worker that comes too late would wait for the chief as long as the ps serves.
            has_ended, ends_at = True, now + deadlines.PS_GRACE_SECS
        elif is_used and not has_ended:
            ends_at = now + config.peer_timeout_secs
        if now > ends_at or has_ended and not is_used:
            logging.info("no trainer needs %s any more", server.target)
            return has_ended
        time.sleep(_SILENT_POLL_SECS)


def _server(task: TaskConfig, has_strategy: bool, protocol: str | None) -> tf.distribute.Server:
    cluster = {job: list(hosts) for job, hosts in task.server_place(has_strategy).cluster.items()}
    return tf.distribute.Server(cluster, job_name="ps", task_index=task.index, protocol=protocol)


def _is_used(task: TaskConfig) -> bool:
    trainers = {address: address for role in ("chief", "worker")
                for address in task.cluster.get(role, ())}
    return any(state != "down" for state in peers.states(trainers).values())
