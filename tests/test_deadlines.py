"""The deadlines are in the orders that the promises of a job's end need."""

from __future__ import annotations

import dataclasses

import pytest

from estimator_trainer import deadlines
from estimator_trainer.settings.trainer_config import TrainerConfig

FILES, OBJECTS = "/tmp/job", "gs://bucket/job"
PLACES = pytest.mark.parametrize("model_dir", [FILES, OBJECTS])


def test_watchdog_ends_a_task_that_hangs_before_another_kills_it():
    ends_secs = deadlines.SAVE_GRACE_SECS + deadlines.WATCHDOG_POLL_SECS
    # A checkpoint takes seconds.
    assert ends_secs + 4 < deadlines.KUBERNETES_KILLS_SECS
    assert ends_secs + 4 < deadlines.STOP_SECS < deadlines.POD_GRACE_SECS
    assert deadlines.FAILED_GRACE_SECS < deadlines.SAVE_GRACE_SECS


@PLACES
def test_ps_serves_as_long_as_trainers_may_take_to_save(model_dir):
    poll_intervals = deadlines.poll_intervals(model_dir)
    assert deadlines.SAVE_GRACE_SECS <= deadlines.PS_GRACE_SECS < deadlines.KUBERNETES_KILLS_SECS
    # The task requests the end; the chief receives this, waits for its workers, and saves.
    poll_secs = (poll_intervals.chief_trains_secs + poll_intervals.task_secs +
                 deadlines.WORKERS_LEAVE_SECS)
    assert poll_secs < deadlines.PS_GRACE_SECS


@PLACES
def test_launch_waits_until_tasks_end_by_themselves(model_dir):
    poll_intervals = deadlines.poll_intervals(model_dir)
    assert poll_intervals.task_secs + deadlines.PS_GRACE_SECS < deadlines.FOLLOW_SECS
    # A worker fails: the chief hears of it, fails too, and tells the others.
    chief_secs = poll_intervals.chief_trains_secs + deadlines.FAILED_GRACE_SECS
    others_secs = poll_intervals.evaluator_secs + poll_intervals.task_secs
    assert chief_secs + others_secs < deadlines.FOLLOW_SECS


@PLACES
@pytest.mark.parametrize("peer_timeout_secs", [1, 5, deadlines.PEER_TIMEOUT_SECS])
def test_heartbeats_may_be_missed_before_a_task_counts_as_lost(model_dir, peer_timeout_secs):
    poll_intervals = deadlines.poll_intervals(model_dir, peer_timeout_secs)
    for secs in (poll_intervals.chief_heartbeat_secs,
                 poll_intervals.task_secs, poll_intervals.evaluator_secs):
        assert secs * deadlines.HEARTBEATS_TO_MISS <= peer_timeout_secs
    assert poll_intervals.evaluator_heartbeat_secs * 2 < poll_intervals.evaluator_lost_secs


@PLACES
def test_peer_timeout_is_longer_than_the_heartbeats_that_may_be_missed(model_dir):
    poll_intervals = deadlines.poll_intervals(model_dir)
    heartbeat_secs = poll_intervals.chief_heartbeat_secs + poll_intervals.task_secs
    assert heartbeat_secs * deadlines.HEARTBEATS_TO_MISS < deadlines.PEER_TIMEOUT_SECS
    assert deadlines.QUIET_SECS < deadlines.PEER_TIMEOUT_SECS < deadlines.STALL_TIMEOUT_SECS
    defaults = TrainerConfig()
    assert defaults.peer_timeout_secs == deadlines.PEER_TIMEOUT_SECS
    assert defaults.stall_timeout_secs == deadlines.STALL_TIMEOUT_SECS


def test_peer_check_ends_before_the_check_of_all_peers():
    assert deadlines.PEER_ANSWER_SECS < deadlines.CHECK_SECS
    assert deadlines.PEER_ANSWER_SECS < deadlines.QUIET_SECS
    assert deadlines.LOCAL_CONNECT_SECS < deadlines.PEER_ANSWER_SECS


def test_connection_to_a_lost_host_breaks_before_its_task_is_lost():
    # TensorFlow connects again after that, and gRPC looks up a name at most every 30 s.
    assert deadlines.CONNECTIONS_POLL_SECS < deadlines.CONNECTION_SECS
    assert deadlines.CONNECTION_SECS + 30 < deadlines.PEER_TIMEOUT_SECS


