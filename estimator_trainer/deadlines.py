"""Deadlines: how long anything here waits, and how often it looks, in seconds.

They stand in one place because a promise needs several to be in order: a task that has 25 s to
save must be killed later than that. tests/test_deadlines.py holds these orders.
Not here: pauses below a second, and periods of a log or a screen, on which no other time depends.
"""

from __future__ import annotations

import dataclasses

from estimator_trainer import storage

# Waiting for peers. The first two are the defaults of flags.
# A task that has answered, and no longer does, is lost after this.
PEER_TIMEOUT_SECS = 60
# A task that makes no progress, at its start too, ends after this.
STALL_TIMEOUT_SECS = 600
# A peer that takes a connection must say something within this.
PEER_ANSWER_SECS = 2.0
# A connection to a task breaks when nothing comes back for so long.
CONNECTION_SECS = 20.0
# The sockets of new connections are told so after this.
CONNECTIONS_POLL_SECS = 5.0
# A listener on this machine must take a connection within this.
LOCAL_CONNECT_SECS = 0.2
# A trainer looks for its peers after so long without a step.
QUIET_SECS = 10.0
# A peer that broke an all-reduce is seen as gone, or as started again, within this.
BROKEN_SECS = 15.0
# All answers of one kind, asked for at once, are waited for so long: names, peers, nvidia-smi.
CHECK_SECS = 3.0
# nvidia-smi must list the GPUs within this, where a job needs them.
LIST_GPUS_SECS = 10.0

# Ends.
# A task that is asked to stop must come to a step boundary within this, and then saves.
SAVE_GRACE_SECS = 25.0
# The same after a failure, when there is nothing to save.
FAILED_GRACE_SECS = 3.0
# A ps that is asked to stop serves so long, for the chief to save; at the end, for trainers to go.
PS_GRACE_SECS = 25.0
# The chief waits so long for a worker that makes no step to leave, once training is to end.
WORKERS_LEAVE_SECS = 10.0
# The same at the end of the input, of which a worker may still have a part to read.
WORKERS_READ_SECS = 30.0
# A worker completes the steps of others so long, until the chief ends training.
CHIEF_STOPS_SECS = 60.0
# A worker that has stopped waits so long for the chief to save and to say why.
CHIEF_SAVES_SECS = 60.0
# The chief waits so long to hear why a worker of its all-reduce stopped all of them.
WORKER_REQUESTS_SECS = 10.0
# The chief waits so long for an evaluator of TF_CONFIG's that may still be starting.
EVALUATOR_STARTS_SECS = 60.0
# The evaluator looks so long for the checkpoint with which training ended.
FINAL_CHECKPOINT_SECS = 75.0
# A task that starts takes an end that it finds for an earlier run's so long.
STALE_STATE_SECS = 60.0
# A task that was told of another cluster than the chief waits so long for one that agrees.
OTHER_CLUSTER_SECS = 40.0
# A training that gave no sign of life for so long no longer holds its model_dir.
LEASE_SECS = 60.0
# The chief renews its lease of model_dir after this.
LEASE_RENEW_SECS = 10.0
# The chief looks so soon whether another one began at the same moment.
LEASE_CHECK_SECS = 2.0
# A chief that waits for a model_dir looks so often: on a disk, and in a bucket.
LEASE_POLL_SECS = 0.5
LEASE_POLL_OBJECT_SECS = 3.0
# The most between two looks of the evaluator at how the job stands, once the goal is reached.
GOAL_POLL_SECS = 1.0
# The watchdog looks so often.
WATCHDOG_POLL_SECS = 0.5

# A process that a second signal ends has so long for its last line.
LAST_WORDS_SECS = 2.0

# `launch`.
# The fork server must have imported TensorFlow, maybe from a slow disk, within this.
FORK_IMPORT_SECS = 120.0
# A task that is to be started again rests so long.
RESTART_SECS = 1.0
# A task must end so long after SIGTERM, or is killed.
STOP_SECS = 35.0
# The tasks have so long to hear of the job's end, and to end by themselves, before SIGTERM.
FOLLOW_SECS = 45.0
# The last lines of a process that ended must be read within this.
LAST_LINES_SECS = 5.0
# The page of the job must be written, maybe into a bucket, within this.
PAGE_SECS = 60.0

