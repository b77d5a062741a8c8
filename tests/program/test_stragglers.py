"""The page of a real job names the task that is slow, and why."""

from __future__ import annotations

import textwrap

import pytest

from estimator_trainer.reports import run_files, task_load
from tests.support import jobs

pytestmark = [pytest.mark.soak, pytest.mark.cluster]

_SOURCE = textwrap.dedent('''
    """A network whose input, or computation, is slow in one task."""
    import json
    import os
    import time

    import tensorflow as tf

    DEFAULT_PARAMS = {"slow_task": "", "slow_part": "input", "secs": 0.03}


    def _slow(part, params, tensor):
        task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"type": "local"})
        if params["slow_part"] != part or params["slow_task"] != (
                ":".join(str(task[key]) for key in ("type", "index") if key in task)):
            return tensor

        def wait(value):
            end = time.process_time() + params["secs"]
            if part == "input":
                time.sleep(params["secs"])
            while part == "compute" and time.process_time() < end:
                pass
            return value

        slow = tf.numpy_function(wait, [tensor], tensor.dtype)
        slow.set_shape(tensor.shape)
        return slow


    def model_fn(features, labels, mode, params):
        x = _slow("compute", params, features["x"]) if mode == "train" else features["x"]
        y = tf.compat.v1.layers.dense(tf.compat.v1.layers.dense(x, 64, tf.nn.relu), 1)[:, 0]
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean((y - labels) ** 2)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.001)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(
            loss, tf.compat.v1.train.get_or_create_global_step()))


    def input_fn(mode, params):
        x = tf.random.uniform([512, 16], seed=1)
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, tf.reduce_sum(x, 1)))
        dataset = dataset.batch(32, drop_remainder=True)
        if mode != "train":
            return dataset
        return dataset.repeat().map(lambda x, y: (x, _slow("input", params, y)))
''')


def _loads(tmp_path, *args):
    plugin = tmp_path / "slow.py"
    plugin.write_text(_SOURCE)
    ran = jobs.program(*args, f"--model_fn={plugin}", f"--input_fn={plugin}",
                       f"--model_dir={tmp_path}/model", timeout_secs=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return task_load.of_run(run_files.read(f"{tmp_path}/model"))


@pytest.mark.parametrize("part, words", [
    ("input", "of its time for input"), ("compute", "it computes")])
def test_the_straggler_of_an_asynchronous_job_is_named(tmp_path, part, words):
    loads = _loads(tmp_path, "launch", "--worker=2", "--ps=1", "--", "--train_steps=12000",
                   "--param=slow_task=worker:1", f"--param=slow_part={part}")
    name, sentence = task_load.slowest(loads)
    assert name == loads[0].task == "worker:1" and words in sentence
    trainers = {load.task: load for load in loads if load.is_trainer}
    [ps] = [load for load in loads if load.task == "ps:0"]
    assert ps.cpu and ps.memory_mb
    # Two layers of 16 x 64 and 64 x 1, with the global step and flags of the loop.
    for load in trainers.values():
        assert 4 * 1153 <= load.received_bytes <= 4 * 1153 + 200
        assert 4 * 1153 <= load.sent_bytes <= 4 * 1153 + 200
        assert sum(load.shares.values()) == pytest.approx(1)
    # In a short job the slow trainer may make too few steps for a line.
    if trainers["worker:1"].others_updates:
        assert trainers["worker:1"].others_updates > trainers["chief:0"].others_updates


@pytest.mark.parametrize("part, words", [
    ("input", "of its time for input"), ("compute", "it computes")])
def test_the_straggler_of_an_all_reduce_is_named(tmp_path, part, words):
    loads = _loads(tmp_path, "launch", "--worker=1", "--", "--train_steps=400",
                   "--train_distribute=multi_worker_mirrored", "--param=slow_task=worker:0",
                   f"--param=slow_part={part}")
    name, sentence = task_load.slowest(loads)
    assert name == "worker:0" and words in sentence
    assert "chief:0 waits" in task_load.limit(loads)
    slow, chief = loads
    assert chief.shares["workers"] > 0.5 > slow.shares["workers"]
    assert slow.steps_per_sec == pytest.approx(chief.steps_per_sec, rel=0.2)


def test_slow_input_of_a_job_alone_is_named(tmp_path):
    loads = _loads(tmp_path, "train", "--train_steps=200", "--param=slow_task=local")
    assert task_load.limit(loads).startswith("local waits")
    [load] = loads
    assert load.shares["input"] > 0.5 and load.cpu and load.paused is not None
