"""One training at a time writes into a model_dir; a second one is refused."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from estimator_trainer import deadlines, errors
from estimator_trainer.cluster import task_config
from estimator_trainer.coordination import lease, shared_files
from estimator_trainer.coordination.stop import Stop

LOCAL = task_config.parse("")
CLUSTER = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}


def _chief(cluster=None):
    return task_config.parse(json.dumps({"cluster": cluster or CLUSTER,
                                         "task": {"type": "chief", "index": 0}}))


def _acquire(tmp_path, task=LOCAL, is_forced=False, stop=None):
    return lease.acquire(str(tmp_path), task, is_forced, stop or Stop())


def _held_elsewhere(tmp_path, task=LOCAL, **changes):
    """Takes the lease as another machine's process that lives, and returns what it wrote."""
    _acquire(tmp_path, task)
    path = str(tmp_path / lease.FILE)
    found = lease.read(path)
    process = dataclasses.replace(found.process, host="host-a", machine="another boot", pid=1234)
    holder = dataclasses.replace(found, process=process, **changes)
    shared_files.write_json(path, dataclasses.asdict(holder))
    return holder


def _hold_as(tmp_path, other):
    """Takes the lease as another process of this machine, and returns what it wrote."""
    _acquire(tmp_path)
    path = str(tmp_path / lease.FILE)
    found = lease.read(path)
    holder = dataclasses.replace(found, run="theirs", process=dataclasses.replace(
        found.process, pid=other.pid, start=lease._stat(other.pid)[1]))
    shared_files.write_json(path, dataclasses.asdict(holder))
    return holder


@pytest.fixture
def quick(monkeypatch):
    """Lets a training without a heartbeat hold its model_dir for a second."""
    monkeypatch.setattr(deadlines, "LEASE_SECS", 1.0)
    monkeypatch.setattr(deadlines, "LEASE_POLL_SECS", 0.05)


def test_acquire_leaves_nothing_after_the_end(tmp_path):
    folder = tmp_path / "model"
    held = _acquire(folder)
    assert lease.read(str(folder / lease.FILE)).task == "local"
    held.release()
    assert not folder.exists()


def test_acquire_leaves_other_files(tmp_path):
    _acquire(tmp_path).release()
    assert tmp_path.is_dir() and not list(tmp_path.iterdir())


def test_acquire_refuses_beside_a_living_process(tmp_path):
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            found = _hold_as(tmp_path, sleeper)
            with pytest.raises(errors.ConfigError) as raised:
                _acquire(tmp_path)
        finally:
            sleeper.kill()
    text = str(raised.value)
    assert "\n" not in text and f"model_dir is '{tmp_path}' (from --model_dir)" in text
    for part in (f"local, process {sleeper.pid} on {os.uname().nodename}", found.began,
                 found.renewed, "--force", f"--model_dir={tmp_path}-2"):
        assert part in text
    # The process is dead now; a zombie counts as dead, too.
    _acquire(tmp_path)


def test_acquire_ignores_a_process_number_that_was_reused(tmp_path):
    _acquire(tmp_path)
    path = str(tmp_path / lease.FILE)
    found = lease.read(path)
    reused = dataclasses.replace(found.process, pid=os.getppid(), start="1")
    shared_files.write_json(path, dataclasses.asdict(
        dataclasses.replace(found, run="old", process=reused)))
    _acquire(tmp_path)


def test_acquire_refuses_beside_a_heartbeat_from_elsewhere(tmp_path, quick, monkeypatch):
    theirs = _held_elsewhere(tmp_path)
    after_look = iter(range(1, 100))
    stop = Stop()

    def live(secs):
        shared_files.write_json(str(tmp_path / lease.FILE), dataclasses.asdict(
            dataclasses.replace(theirs, heartbeat=next(after_look))))

    monkeypatch.setattr(stop, "sleep", live)
    with pytest.raises(errors.ConfigError, match="local, process 1234 on host-a"):
        _acquire(tmp_path, stop=stop)
    assert lease.read(str(tmp_path / lease.FILE)).run == theirs.run


def test_acquire_replaces_a_training_without_heartbeat(tmp_path, quick):
    theirs = _held_elsewhere(tmp_path)
    _acquire(tmp_path)
    assert lease.read(str(tmp_path / lease.FILE)).run != theirs.run


def test_acquire_by_force_ends_the_other(tmp_path, monkeypatch):
    held = _acquire(tmp_path)
    monkeypatch.setattr(deadlines, "LEASE_RENEW_SECS", 0)
    held._reads_at = 0
    assert held.renew(is_stopping=False) == ""
    theirs = _held_elsewhere(tmp_path)
    assert held.renew(is_stopping=False) == str(theirs)
    held.release()
    assert lease.read(str(tmp_path / lease.FILE)) == theirs
    monkeypatch.setattr(deadlines, "LEASE_CHECK_SECS", 0)
    mine = _acquire(tmp_path, is_forced=True)
    assert mine.renew(is_stopping=False) == ""


