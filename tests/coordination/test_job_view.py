"""The chief and the other tasks see the job in different ways, and compare their clusters."""

from __future__ import annotations

import json
from unittest import mock

import pytest

from estimator_trainer import deadlines, errors
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination import job_state, job_view
from estimator_trainer.coordination.job_state import JobState, JobStateReader, JobStateWriter
from estimator_trainer.coordination.lease import Lease
from estimator_trainer.coordination.stop import Request, Stop
from estimator_trainer.settings.trainer_config import TrainerConfig

PS, ALL_REDUCE = {"chief": 1, "worker": 2, "ps": 1}, {"chief": 1, "worker": 2}


def _task(role):
    return task_config.parse(json.dumps({
        "cluster": {"chief": ["a:1"], "worker": ["b:1"]}, "task": {"type": role, "index": 0}}))


@pytest.fixture(name="reader")
def fixture_reader():
    """A reader that sees a chief which runs, and wrote just now."""
    reader = mock.Mock(spec=JobStateReader, silent_secs=0.0, has_seen_chief=True, joined_run="")
    reader.poll.return_value = JobState("first", "running")
    return reader


def _other(reader, stop=None):
    return job_view.OthersView(TrainerConfig(), _task("worker"), stop or Stop(), reader)


def _chief(stop, writer, taken_by=""):
    return job_view.ChiefView(_task("chief"), stop, writer,
                              mock.Mock(spec=Lease, **{"renew.return_value": taken_by}))


def test_view_of_a_worker_obeys_the_chief_and_the_reverse(reader):
    stop = Stop()
    reader.poll.return_value = JobState("first", "stopping", reason="SIGTERM")
    assert _other(reader, stop).poll(True, False) == job_view.Observation()
    assert stop.request == Request("stopping", "SIGTERM", "chief:0")
    writer = mock.Mock(spec=JobStateWriter, request=Request("failed", "OSError", "worker:0"))
    stop = Stop()
    _chief(stop, writer).poll(True, is_past_steps=True)
    assert stop.request == writer.request and writer.write_heartbeat.called
    writer.receive.assert_called_once_with(is_waiting=True)


def test_others_view_waits_for_a_silent_chief_and_gives_it_up(reader):
    reader.silent_secs = deadlines.QUIET_SECS + 1
    seen = _other(reader).poll(True, False)
    assert not seen.lost and seen.waiting == "waiting for chief:0: no heartbeat for 11 s"
    reader.silent_secs = deadlines.PEER_TIMEOUT_SECS + 1
    assert _other(reader).poll(True, False).lost == "chief:0 sent no heartbeat for 60 s"
    reader.has_seen_chief = False
    assert not _other(reader).poll(False, False).lost


def test_others_view_of_a_restarted_chief(reader):
    reader.joined_run = "before"
    assert _other(reader).poll(True, False).lost == "chief:0 was started again"
    assert not reader.join.called
    assert _other(reader).poll(False, False) == job_view.Observation() and reader.join.called


def test_chief_view_names_a_restarted_worker(reader):
    writer = mock.Mock(spec=JobStateWriter)
    writer.is_joined_twice.return_value = True
    chief = _chief(Stop(), writer)
    assert chief.restarted_peer() == "worker:0" and _other(reader).restarted_peer() == ""
    chief.announce_end("lost", 7, "worker:0 was started again")
    writer.announce.assert_called_once_with("lost", 7, "worker:0 was started again")


def test_chief_view_ends_when_model_dir_is_taken_over():
    writer = mock.Mock(spec=JobStateWriter)
    chief = _chief(Stop(), writer, taken_by="local, process 7 on host-a")
    seen = chief.poll(True, is_past_steps=False)
    assert seen.lost == "model_dir was taken over by local, process 7 on host-a"
    chief.announce_end("lost", 7, seen.lost)
    assert not writer.write_heartbeat.called and not writer.announce.called


def _task_of(name, **counts):
    return next(task for task in task_config.of_counts(counts) if task.name == name)


def _membership(tmp_path, task, state_reader):
    return job_view.Membership(TrainerConfig(model_dir=str(tmp_path)), task, state_reader)


def _begun(tmp_path, task, cluster):
    """Returns what a task sees of a chief that begins after it."""
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True, cluster=cluster)
    chief.announce("running")
    return _membership(tmp_path, task, state_reader), state_reader.poll()


