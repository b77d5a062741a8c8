"""Deadlines: how long each wait of this program may last, and how often it polls, in seconds.

The values are in one file because they depend on each other: a task that has 25 s to save must be
killed later than that. Pauses on which no other time depends are not here.
"""

import dataclasses

from estimator_trainer import storage

# Waiting for peers. The first two are the defaults of flags.
# A task that answered before, and no longer does, is lost after this.
PEER_TIMEOUT_SECS = 60
STALL_TIMEOUT_SECS = 600  # A task without progress ends after this, at its start too.
PEER_ANSWER_SECS = 2.0  # A peer that accepts a connection must send something within this.
CONNECTION_SECS = 20.0  # A connection to a task breaks if no answer comes within this.
CONNECTIONS_POLL_SECS = 5.0  # The sockets of new connections are set up to break after this.
LOCAL_CONNECT_SECS = 0.2  # A listener on this machine must accept a connection within this.
# A task that polls its peers makes at most so many connections a second, on average.
PEER_POLLS_PER_SEC = 32
QUIET_SECS = 10.0  # A trainer polls its peers after this time without a step.
BROKEN_SECS = 15.0  # A peer that broke an all-reduce is detected as gone or restarted within this.
# Parallel requests of one kind (names, peers, nvidia-smi) must all be answered within this.
CHECK_SECS = 3.0
LIST_GPUS_SECS = 10.0  # nvidia-smi must list the GPUs within this, for a job that needs them.

# Ends.
# A task must reach a step boundary within this after a request to stop, and then saves.
SAVE_GRACE_SECS = 25.0
FAILED_GRACE_SECS = 3.0  # The same after a failure, when nothing is saved.
# A ps goes on for this long after a request to stop, while the chief saves, and at the end, while
# trainers leave.
PS_GRACE_SECS = 25.0
# Once workers have joined, the chief counts this often how many train.
TRAINERS_COUNT_SECS = 60.0
# At the end of training the chief waits this long for a worker that makes no step to leave.
WORKERS_LEAVE_SECS = 10.0
# The same at the end of the input, while a worker may still have a part to read.
WORKERS_READ_SECS = 30.0
# A chief that waits for many workers polls at least this often which of them are gone.
WORKERS_POLL_SECS = 2.0
# A worker completes other tasks' steps for at most this long, until the chief ends training.
CHIEF_STOPS_SECS = 60.0
# A worker that has stopped waits this long until the chief has saved and written the reason.
CHIEF_SAVES_SECS = 60.0
# The chief waits this long for the reason why a worker of its all-reduce stopped all workers.
WORKER_REQUESTS_SECS = 10.0
# The chief waits this long for the first heartbeat of an evaluator in TF_CONFIG.
EVALUATOR_STARTS_SECS = 60.0
# The evaluator waits this long for the checkpoint with which training ended.
FINAL_CHECKPOINT_SECS = 75.0
# For this long, a new task treats a final job.json as left by an earlier run.
STALE_STATE_SECS = 60.0
OTHER_CLUSTER_SECS = 40.0  # A task waits this long for a chief that has the same cluster.
LEASE_SECS = 60.0  # A training without a heartbeat loses its model_dir after this.
LEASE_RENEW_SECS = 10.0  # The chief renews its lease of model_dir after this.
LEASE_CHECK_SECS = 2.0  # The chief checks this soon whether another one began at the same moment.
# A chief that waits for a model_dir polls at this interval: on a disk, and in a bucket.
LEASE_POLL_SECS = 0.5
LEASE_POLL_OBJECT_SECS = 3.0
# The evaluator's longest interval between polls of the job's state, once the last step is reached.
GOAL_POLL_SECS = 1.0
WATCHDOG_POLL_SECS = 0.5  # The watchdog's poll interval.
# A process that a second signal ends must print its last line within this.
SECOND_SIGNAL_SECS = 2.0

CLOSE_SECS = 1.0  # A session may go on closing in the background after this.

# `launch`.
# The fork server must import TensorFlow, maybe from a slow disk, within this.
FORK_IMPORT_SECS = 120.0
RESTART_SECS = 1.0  # Pause before a task is restarted.
STOP_SECS = 35.0  # A task that has not ended this long after SIGTERM is killed.
# After the job's end the tasks must end by themselves within this, before SIGTERM.
FOLLOW_SECS = 45.0
# TensorFlow's own evaluator begins late (EvalSpec.start_delay_secs), and waits for throttle_secs,
# 10 minutes by default, before its last evaluation.
OWN_EVALUATION_SECS = 1200.0
LAST_LINES_SECS = 5.0  # The last lines of an ended process must be read within this.
PAGE_SECS = 60.0  # The page of the job must be written, maybe into a bucket, within this.