def test_acquire_by_force_returns_after_the_others_end(tmp_path, quick):
    with subprocess.Popen(["sleep", "2"]) as sleeper:
        _hold_as(tmp_path, sleeper)
        _acquire(tmp_path, is_forced=True)
        assert lease._stat(sleeper.pid)[0] == "Z" or sleeper.poll() == 0


def test_acquire_of_two_at_once_lets_one_win(tmp_path, monkeypatch):
    monkeypatch.setattr(deadlines, "LEASE_CHECK_SECS", 0)
    first = _acquire(tmp_path)
    theirs = _held_elsewhere(tmp_path)
    assert first.renew(is_stopping=False) == str(theirs)


def test_acquire_lets_the_same_clusters_chief_go_on_elsewhere(tmp_path):
    theirs = _held_elsewhere(tmp_path, _chief())
    _acquire(tmp_path, _chief())
    assert lease.read(str(tmp_path / lease.FILE)).run != theirs.run


@pytest.mark.parametrize("task", [_chief({**CLUSTER, "ps": ["d:1"]}), LOCAL],
                         ids=["another cluster", "no cluster"])
def test_acquire_refuses_another_job(task, tmp_path, quick, monkeypatch):
    theirs = _held_elsewhere(tmp_path, _chief())
    stop, heartbeats = Stop(), iter(range(1, 100))
    monkeypatch.setattr(stop, "sleep", lambda secs: shared_files.write_json(
        str(tmp_path / lease.FILE),
        dataclasses.asdict(dataclasses.replace(theirs, heartbeat=next(heartbeats)))))
    with pytest.raises(errors.ConfigError, match="chief:0, process 1234 on host-a"):
        _acquire(tmp_path, task, stop=stop)


def test_acquire_does_not_identify_a_lone_task_by_address(tmp_path, quick, monkeypatch):
    alone = task_config.parse('{"cluster": {"chief": ["master-0:2222"]},'
                              ' "task": {"type": "chief", "index": 0}}')
    _held_elsewhere(tmp_path, alone)
    stop = Stop()
    monkeypatch.setattr(stop, "sleep", lambda secs: stop.request_end("stopped", "SIGTERM", "local"))
    with pytest.raises(errors.Interrupted):
        _acquire(tmp_path, alone, stop=stop)


def test_acquire_waits_for_a_training_that_is_about_to_end(tmp_path, quick, monkeypatch):
    theirs = _held_elsewhere(tmp_path, is_stopping=True)
    stop, heartbeats = Stop(), iter(range(1, 4))

    def end(secs):
        heartbeat = next(heartbeats, None)
        path = tmp_path / lease.FILE
        if heartbeat is None:
            path.unlink()
        else:
            shared_files.write_json(str(path), dataclasses.asdict(
                dataclasses.replace(theirs, heartbeat=heartbeat)))

    monkeypatch.setattr(stop, "sleep", end)
    _acquire(tmp_path, stop=stop)
    assert lease.read(str(tmp_path / lease.FILE)).run != theirs.run


def test_acquire_inside_of_another_in_one_process(tmp_path, monkeypatch):
    monkeypatch.setattr(deadlines, "LEASE_CHECK_SECS", 0)
    monkeypatch.setattr(deadlines, "LEASE_RENEW_SECS", 0)
    outer = _acquire(tmp_path)
    inner = _acquire(tmp_path)
    assert outer.renew(is_stopping=False) == inner.renew(is_stopping=False) == ""
    inner.release()
    assert outer.renew(is_stopping=False) == ""
    assert (tmp_path / lease.FILE).exists()


def test_lease_is_renewed_at_most_once_in_ten_seconds(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(lease.time, "monotonic", lambda: now[0])
    held = _acquire(tmp_path)
    written = []
    for _ in range(600):
        now[0] += 0.5
        held.renew(is_stopping=False)
        written.append(lease.read(str(tmp_path / lease.FILE)).heartbeat)
    assert len(set(written)) <= 300 / 10 + 1
    held.renew(is_stopping=True)
    assert lease.read(str(tmp_path / lease.FILE)).is_stopping


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no /proc")
def test_process_is_identified_by_its_start():
    me = lease.this_process()
    assert me.start and me.machine and me.is_here() and me.is_alive()
    assert not dataclasses.replace(me, start="1").is_alive()
    assert not dataclasses.replace(me, machine="another container").is_here()
