"""Clusters of real processes run one command line, and each takes its role from TF_CONFIG."""

from __future__ import annotations

import json
import re

import pytest

from tests.support import event_files, jobs, slow_jobs

pytestmark = pytest.mark.cluster

_STEPS = 200
_TRAIN_RECORDS = 1442
_TIMEOUT_SECS = 120
# At the default of 0.1 a step with gradients that are 70 steps old may throw the model far back.
_FOR_OLD_GRADIENTS = "--param=learning_rate=0.05"


def _flags(model_dir, data_dir, *extra):
    return ["--model_fn=cnn", "--input_fn=digits", f"--param=data_dir={data_dir}",
            f"--train_steps={_STEPS}", "--log_every_steps=5", f"--model_dir={model_dir}", *extra]


def _trainers(tasks):
    return [t for t in tasks.values() if not t.name.startswith(("ps", "evaluator"))]


def _run(tmp_path, data_dir, hosts, *extra, evaluator=False):
    """Runs a job until all its tasks have ended by themselves."""
    with jobs.running(tmp_path, hosts, _flags(tmp_path / "model", data_dir, *extra),
                      evaluator) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        for task in tasks.values():
            assert "Traceback" not in task.log, task.log
            assert task.last_line.startswith(f"role={task.name} status=done step=")
    return tasks


def _assert_trained(tmp_path, tasks, overshoot=0):
    """A job keeps its promises, whatever its strategy.

    Each asynchronous trainer may finish one step more than asked for, the one that it is in.
    """
    model_dir = tmp_path / "model"
    step = jobs.saved_step(model_dir)
    assert _STEPS <= step <= _STEPS + overshoot
    for task in _trainers(tasks):
        assert re.fullmatch(rf"role={task.name} status=done step=\d+ reason=train_steps",
                            task.last_line)
    losses = sorted(pair for task in _trainers(tasks) for pair in task.losses)
    first = sum(loss for _, loss in losses[:3]) / 3
    # The last losses of asynchronous trainers are as old as their variables were.
    last = min(loss for _, loss in losses) if overshoot else sum(
        loss for _, loss in losses[-3:]) / 3
    assert last < first * 0.75, losses
    assert jobs.evaluated_steps(model_dir)[-1] == step
    assert len(list((model_dir / "export").glob("*/*/saved_model.pb"))) == 1
    result = json.loads((model_dir / "result.json").read_text())
    # Chance is 0.1. How stale the gradients of asynchronous trainers are depends on the machine.
    assert result["step"] == step and result["metrics"]["accuracy"] > (0.4 if overshoot else 0.7)
    _assert_shards(tasks)
    _assert_events(model_dir)


def _assert_events(model_dir):
    """TensorBoard shows the curves of training, and each evaluation."""
    steps = event_files.read(model_dir)
    # Beside a master it is the first worker's step that says when.
    assert steps["./loss"] and steps["./learning_rate"] == steps["./loss"]
    assert steps["eval/accuracy"] == jobs.evaluated_steps(model_dir)
    assert not list(model_dir.glob("worker_*"))


def _assert_shards(tasks):
    """Every trainer reads its own shard; together they are the whole training set."""
    shards = {}
    for task in _trainers(tasks):
        found = re.findall(r"reads shard (\d+)/(\d+) of digits/train \(.*, (\d+) records\)",
                           task.log)
        [(shard, of, records)] = set(found)
        assert int(of) == len(_trainers(tasks))
        shards[int(shard)] = int(records)
    assert sorted(shards) == list(range(1, len(_trainers(tasks)) + 1))
    assert sum(shards.values()) == _TRAIN_RECORDS
    assert max(shards.values()) - min(shards.values()) <= 1


@pytest.mark.parametrize("strategy", ["none", slow_jobs.soak("parameter_server")])
def test_asynchronous_training_on_chief_workers_ps_and_evaluator(strategy, tmp_path, data_dir):
    tasks = _run(tmp_path, data_dir, jobs.cluster(chief=1, worker=2, ps=2),
                 f"--train_distribute={strategy}", _FOR_OLD_GRADIENTS, evaluator=True)
    _assert_trained(tmp_path, tasks, overshoot=3)