# Pods.
# Kubernetes waits so long after SIGTERM before it kills, as `manifest` asks it to.
POD_GRACE_SECS = 120

# What others do, and nothing here can change.
# Kubernetes kills a pod so long after SIGTERM, unless it is asked for another time.
KUBERNETES_KILLS_SECS = 30.0
# TensorFlow breaks an all-reduce when a trainer does not answer for about this.
COLLECTIVE_BREAKS_SECS = 10.0
# Shared disks remember for at most this that a file was not there.
DISK_REMEMBERS_SECS = 60.0
# Cloud Storage refuses a second write of an object within this, and TensorFlow then waits longer.
OBJECT_WRITE_SECS = 1.0

# What is new of a job's history is written after this: on a disk, and in a bucket.
HISTORY_SECS = 2.0
OBJECT_HISTORY_SECS = 30.0
# A process that ends waits so long for its history to be written, on a disk that may hang.
LAST_HISTORY_SECS = 10.0

# So many signs of life may be missing before the one who gives them is taken for lost.
HEARTBEATS_TO_MISS = 5


@dataclasses.dataclass(frozen=True)
class PollIntervals:
    """How often the tasks of a job write, and look at what others wrote.

    Attributes:
      chief_beat_secs: Seconds between two signs of life of the chief.
      evaluator_beat_secs: Seconds between two signs of life of the evaluator.
      evaluator_lost_secs: Seconds without a sign of life after which the evaluator is gone.
      chief_trains_secs: Seconds between two looks of a chief that trains.
      chief_waits_secs: Seconds between two looks of a chief that waits for others.
      presence_secs: Seconds between two looks of a chief that waits for the evaluator alone.
      task_secs: Seconds between two looks of a worker or a ps.
      evaluator_secs: Seconds between two looks of the evaluator at how the job stands.
      checkpoint_secs: Seconds between two looks of the evaluator for a new checkpoint.
    """

    chief_heartbeat_secs: float = 5.0
    evaluator_heartbeat_secs: float = 1.0
    evaluator_lost_secs: float = 5.0
    chief_trains_secs: float = 0.5
    chief_waits_secs: float = 0.25
    presence_secs: float = 0.25
    task_secs: float = 0.25
    evaluator_secs: float = 0.5
    checkpoint_secs: float = 0.5


# A look at a file costs nothing, and the job ends the sooner.
_FILES = PollIntervals()
# A write takes two requests, and an object may be written once a second; see docs/storage.md.
_OBJECTS = PollIntervals(
    chief_heartbeat_secs=5.0, evaluator_heartbeat_secs=5.0, evaluator_lost_secs=12.0,
    chief_trains_secs=10.0, chief_waits_secs=2.0, presence_secs=1.0, task_secs=2.0,
    evaluator_secs=3.0, checkpoint_secs=6.0)


def poll_intervals(model_dir: str, peer_timeout_secs: float = PEER_TIMEOUT_SECS) -> PollIntervals:
    """Returns how often to write and look in a model_dir.

    Args:
      model_dir: The job's directory.
      peer_timeout_secs: How long tasks wait for a sign of life; an impatient job looks more often.
    """
    chosen = _OBJECTS if storage.is_object_store(model_dir) else _FILES
    most_secs = peer_timeout_secs / HEARTBEATS_TO_MISS
    return dataclasses.replace(chosen, **{
        name: min(getattr(chosen, name), most_secs)
        for name in ("chief_heartbeat_secs", "chief_trains_secs", "chief_waits_secs", "task_secs",
                     "evaluator_secs")})


def history_secs(model_dir: str) -> float:
    """Returns how often a task writes what is new of its history."""
    return OBJECT_HISTORY_SECS if storage.is_object_store(model_dir) else HISTORY_SECS
