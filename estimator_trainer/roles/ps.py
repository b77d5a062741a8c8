"""A ps serves variables until training has ended and no trainer needs them any more."""

from __future__ import annotations

import time

from absl import logging
import tensorflow as tf

from estimator_trainer import deadlines
from estimator_trainer import errors
from estimator_trainer import task_events
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination.job_state import JobState
from estimator_trainer.coordination.job_state import JobStateReader
from estimator_trainer.coordination.membership import Membership
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.plan.plan import Plan
from estimator_trainer.result import Result
from estimator_trainer.roles import announcement
from estimator_trainer.roles import outcome

_POLL_SECS = 0.5


def run(plan: Plan, stop: Stop, state_reader: JobStateReader, watchdog: Watchdog) -> Result:
    """Serves variables until training has ended.

    Raises:
      Interrupted: if this task is asked to stop, or the job was.
      TrainerError: if training failed.
    """
    announcement.log(plan)
    return outcome.follow(plan.task, _serve(plan.task, state_reader, stop))


def _serve(task: TaskConfig, state_reader: JobStateReader, stop: Stop) -> JobState:
    """Runs this ps's server to the end of the job.

    The Estimator's own ps joins its server, and the join never returns
    (tensorflow/tensorflow#25858, tensorflow/tensorflow#21305), nor lets a signal handler run.

    Returns:
      How training ended.

    Raises:
      Interrupted: if this task was asked to stop, and the chief has saved or does not answer.
    """
    # The trainers read the cluster so, too; they may call the chief `master`.
    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec()
    # Without a name the server would be collected, and stop.
    server = tf.distribute.Server(cluster, job_name="ps", task_index=task.index)
    logging.info("serves variables at %s", server.target)
    task_events.tell("serves")
    leaves_at: float | None = None
    membership = Membership(task, state_reader)
    while True:
        final_state, request = state_reader.final_state(), stop.request
        now = state_reader.now()
        if now and now.status == "running":
            membership.check(now)
        if request and leaves_at is None:
            # Without this ps's variables there is no training, so the chief must save them first.
            state_reader.ask(request.status, request.reason, task.name)
        if (request or final_state) and leaves_at is None:
            leaves_at = time.monotonic() + deadlines.PS_GRACE_SECS
        is_late = leaves_at is not None and time.monotonic() > leaves_at
        if final_state and (is_late or not _is_used(task)):
            return final_state
        if request and is_late:
            raise errors.Interrupted(request.status, request.reason, request.by)
        time.sleep(_POLL_SECS)


def _is_used(task: TaskConfig) -> bool:
    trainers = {address: address for role in ("chief", "worker")
                for address in task.cluster.get(role, ())}
    return any(state != "down" for state in peers.states(trainers).values())
