"""Tasks come late, move to other addresses behind their names, and are refused when they are more.

Each pod has a network namespace of its own; see tests/support/pods.py.
"""

from __future__ import annotations

import re
import signal
import time

import pytest

from tests.support import jobs, pods, slow_jobs

pytestmark = [pytest.mark.cluster, pytest.mark.soak]

_SECS = 150
_COUNTS = {"asynchronous": dict(chief=1, worker=1, ps=1), "all-reduce": dict(chief=1, worker=1)}
_EXTRA = {"asynchronous": [], "all-reduce": ["--train_distribute=multi_worker_mirrored"]}


@pytest.fixture
def make_job(tmp_path):
    """Yields a function that makes a job of pods."""
    with pods.network(tmp_path) as network:
        made = []

        def make(kind, *args, **counts):
            flags = slow_jobs.patient_flags(
                f"--model_dir={tmp_path}/model", "--save_checkpoints_steps=50", *_EXTRA[kind],
                *args)
            made.append(pods.Job(tmp_path, network, counts or _COUNTS[kind], flags))
            return made[-1]

        try:
            yield make
        finally:
            for job in made:
                job.close()


def _wait_for(job, condition):
    try:
        jobs.wait_for(condition, _SECS)
    except AssertionError as error:
        raise AssertionError(job.logs()) from error


def _trains(job, least_step, *names):
    """Waits until tasks have come to a step."""
    _wait_for(job, lambda: all(slow_jobs.trains(job.tasks[name], least_step) for name in names))


def _codes(job):
    return [code for _, _, code in job.ended]


@pytest.mark.parametrize("kind, late", [
    ("asynchronous", "worker:0"), ("asynchronous", "ps:0"), ("asynchronous", "chief:0"),
    ("all-reduce", "worker:0"), ("all-reduce", "chief:0"), ("asynchronous", "evaluator:0")])
def test_a_task_whose_name_is_unknown_at_first_joins_when_it_starts(kind, late, make_job, tmp_path):
    job = make_job(kind, "--train_steps=4000" if kind == "asynchronous" else "--train_steps=300")
    others = [name for name in job.names if name != late]
    job.start(*others)
    if late in ("worker:0", "evaluator:0") and kind == "asynchronous":
        _trains(job, 20, "chief:0")
    else:
        time.sleep(12)
        assert not any(job.tasks[name].losses for name in others)
    job.start(late)
    job.schedule(_SECS)
    assert set(_codes(job)) == {0}, job.logs()
    assert jobs.saved_step(tmp_path / "model") >= 300
    if late == "evaluator:0":
        assert "evaluated step" in job.tasks[late].log
    else:
        assert job.tasks["worker:0"].losses and job.tasks["chief:0"].losses


@pytest.mark.parametrize("kind, name, number, others", [
    ("asynchronous", "worker:0", signal.SIGKILL, {0}),
    ("asynchronous", "worker:0", signal.SIGTERM, {0}),
    ("asynchronous", "chief:0", signal.SIGKILL, {0}),
    ("asynchronous", "ps:0", signal.SIGKILL, {0}),
    ("asynchronous", "ps:0", signal.SIGTERM, {143, 0}),
    ("all-reduce", "worker:0", signal.SIGKILL, {142, 0}),
    ("all-reduce", "worker:0", signal.SIGTERM, {143, 0}),
    ("all-reduce", "chief:0", signal.SIGKILL, {142, 0})])
def test_a_job_completes_when_its_tasks_are_restarted_elsewhere(
        kind, name, number, others, make_job, tmp_path):
    job = make_job(kind, "--train_steps=2000" if kind == "asynchronous" else "--train_steps=500")
    job.start(*job.names)
    _trains(job, 100, "chief:0", "worker:0")
    job.stop(name, number)
    time.sleep(1.5)
    job.start(name)
    job.schedule(_SECS)
    assert job.ended[0][1:] == (name, 143 if number == signal.SIGTERM else -9)
    assert set(_codes(job)[1:]) <= others, job.logs()
    goal = 2000 if kind == "asynchronous" else 500
    assert goal <= jobs.saved_step(tmp_path / "model") <= goal + 2


@pytest.mark.parametrize("name", ["ps:0", "worker:0"])
def test_a_task_of_a_lost_host_takes_part_again_elsewhere(name, make_job):
    """Nobody hears that it ended; Linux would keep connections to it for 15 minutes."""
    job = make_job("asynchronous", "--train_steps=50000", "--param=examples=1000000")
    job.start(*job.names)
    _trains(job, 100, "chief:0", "worker:0")
    job.stop(name, is_node_lost=True)
    time.sleep(1.5)
    job.start(name)
    if name == "ps:0":
        _wait_for(job, lambda: job.tasks["chief:0"].log.count("training from step") == 2)
    last = job.tasks["chief:0"].losses[-1][0]
    _trains(job, last + 50, "chief:0", "worker:0")
    slow_jobs.send(job.tasks["chief:0"], signal.SIGTERM)
    slow_jobs.wait_for_all(job.tasks)
    slow_jobs.assert_codes(job.tasks, 143)


@pytest.mark.parametrize("kind, sentence", [
    ("asynchronous", "expected a worker whose address is in the TF_CONFIG of each ps"),
    ("all-reduce", "1 chief, 2 worker.*expected the cluster of chief:0, '1 chief, 1 worker")])
def test_an_additional_worker_is_refused_and_the_job_goes_on(kind, sentence, make_job):
    job = make_job(kind, "--train_steps=50000", "--param=examples=1000000")
    job.start(*job.names)
    _trains(job, 50, "chief:0", "worker:0")
    job.start("worker:1", cluster=pods.Job.cluster(**{**_COUNTS[kind], "worker": 2}))
    _wait_for(job, lambda: job.tasks["worker:1"].code is not None)
    assert job.tasks["worker:1"].code == 2
    assert re.search(sentence, job.tasks["worker:1"].log)
    assert not job.tasks["worker:1"].losses
    last = job.tasks["chief:0"].losses[-1][0]
    _trains(job, last + 50, "chief:0", "worker:0")
    slow_jobs.send(job.tasks["chief:0"], signal.SIGTERM)
    job.tasks.pop("worker:1")
    slow_jobs.wait_for_all(job.tasks)
    slow_jobs.assert_codes(job.tasks, 143)


@pytest.mark.parametrize("kind", ["asynchronous", "all-reduce"])
def test_a_job_restarted_with_more_workers_goes_on(kind, make_job, tmp_path):
    small = make_job(kind, "--train_steps=200")
    small.start(*small.names)
    small.schedule(_SECS)
    step = jobs.saved_step(tmp_path / "model")
    assert step >= 200
    grown = make_job(kind, "--train_steps=600", **{**_COUNTS[kind], "worker": 2})
    grown.start(*grown.names)
    grown.schedule(_SECS)
    assert set(_codes(grown)) == {0}, grown.logs()
    # An asynchronous worker may make steps before the chief says where it begins.
    begun = re.findall(r"training from step (\d+) to 600", grown.tasks["chief:0"].log)
    assert step <= int(begun[0]) < 600
    assert 600 <= jobs.saved_step(tmp_path / "model") <= 603
    if kind == "all-reduce":
        assert all(grown.tasks[f"worker:{i}"].losses for i in range(2))