def test_membership_waits_until_the_earlier_job_has_ended():
    assert deadlines.KUBERNETES_KILLS_SECS < deadlines.OTHER_CLUSTER_SECS
    assert deadlines.OTHER_CLUSTER_SECS < deadlines.STALL_TIMEOUT_SECS


def test_broken_all_reduce_is_explained_before_the_stall_timeout():
    assert deadlines.COLLECTIVE_BREAKS_SECS < deadlines.BROKEN_SECS
    assert deadlines.BROKEN_SECS < deadlines.PEER_TIMEOUT_SECS


@PLACES
def test_message_arrives_before_its_reader_gives_up(model_dir):
    poll_intervals = deadlines.poll_intervals(model_dir)
    assert poll_intervals.chief_waits_secs * 2 < deadlines.WORKER_REQUESTS_SECS
    # The chief waits for other workers before it says so.
    leaves_secs = max(deadlines.WORKERS_LEAVE_SECS, deadlines.WORKERS_READ_SECS)
    assert leaves_secs + poll_intervals.task_secs < deadlines.CHIEF_STOPS_SECS
    assert (leaves_secs + deadlines.SAVE_GRACE_SECS + poll_intervals.task_secs
            < deadlines.CHIEF_SAVES_SECS)
    assert poll_intervals.evaluator_lost_secs < deadlines.EVALUATOR_STARTS_SECS


def test_shared_disk_shows_a_new_file_before_a_reader_gives_up():
    assert deadlines.DISK_REMEMBERS_SECS < deadlines.FINAL_CHECKPOINT_SECS


def test_restarted_chief_begins_before_its_old_end_is_believed():
    assert deadlines.RESTART_SECS < deadlines.STALE_STATE_SECS < deadlines.STALL_TIMEOUT_SECS


def test_lease_outlives_missed_heartbeats():
    assert deadlines.LEASE_RENEW_SECS * deadlines.HEARTBEATS_TO_MISS < deadlines.LEASE_SECS
    assert deadlines.OBJECT_WRITE_SECS < deadlines.LEASE_CHECK_SECS < deadlines.LEASE_RENEW_SECS


def test_poll_intervals_are_longer_for_a_bucket():
    far, near = deadlines.poll_intervals(OBJECTS), deadlines.poll_intervals(FILES)
    assert far.chief_heartbeat_secs == 5 and far.evaluator_heartbeat_secs == 5
    # A beat takes two requests, each look one.
    assert 2 / far.chief_heartbeat_secs + 1 / far.chief_trains_secs <= 0.5
    assert 2 / far.chief_heartbeat_secs + 1 / far.chief_waits_secs <= 1
    assert 1 / far.task_secs <= 0.5
    assert near.task_secs < 1 and near.evaluator_secs < 1
    assert all(getattr(near, field.name) <= getattr(far, field.name)
               for field in dataclasses.fields(near))


def test_objects_are_written_no_more_often_than_cloud_storage_takes():
    poll_intervals = deadlines.poll_intervals(OBJECTS)
    heartbeat_secs = min(poll_intervals.chief_heartbeat_secs,
                         poll_intervals.evaluator_heartbeat_secs)
    assert heartbeat_secs > deadlines.OBJECT_WRITE_SECS


@PLACES
def test_poll_intervals_are_shorter_for_a_short_timeout(model_dir):
    poll_intervals = deadlines.poll_intervals(model_dir, peer_timeout_secs=5)
    assert max(poll_intervals.chief_heartbeat_secs, poll_intervals.task_secs,
               poll_intervals.evaluator_secs) <= 1


def test_polls_of_peers_do_not_grow_with_the_square_of_the_tasks():
    most_secs = deadlines.PEER_TIMEOUT_SECS / deadlines.HEARTBEATS_TO_MISS
    # Every poll of the watchdog while there are few.
    assert deadlines.peers_poll_secs(8, most_secs) <= deadlines.WATCHDOG_POLL_SECS
    for count in (100, 300):
        secs = deadlines.peers_poll_secs(count, most_secs)
        assert count / secs <= deadlines.PEER_POLLS_PER_SEC
    # A peer is polled several times before it counts as lost.
    assert deadlines.peers_poll_secs(5000, most_secs) * 5 <= deadlines.PEER_TIMEOUT_SECS
