"""A signal to a task of a job saves a checkpoint, and ends the right tasks with the right code."""

from __future__ import annotations

import json
import signal
import time

import pytest

from benchmarks.chaos.job import MODEL
from tests.support import jobs, slow_jobs
from tests.support.slow_jobs import flags, TIMEOUT_SECS

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("number", [signal.SIGTERM, slow_jobs.soak(signal.SIGINT)])
def test_a_signal_saves_a_local_run_at_the_next_step(number, tmp_path):
    args = flags(tmp_path, "--train_steps=200")
    task = jobs.start(tmp_path, "local", args, "")
    try:
        jobs.wait_for(lambda: slow_jobs.trains(task), TIMEOUT_SECS)
        slow_jobs.send(task, number)
        slow_jobs.wait_for_all({"local": task}, 15)
    finally:
        jobs.kill(task)
    assert task.code == 143, task.log
    step = jobs.saved_step(tmp_path / "model")
    assert step >= 20
    assert task.last_line == (
        f"role=local status=stopped step={step} reason={signal.Signals(number).name}")
    assert json.loads((tmp_path / "model" / "result.json").read_text())["status"] == "stopped"
    assert "evaluated" not in task.log and "Traceback" not in task.log
    ran = jobs.trainer(*args)
    assert ran.returncode == 0 and f"training from step {step} to 200" in ran.stderr


def test_a_second_signal_ends_at_once(tmp_path):
    task = jobs.start(tmp_path, "local", flags(tmp_path, "--param=step_secs=20"), "")
    try:
        jobs.wait_for(lambda: "training from step 0" in task.log, TIMEOUT_SECS)
        slow_jobs.send(task, signal.SIGTERM)
        jobs.wait_for(lambda: "SIGTERM: stops at the next step" in task.log, 10)
        slow_jobs.send(task, signal.SIGTERM)
        slow_jobs.wait_for_all({"local": task}, 15)
    finally:
        jobs.kill(task)
    assert task.code == 143
    assert task.last_line == "role=local status=stopped step=0 reason=SIGTERM"


@pytest.mark.parametrize("kind, who", [
    # test_launch.py sends a signal to a job too.
    slow_jobs.soak("asynchronous", "ps:0"), slow_jobs.soak("all-reduce", "chief:0"),
    slow_jobs.soak("asynchronous", "chief:0"), slow_jobs.soak("all-reduce", "worker:0"),
    slow_jobs.soak("parameter_server", "chief:0", any_tensorflow=True),
    slow_jobs.soak("parameter_server", "ps:0", any_tensorflow=True)])
def test_a_signal_to_one_task_ends_the_job_without_losing_a_step(kind, who, tmp_path):
    hosts, extra = slow_jobs.cluster(kind)
    args, trainers = flags(tmp_path, "--train_steps=1500", *extra), ("chief:0", "worker:0")
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: all(slow_jobs.trains(tasks[name]) for name in trainers)
                      and "params: " in tasks["evaluator:0"].log, TIMEOUT_SECS)
        slow_jobs.send(tasks[who], signal.SIGTERM)
        slow_jobs.wait_for_all(tasks, 30)
    slow_jobs.assert_codes(tasks, 143)
    step = jobs.saved_step(tmp_path / "model")
    for task in tasks.values():
        assert "status=stopped" in task.last_line and "reason=SIGTERM" in task.last_line
        assert "Traceback" not in task.log
    assert step >= max(step for t in tasks.values() for step, _ in t.losses)
    args = [*args, f"--train_steps={step + 100}"]
    assert step <= slow_jobs.rerun(tmp_path, hosts, args, evaluator=True) <= step + 20
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == jobs.saved_step(tmp_path / "model")


@pytest.mark.soak
def test_a_signal_ends_only_its_asynchronous_worker_or_evaluator(tmp_path):
    args = flags(tmp_path, "--train_steps=300")
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    with jobs.running(tmp_path, hosts, args, evaluator=True) as tasks:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["worker:0"]), TIMEOUT_SECS)
        slow_jobs.send(tasks["worker:0"], signal.SIGTERM)
        slow_jobs.send(tasks["evaluator:0"], signal.SIGTERM)
        slow_jobs.wait_for_all(tasks)
    assert slow_jobs.codes(tasks) == {"chief:0": 0, "ps:0": 0, "worker:0": 143, "evaluator:0": 143}
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == jobs.saved_step(tmp_path / "model")


def test_a_signal_ends_a_chief_whose_all_reduce_lacks_a_worker(tmp_path):
    args = flags(tmp_path, "--train_distribute=multi_worker_mirrored")
    chief = {"cluster": jobs.cluster(chief=1, worker=1), "task": {"type": "chief", "index": 0}}
    task = jobs.start(tmp_path, "chief:0", args, json.dumps(chief))
    try:
        jobs.wait_for((tmp_path / "model" / "job.json").exists, 30)
        time.sleep(1)
        slow_jobs.send(task, signal.SIGTERM)
        slow_jobs.wait_for_all({"chief:0": task}, 10)
    finally:
        jobs.kill(task)
    assert task.last_line == "role=chief:0 status=stopped step=0 reason=SIGTERM"
    assert task.code == 143


@pytest.mark.soak
def test_a_synchronous_job_waits_for_a_worker_that_a_signal_ended(tmp_path):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    args = flags(tmp_path, f"--model_fn={MODEL}", f"--input_fn={MODEL}", "--train_steps=400",
                 "--sync_replicas=2", "--save_checkpoints_steps=100")
    (tmp_path / "again").mkdir()
    with jobs.running(tmp_path, hosts, args) as tasks:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["chief:0"]), TIMEOUT_SECS)
        slow_jobs.send(tasks["worker:0"], signal.SIGTERM)
        jobs.wait_for(lambda: tasks["worker:0"].code == 143, 15)
        tf_config = {"cluster": hosts, "task": {"type": "worker", "index": 0}}
        tasks["worker:0"] = jobs.start(tmp_path / "again", "worker:0", args, json.dumps(tf_config))
        jobs.wait(list(tasks.values()), TIMEOUT_SECS)
    assert {task.last_line.partition(" ")[2] for task in tasks.values()} == {
        "status=done step=400 reason=train_steps"}