@pytest.mark.soak
def test_all_reduce_on_two_workers_without_chief_or_evaluator(tmp_path, data_dir):
    tasks = _run(tmp_path, data_dir, jobs.cluster(worker=2),
                 "--train_distribute=multi_worker_mirrored")
    _assert_trained(tmp_path, tasks)
    assert "worker:0 evaluates and exports" in tasks["worker:0"].log


def test_all_reduce_on_chief_and_worker_with_an_evaluator(tmp_path, data_dir):
    tasks = _run(tmp_path, data_dir, jobs.cluster(chief=1, worker=1),
                 "--train_distribute=multi_worker_mirrored", evaluator=True)
    _assert_trained(tmp_path, tasks)
    assert "the evaluator has evaluated and exported" in tasks["chief:0"].log


@pytest.mark.soak
def test_an_evaluator_listed_in_the_cluster_is_the_one_that_evaluates(tmp_path, data_dir):
    tasks = _run(tmp_path, data_dir, jobs.cluster(chief=1, ps=1, evaluator=1), _FOR_OLD_GRADIENTS,
                 "--log_device_placement", "--report")
    _assert_trained(tmp_path, tasks, overshoot=2)
    page = (tmp_path / "model" / "report.html").read_text()
    assert all(text in page for text in (*tasks, "Confusion matrix", "The worst errors"))
    history = (tmp_path / "model" / "history.jsonl").read_text().splitlines()
    lines = [json.loads(line) for line in history]
    assert {line["task"] for line in lines} == set(tasks)
    last = max(line["step"] for line in lines if line["kind"] == "train")
    assert [line["task"] for line in lines if line["kind"] == "evaluation"
            and line["step"] >= last] == ["evaluator:0"]
    assert "evaluated step" not in tasks["chief:0"].log
    placed = re.findall(r"dense/kernel/Assign: .*", tasks["chief:0"].log)
    assert placed == ["dense/kernel/Assign: (AssignVariableOp):"
                      " /job:ps/replica:0/task:0/device:CPU:0"]


def test_a_master_evaluates_in_its_own_process_at_every_checkpoint(tmp_path, data_dir):
    tasks = _run(tmp_path, data_dir, jobs.cluster(master=1, worker=1, ps=1),
                 "--save_checkpoints_steps=100", "--save_summary_steps=10",
                 "--param=histograms=true", _FOR_OLD_GRADIENTS)
    _assert_trained(tmp_path, tasks, overshoot=2)
    assert len(jobs.evaluated_steps(tmp_path / "model")) >= 2
    steps = event_files.read(tmp_path / "model")
    assert steps["./variables/sequential/dense_1/kernel"] == steps["./loss"]
    files = {path.name.rpartition(".")[2] for path in (tmp_path / "model").glob("events*")}
    assert files == {"master_0", "worker_0"}


def test_no_process_is_left_behind_when_a_job_is_stopped_midway(tmp_path, data_dir):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    flags = _flags(tmp_path / "model", data_dir, "--train_steps=1000000")
    with jobs.running(tmp_path, hosts, flags) as tasks:
        jobs.wait_for(lambda: "loss" in tasks["chief:0"].log, _TIMEOUT_SECS)
    assert all(task.code is not None for task in tasks.values())


@pytest.mark.soak
def test_two_processes_with_one_batch_take_the_steps_of_one_process(tmp_path, data_dir):
    """Losses are averaged: the gradient depends on the global batch, not on who computes it."""
    flags = ["--model_fn=linear", f"--param=data_dir={data_dir}", "--param=shuffle_buffer=0",
             "--train_steps=1", "--seed=3", "--exporters=none"]
    alone = tmp_path / "alone"
    ran = jobs.trainer(*flags, f"--model_dir={alone}", f"--param=batch_size={_TRAIN_RECORDS}")
    assert ran.returncode == 0, ran.stderr
    with jobs.running(tmp_path, jobs.cluster(worker=2), [
            *flags, f"--model_dir={tmp_path}/pair", "--train_distribute=multi_worker_mirrored",
            f"--param=batch_size={_TRAIN_RECORDS}"]) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
    losses = [json.loads((path / "result.json").read_text())["metrics"]["loss"]
              for path in (alone, tmp_path / "pair")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
