"""A task whose cluster is not the chief's waits for a while, and then says so."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination import job_state, membership

PS, ALL_REDUCE = {"chief": 1, "worker": 2, "ps": 1}, {"chief": 1, "worker": 2}


def _task(name, **counts):
    return next(task for task in task_config.of_counts(counts) if task.name == name)


def _begun(tmp_path, task, cluster):
    """Returns what a task sees of a chief that begins after it."""
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True, cluster=cluster)
    chief.announce("running")
    return membership.Membership(str(tmp_path), task, state_reader), state_reader.poll()


@pytest.mark.parametrize("cluster", [PS, {}], ids=["the same", "not told"])
def test_agrees_at_once_in_the_chiefs_cluster(cluster, tmp_path):
    member, now = _begun(tmp_path, _task("worker:1", **PS), cluster)
    assert member.check(now)
    assert not member.check(None)


def test_agrees_as_a_lone_task():
    assert task_config.parse('{"cluster": {"worker": ["a:1"]}}').counts == {"chief": 1}


@pytest.mark.parametrize("name, cluster, is_missed", [
    ("worker:2", PS, False), ("worker:1", PS, False), ("ps:0", PS, True), ("ps:1", PS, False),
    ("worker:1", ALL_REDUCE, True), ("worker:2", ALL_REDUCE, False)])
def test_agrees_not_with_another_cluster(name, cluster, is_missed, tmp_path, monkeypatch):
    grown = {role: count + (role == name[:-2]) for role, count in cluster.items()}
    member, now = _begun(tmp_path, _task(name, **grown), cluster)
    assert not member.check(now)
    monkeypatch.setattr(membership.deadlines, "OTHER_CLUSTER_SECS", 0)
    with pytest.raises(errors.OtherClusterError) as raised:
        member.check(now)
    assert raised.value.exit_code == 2 and raised.value.is_missed == is_missed
    assert ("from TF_CONFIG[\"cluster\"]); expected the cluster of chief:0, '1 chief, 2 worker" in
            str(raised.value))


def test_agrees_without_the_chief_that_is_gone(tmp_path, monkeypatch):
    chief = job_state.JobStateWriter(str(tmp_path), is_shared=True, cluster=PS)
    chief.announce("running")
    state_reader = job_state.JobStateReader(str(tmp_path), max_steps=None)
    monkeypatch.setattr(membership.deadlines, "OTHER_CLUSTER_SECS", 0.01)
    task = _task("worker:2", chief=1, worker=3, ps=1)
    member = membership.Membership(str(tmp_path), task, state_reader)
    assert not any(member.check(state_reader.poll()) for _ in range(2))
    grown = {**PS, "worker": 3}
    job_state.JobStateWriter(str(tmp_path), is_shared=True, cluster=grown).announce("running")
    assert member.check(state_reader.poll())
