"""Synchronous training with ps: the mean gradients of several trainers a step, on real clusters."""

from __future__ import annotations

import json
import signal

import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.cluster import task_config, topology
from estimator_trainer.settings import trainer_config
from estimator_trainer.training import train_op
from tests.support import event_files, jobs

_TIMEOUT_SECS = 90
_SLOW_DIGITS = jobs.REPO / "examples" / "05_sync_replicas" / "slow_digits.py"


def _flags(tmp_path, data_dir, *extra):
    return ["--model_fn=linear", "--input_fn=digits", f"--param=data_dir={data_dir}",
            f"--model_dir={tmp_path}/model", "--exporters=none", *extra]


def _run(tmp_path, hosts, flags):
    with jobs.running(tmp_path, hosts, flags) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        for task in tasks.values():
            assert "Traceback" not in task.log and "WARNING" not in task.log, task.log
            assert f"role={task.name} status=done step=" in task.last_line
    return tasks


@pytest.mark.cluster
def test_synchronous_step_of_two_trainers_is_that_of_one(tmp_path, data_dir):
    flags = _flags(tmp_path, data_dir, "--train_steps=2", "--seed=3", "--param=shuffle_buffer=0",
                   "--param=batch_size=1442")
    _run(tmp_path, jobs.cluster(chief=1, worker=1, ps=1), [*flags, "--sync_replicas=2"])
    alone = jobs.trainer(*flags, f"--model_dir={tmp_path}/alone")
    assert alone.returncode == 0, alone.stderr
    losses = [json.loads((tmp_path / name / "result.json").read_text())["metrics"]["loss"]
              for name in ("model", "alone")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.cluster
@pytest.mark.soak
def test_synchronous_job_of_two_ps_ends_at_its_very_step(tmp_path, data_dir):
    _run(tmp_path, jobs.cluster(chief=1, worker=2, ps=2), _flags(
        tmp_path, data_dir, "--train_steps=100", "--sync_replicas=3", "--sync_tokens=3",
        "--param=batch_size=66"))
    assert jobs.saved_step(tmp_path / "model") == 100
    assert event_files.read(tmp_path / "model")["./loss"]


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_synchronous_job_ends_with_the_data_of_the_first_trainer(tmp_path, data_dir):
    tasks = _run(tmp_path, jobs.cluster(chief=1, worker=2, ps=1), _flags(
        tmp_path, data_dir, "--train_epochs=2", "--sync_replicas=3", "--param=batch_size=66"))
    assert all("reason=input_exhausted" in task.last_line for task in tasks.values())
    assert 41 <= jobs.saved_step(tmp_path / "model") <= 44  # 2 * 1442 / 66 = 43.7


@pytest.mark.soak
@pytest.mark.any_tensorflow
@pytest.mark.cluster
def test_backup_worker_spares_the_wait_for_the_slowest(tmp_path, data_dir):
    read = tmp_path / "read"
    _run(tmp_path, jobs.cluster(chief=1, worker=2, ps=1), _flags(
        tmp_path, data_dir, f"--input_fn={_SLOW_DIGITS}", "--train_steps=300",
        "--sync_replicas=2", "--param=slow_pipeline=2", "--param=slow_secs=1",
        f"--param=read={read}"))
    assert jobs.saved_step(tmp_path / "model") == 300
    # With all three, each of 300 steps would have taken one of its batches; some are read ahead.
    assert len(read.read_text().splitlines()) < 150


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_synchronous_job_saves_and_ends_at_sigterm_to_the_chief(tmp_path, data_dir):
    flags = _flags(tmp_path, data_dir, "--train_steps=1000000", "--sync_replicas=2",
                   "--log_every_steps=10")
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1, ps=1), flags) as tasks:
        jobs.wait_for(lambda: tasks["worker:0"].losses, _TIMEOUT_SECS)
        tasks["chief:0"].process.send_signal(signal.SIGTERM)
        jobs.wait_for(lambda: all(t.code is not None for t in tasks.values()), _TIMEOUT_SECS)
        assert {task.code for task in tasks.values()} == {143}, [t.last_line for t in
                                                                 tasks.values()]
    assert jobs.saved_step(tmp_path / "model") > 0


@pytest.mark.cluster
@pytest.mark.any_tensorflow
@pytest.mark.soak
@pytest.mark.parametrize("sync_replicas", [0, 1])
def test_late_worker_joins_a_training_with_ps(sync_replicas, tmp_path, data_dir):
    hosts = jobs.cluster(chief=1, worker=2, ps=1)
    flags = _flags(tmp_path, data_dir, "--model_fn=mlp", "--train_steps=1000000",
                   "--log_every_steps=20", f"--sync_replicas={sync_replicas}")
    tasks = {}
    try:
        for role, index in (("chief", 0), ("ps", 0), ("worker", 0), ("worker", 1)):
            if (role, index) == ("worker", 1):
                jobs.wait_for(lambda: tasks["worker:0"].losses, _TIMEOUT_SECS)
            tf_config = json.dumps({"cluster": hosts, "task": {"type": role, "index": index}})
            tasks[f"{role}:{index}"] = jobs.start(tmp_path, f"{role}:{index}", flags, tf_config)
        jobs.wait_for(lambda: tasks["worker:1"].losses, _TIMEOUT_SECS)
        first_step_of_late = tasks["worker:1"].losses[0][0]
        assert first_step_of_late > tasks["worker:0"].losses[0][0]
    finally:
        for task in tasks.values():
            jobs.kill(task)


def test_problems_of_sync_replicas():
    def parse(**hosts):
        return task_config.parse(json.dumps({
            "cluster": hosts, "task": {"type": "worker", "index": 0}}))

    with_ps = parse(chief=["a:1"], worker=["b:1"], ps=["c:1"])
    assert topology.problems(with_ps, "none", "none", 2) == ()
    [problem] = map(str, topology.problems(with_ps, "none", "none", 3))
    assert "expected at most 2" in problem
    [problem] = map(str, topology.problems(with_ps, "parameter_server", "none", 2))
    assert "For example: --train_distribute=none" in problem
    [problem] = map(str, topology.problems(task_config.parse(None), "none", "none", 1))
    assert "one trainer without ps" in problem and "--sync_replicas=0" in problem


def test_request_refuses_a_model_fn_with_its_own_train_op():
    config = trainer_config.TrainerConfig(sync_replicas=2, model_fn="./mine.py")
    with tf.Graph().as_default():
        train_op.request(config, task_config.parse(None))
        spec = tf.estimator.EstimatorSpec("train", loss=tf.constant(0.0), train_op=tf.no_op())
        with pytest.raises(errors.ConfigError, match="model_fn './mine.py' does not do it"):
            train_op.complete(spec, config, task_config.parse(None))