@pytest.mark.parametrize("cluster", [PS, {}], ids=["the same", "unknown"])
def test_agrees_at_once_in_the_chiefs_cluster(cluster, tmp_path):
    member, now = _begun(tmp_path, _task_of("worker:1", **PS), cluster)
    assert member.check(now)
    assert not member.check(None)


def test_agrees_as_a_lone_task():
    assert task_config.parse('{"cluster": {"worker": ["a:1"]}}').counts == {"chief": 1}


@pytest.mark.parametrize("name, cluster, is_missed", [
    ("ps:0", PS, True), ("ps:1", PS, False), ("worker:1", ALL_REDUCE, True),
    ("worker:2", ALL_REDUCE, False)])
def test_agrees_not_with_another_cluster(name, cluster, is_missed, tmp_path, monkeypatch):
    grown = {role: count + (role == name[:-2]) for role, count in cluster.items()}
    member, now = _begun(tmp_path, _task_of(name, **grown), cluster)
    assert not member.check(now)
    monkeypatch.setattr(job_view.deadlines, "OTHER_CLUSTER_SECS", 0)
    with pytest.raises(errors.OtherClusterError) as raised:
        member.check(now)
    assert raised.value.exit_code == 2 and raised.value.is_missed == is_missed
    assert ("from TF_CONFIG[\"cluster\"]); expected the cluster of chief:0, '1 chief, 2 worker" in
            str(raised.value))


@pytest.mark.parametrize("name, mine, theirs, expected", [
    ("worker:5", 6, 2, True), ("worker:0", 6, 2, True), ("worker:0", 1, 2, True),
    ("ps:0", 6, 2, True), ("ps:0", 1, 2, False), ("worker:5", 6, 0, False)])
def test_the_number_of_workers_may_differ_in_a_job_with_ps(name, mine, theirs, expected):
    now = JobState("first", "running", cluster={"chief": 1, "worker": theirs, "ps": 1})
    task = _task_of(name, chief=1, worker=mine, ps=1)
    assert job_view.agrees(task, now) == expected
    assert not job_view.agrees(task, now, is_synchronous=True)


def test_a_worker_ends_when_the_chief_comes_back_with_other_numbers(reader):
    task = _task_of("worker:5", chief=1, worker=6, ps=1)
    view = job_view.OthersView(TrainerConfig(), task, Stop(), reader)
    for number, lost in ((2, ""), (2, ""), (3, "chief:0 was started again with another cluster")):
        reader.poll.return_value = JobState("first", "running", cluster={**PS, "worker": number})
        assert view.poll(True, False).lost == lost


def test_the_chief_logs_which_workers_join_and_how_many_train(tmp_path, caplog, monkeypatch):
    chief = JobStateWriter(str(tmp_path), is_shared=True, cluster=PS)
    chief.announce("running")
    view = job_view.ChiefView(_task_of("chief:0", **PS), Stop(), chief,
                              mock.Mock(spec=Lease, **{"renew.return_value": ""}))
    monkeypatch.setattr(job_view.peers, "states", lambda peers: dict.fromkeys(peers, "up"))
    monkeypatch.setattr(job_view.deadlines, "TRAINERS_COUNT_SECS", 0)
    monkeypatch.setattr(chief, "_poll_intervals", deadlines.PollIntervals(
        chief_trains_secs=0, chief_waits_secs=0))
    worker = JobStateReader(str(tmp_path), max_steps=None)
    for act in (lambda: worker.join_with_ps(5, job_state.Joined("worker:5", "f:1")),
                lambda: None, lambda: worker.leave(5),
                lambda: worker.join_with_ps(5, job_state.Joined("worker:5", "g:1"))):
        act()
        view.poll(True, is_past_steps=False)
    assert [line for line in caplog.messages if "train:" not in line] == [
        "worker:5 has joined", "worker:5 has left", "worker:5 has joined"]
    assert "4 tasks train: chief:0, worker:0, worker:1, worker:5" in caplog.messages
    assert chief.joined() == {"worker:5": "g:1"}


def test_agrees_without_the_chief_that_is_gone(tmp_path, monkeypatch):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True, cluster=PS)
    chief.announce("running")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
    monkeypatch.setattr(job_view.deadlines, "OTHER_CLUSTER_SECS", 0.01)
    task = _task_of("ps:1", chief=1, worker=2, ps=2)
    member = _membership(tmp_path, task, state_reader)
    assert not any(member.check(state_reader.poll()) for _ in range(2))
    grown = {**PS, "ps": 2}
    job_state.JobStateWriter(str(tmp_path), is_shared=True, cluster=grown).announce("running")
    assert member.check(state_reader.poll())