# Pods.
# Time between SIGTERM and SIGKILL in the pods of `manifest`.
POD_GRACE_SECS = 120

# Behaviour of other programs, which cannot be changed here.
# Kubernetes' default time between SIGTERM and SIGKILL.
KUBERNETES_KILLS_SECS = 30.0
# TensorFlow breaks an all-reduce when a trainer does not answer for about this long.
COLLECTIVE_BREAKS_SECS = 10.0
DISK_REMEMBERS_SECS = 60.0  # Shared disks remember for at most this long that a file was missing.
# Cloud Storage refuses a second write of an object within this, and TensorFlow then waits longer.
OBJECT_WRITE_SECS = 1.0

# New lines of a job's history are written at this interval: on a disk, and in a bucket.
HISTORY_SECS = 2.0
OBJECT_HISTORY_SECS = 30.0
# A process that ends waits this long until its history is written, on a disk that may hang.
LAST_HISTORY_SECS = 10.0
# At the end of a run its trackers must have received all of it within this.
TRACKERS_SECS = 30.0
# The same after a request to stop, before the process is killed.
STOPPED_TRACKERS_SECS = 8.0

HEARTBEATS_TO_MISS = 5  # This many heartbeats may be missing before a task is considered lost.


@dataclasses.dataclass(frozen=True)
class PollIntervals:
    """The intervals at which the tasks of a job write heartbeats and poll files, in seconds."""

    chief_heartbeat_secs: float = 5.0
    evaluator_heartbeat_secs: float = 1.0
    evaluator_lost_secs: float = 5.0  # Without a heartbeat for this long, the evaluator is gone.
    chief_trains_secs: float = 0.5  # Between two polls of a chief that trains.
    chief_waits_secs: float = 0.25  # Between two polls of a chief that waits for others.
    presence_secs: float = 0.25  # Between two polls of a chief that only waits for the evaluator.
    task_secs: float = 0.25  # Between two polls of a worker or a ps.
    evaluator_secs: float = 0.5  # Between two polls of the job's state by the evaluator.
    checkpoint_secs: float = 0.5  # Between two polls for a new checkpoint by the evaluator.
    # Without a heartbeat for this long, one of several evaluators is gone. An early one would only
    # have a checkpoint evaluated twice.
    member_lost_secs: float = 15.0


# Reading a file costs nothing, and the job ends the sooner.
_FILES = PollIntervals()
# A write takes two requests, and an object may be written once a second; see docs/storage.md.
_OBJECTS = PollIntervals(chief_heartbeat_secs=5.0, evaluator_heartbeat_secs=5.0,
                         evaluator_lost_secs=12.0, chief_trains_secs=10.0, chief_waits_secs=2.0,
                         presence_secs=1.0, task_secs=2.0, evaluator_secs=3.0, checkpoint_secs=6.0,
                         member_lost_secs=40.0)


def poll_intervals(model_dir: str, peer_timeout_secs: float = PEER_TIMEOUT_SECS) -> PollIntervals:
    """Returns the intervals for a model_dir; a short peer timeout shortens them."""
    chosen = _OBJECTS if storage.is_object_store(model_dir) else _FILES
    most_secs = peer_timeout_secs / HEARTBEATS_TO_MISS
    return dataclasses.replace(chosen, **{
        name: min(getattr(chosen, name), most_secs)
        for name in ("chief_heartbeat_secs", "chief_trains_secs", "chief_waits_secs", "task_secs",
                     "evaluator_secs")})


def peers_poll_secs(num_peers: int, most_secs: float) -> float:
    """Returns the least time between two polls of all peers, at most `most_secs`.

    A thousand workers that wait for a hundred ps would otherwise keep these busy with polls.
    """
    return min(num_peers / PEER_POLLS_PER_SEC, most_secs)


def history_secs(model_dir: str) -> float:
    """Returns the interval at which a task writes its new lines of history."""
    return OBJECT_HISTORY_SECS if storage.is_object_store(model_dir) else HISTORY_SECS
