"""Tests the measurement of scaling: real pinned processes, and the tables of their speeds."""

from __future__ import annotations

import json
import os
import pathlib
import shutil

import pytest

from benchmarks.paper import costs
from benchmarks.scaling import pinned_job, speed, table
from tests.support import jobs

_FLAGS = ("--model_fn=linear", "--input_fn=digits", "--log_every_steps=20")
pytestmark = pytest.mark.any_tensorflow


@pytest.mark.cluster
@pytest.mark.skipif(not shutil.which("taskset"), reason="pinning takes Linux")
@pytest.mark.soak
@pytest.mark.parametrize("mode,roles", [
    ("independent", {"local"}), ("async_ps", {"chief", "worker", "ps"})])
def test_pinned_processes_run_while_they_are_measured_and_stand_still_else(mode, roles, data_dir):
    job = pinned_job.Job(mode, 2, 64, (*_FLAGS, f"--param=data_dir={data_dir}"))
    with speed.warm(job) as warm:
        for _ in range(2):
            found = warm.measure(0.5)
            assert set(found.cpu_secs) == roles
            assert found.steps_per_sec > 0 and all(secs > 0 for secs in found.cpu_secs.values())
            jobs.wait_for(lambda: set(map(_state, _children())) == {"T"}, 10)
    assert not _children()


@pytest.mark.cluster
@pytest.mark.skipif(not shutil.which("taskset"), reason="pinning takes Linux")
def test_each_trainer_has_one_core_and_ends_with_the_job(data_dir):
    job = pinned_job.Job("async_ps", 2, 64, (*_FLAGS, f"--param=data_dir={data_dir}"))
    cores = sorted(os.sched_getaffinity(0))[:2]
    with pinned_job.running(job) as tasks:
        # `taskset` becomes the program it starts.
        jobs.wait_for(lambda: all(b"estimator_trainer" in _command(task) for task in tasks), 10)
        pinned = [os.sched_getaffinity(task.process.pid) for task in tasks]
    assert [task.name for task in tasks] == ["chief:0", "worker:0", "ps:0"]
    assert pinned == [{cores[0]}, {cores[-1]}, set(cores)]
    assert all(task.code is not None for task in tasks)


def _children():
    """Returns the processes that this one has started, without zombies.

    The fork server of other tests' jobs is left out too.
    """
    found = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in found if _state(pid) != "Z" and b"fork_server" not in pathlib.Path(
        f"/proc/{pid}/cmdline").read_bytes()]


def _state(process):
    return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def _command(task):
    command = (pathlib.Path("/proc") / str(task.process.pid) / "cmdline").read_bytes()
    return b"" if command.startswith(b"taskset") else command


def test_ratios_are_made_inside_one_repetition():
    runs = [{"case": "cnn", "mode": mode, "trainers": trainers, "cores": 1,
             "repeat": repeat, "examples_per_sec": speed}
            for mode, trainers, speeds in (("local", 1, (100.0, 50.0)),
                                           ("all_reduce", 2, (180.0, 95.0)))
            for repeat, speed in enumerate(speeds)]
    text = table.text({"date": "", "machine": "", "versions": {}, "flags": [],
                               "cnn": runs})
    assert "| all_reduce | - | 1.85x (1.80-1.90) |" in text
    assert "fewer cores than processes, they share them" in text


def test_the_file_is_json_again():
    results = {"date": "2026-01-31", "flags": [], "cnn": [{"losses": [[1, 0.123456789]]}]}
    assert json.loads(table.as_json(results)) == {
        **results, "cnn": [{"losses": [[1, 0.123457]]}]}


def test_computing_time_is_that_of_all_processes_for_one_trainers_step():
    run = {"mode": "sync_ps", "trainers": 4, "cores": 2, "batch_size": 10, "steps_per_sec": 5.0,
           "examples_per_sec": 200.0, "cpu_secs": {"chief": 0.1, "worker": 0.05, "ps": 0.15}}
    assert costs.computing_secs(run) == pytest.approx((0.1 + 3 * 0.05 + 0.15) / 4)
    assert costs.clock_secs(run) == pytest.approx(2 / 20)
