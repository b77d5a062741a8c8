"""Jobs that train on TensorFlow 2.15 train on the newest, in the same roles."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from estimator_trainer import versions
import estimator_trainer.compat  # noqa: F401  Before TensorFlow.
from tests.support import jobs

# isort: split
import tensorflow as tf

NATIVE = versions.installed().mode == "native"
pytestmark = pytest.mark.cluster
CLUSTER = {"chief": ["h:1"], "worker": ["h:2", "h:3"], "ps": ["h:4"]}

# One job: y = 3x learnt by one weight, trained and evaluated as TF_CONFIG says.
JOB = """
import sys
import estimator_trainer.compat
import tensorflow as tf

def model_fn(features, labels, mode, config):
    print("role", config.task_type, config.task_id, config.is_chief, config.num_worker_replicas,
          config.num_ps_replicas, config.global_id_in_cluster, flush=True)
    weight = tf.compat.v1.get_variable("weight", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean((features["x"] * weight - labels) ** 2)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.05)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(
            loss, global_step=tf.compat.v1.train.get_or_create_global_step()))

def input_fn():
    x = tf.range(8, dtype=tf.float32) / 8
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x)).repeat().batch(4)

class Listener(tf.estimator.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        print("listener", global_step_value, flush=True)

def run(strategy, **config):
    config = tf.estimator.RunConfig(model_dir=sys.argv[1], train_distribute=strategy,
                                    save_checkpoints_steps=20, **config)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    train_spec = tf.estimator.TrainSpec(input_fn, max_steps=40, saving_listeners=[Listener()])
    eval_spec = tf.estimator.EvalSpec(input_fn, steps=2, start_delay_secs=0, throttle_secs=0)
    return tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)

"""
MIRRORED = JOB + """
cpus = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], cpus)
strategy = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice())
session_config = tf.compat.v1.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
print("replicas", strategy.num_replicas_in_sync)
metrics, _ = run(strategy, session_config=session_config)
print("step", metrics["global_step"])
"""
MULTI_WORKER = JOB + "run(tf.distribute.experimental.MultiWorkerMirroredStrategy())"
PARAMETER_SERVER = JOB + "run(tf.compat.v1.distribute.experimental.ParameterServerStrategy())"


class Job:
    """A job of one process a role, each with its TF_CONFIG."""

    def __init__(self, code, roles, model_dir):
        addresses, sockets = [], []
        for _ in roles:
            sockets.append(socket.socket())
            sockets[-1].bind(("127.0.0.1", 0))
            addresses.append("127.0.0.1:%d" % sockets[-1].getsockname()[1])
        for each in sockets:
            each.close()
        cluster = {role: [address] for role, address in zip(roles, addresses)}
        self.logs = {role: pathlib.Path(f"{model_dir}.{role}.log") for role in roles}
        self.processes = {}
        for role in roles:
            task = {"cluster": cluster, "task": {"type": role, "index": 0}}
            env = dict(os.environ, PYTHONPATH=str(jobs.REPO), CUDA_VISIBLE_DEVICES="-1",
                       TF_CONFIG=json.dumps(task))
            with self.logs[role].open("wb") as log:
                self.processes[role] = subprocess.Popen(
                    [sys.executable, "-c", code, str(model_dir)], env=env, stdout=log,
                    stderr=subprocess.STDOUT, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for process in self.processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def finish(self, *roles, secs=60):
        """Returns the log of each role, after its process has ended well."""
        end = time.monotonic() + secs
        for role in roles:
            code = self.processes[role].wait(max(0.1, end - time.monotonic()))
            assert code == 0, self.logs[role].read_text()[-3000:]
        return [self.logs[role].read_text() for role in roles]


def keras_model_fn(features, labels, mode):
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="tanh"),
                                 tf.keras.layers.Dense(1)])
    logits = model(features["x"], training=mode == tf.estimator.ModeKeys.TRAIN)
    return spec(mode, logits, labels)


def v1_model_fn(features, labels, mode):
    hidden = tf.compat.v1.layers.dense(features["x"], 4, tf.nn.tanh)
    weights = tf.compat.v1.get_variable("weights", [4, 1])
    return spec(mode, tf.matmul(hidden, weights), labels)


def spec(mode, logits, labels):
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": logits})
    loss = tf.reduce_mean((logits - labels) ** 2)
    train_op = tf.compat.v1.train.AdagradOptimizer(0.5).minimize(
        loss, global_step=tf.compat.v1.train.get_or_create_global_step())
    mean = tf.compat.v1.metrics.mean(logits)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op,
                                      eval_metric_ops={"mean": mean})


def input_fn():
    x = np.linspace(0, 1, 32, dtype=np.float32).reshape(32, 1)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x)).repeat(20).batch(8)


@pytest.mark.parametrize("model_fn", [keras_model_fn, v1_model_fn])
def test_a_local_job_trains_evaluates_and_exports(model_fn, tmp_path):
    config = tf.estimator.RunConfig(model_dir=str(tmp_path), tf_random_seed=7)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.zeros([1, 1])})
    metrics, (export,) = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn, max_steps=60),
        tf.estimator.EvalSpec(input_fn, exporters=tf.estimator.FinalExporter("last", receiver)))
    assert metrics["global_step"] == 60
    assert metrics["loss"] < 0.3
    served = tf.saved_model.load(export).signatures["serving_default"](x=tf.ones([1, 1]))["y"]
    (predicted,) = list(estimator.predict(
        lambda: tf.data.Dataset.from_tensors({"x": tf.ones([1, 1])})))
    np.testing.assert_allclose(served.numpy()[0], predicted["y"], rtol=1e-6)


@pytest.mark.parametrize("task, coordinated, role", [
    (None, False, ("worker", 0, True, 1, 0)),
    (("chief", 0), True, ("worker", 0, True, 1, 0)),
    (("worker", 1), True, ("worker", 0, True, 1, 0)),
])
def test_a_run_config_with_a_strategy_leaves_the_role_to_the_coordinator(
        task, coordinated, role, monkeypatch):
    if task:
        monkeypatch.setenv("TF_CONFIG", json.dumps(
            {"cluster": CLUSTER, "task": {"type": task[0], "index": task[1]}}))
    config = tf.estimator.RunConfig(train_distribute=tf.distribute.OneDeviceStrategy("/cpu:0"))
    assert bool(config._distribute_coordinator_mode) is coordinated
    assert config.cluster_spec.as_dict() == (CLUSTER if task else {})
    assert role == (config.task_type, config.task_id, config.is_chief,
                    config.num_worker_replicas, config.num_ps_replicas)


@pytest.mark.parametrize("strategies, cluster, task, role", [
    ({"eval_distribute"}, CLUSTER, ("worker", 1), ("worker", 1, False, 3, 1, 2)),
    ({"eval_distribute"}, CLUSTER, ("evaluator", 0), ("evaluator", 0, False, 0, 0, None)),
    ({"train_distribute"}, {"master": ["h:1"], "ps": ["h:2"]}, ("master", 0),
     ("master", 0, True, 1, 1, 0)),
])
def test_a_run_config_that_no_coordinator_runs_has_its_role_from_tf_config(
        strategies, cluster, task, role, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps(
        {"cluster": cluster, "task": {"type": task[0], "index": task[1]}}))
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    config = tf.estimator.RunConfig(**dict.fromkeys(strategies, strategy))
    assert config._distribute_coordinator_mode is None
    assert role == (config.task_type, config.task_id, config.is_chief,
                    config.num_worker_replicas, config.num_ps_replicas,
                    config.global_id_in_cluster)


def test_train_alone_in_a_cluster_names_train_and_evaluate(monkeypatch, tmp_path):
    monkeypatch.setenv("TF_CONFIG", json.dumps(
        {"cluster": {"chief": ["h:1"]}, "task": {"type": "chief", "index": 0}}))
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    config = tf.estimator.RunConfig(str(tmp_path), train_distribute=strategy,
                                    eval_distribute=strategy)
    estimator = tf.estimator.Estimator(v1_model_fn, config=config)
    for method in (estimator.train, estimator.evaluate):
        with pytest.raises(ValueError, match="STANDALONE_CLIENT" if NATIVE else
                           r"tf.estimator.train_and_evaluate instead"):
            method(input_fn, steps=1)


@pytest.mark.soak
def test_mirrored_strategy_over_two_logical_cpus(tmp_path):
    env = dict(os.environ, PYTHONPATH=str(jobs.REPO), CUDA_VISIBLE_DEVICES="-1")
    run = subprocess.run([sys.executable, "-c", MIRRORED, str(tmp_path)], env=env, timeout=90,
                         check=False, capture_output=True, text=True)
    assert run.stdout.splitlines()[0] == "replicas 2", run.stderr[-3000:]
    assert run.stdout.splitlines()[-1] == "step 40", run.stderr[-3000:]


@pytest.mark.soak
def test_two_processes_train_one_multi_worker_mirrored_model(tmp_path):
    with Job(MULTI_WORKER, ["chief", "worker"], tmp_path) as job:
        chief, worker = job.finish("chief", "worker")
    assert "role chief 0 True 2 0 0" in chief
    assert "role worker 0 False 2 0 1" in worker
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-40")
    # 2.15 drops them without a word.
    assert "saving_listeners are not called" in chief or NATIVE


@pytest.mark.soak
def test_a_parameter_server_strategy_calls_the_chiefs_saving_listeners(tmp_path):
    with Job(PARAMETER_SERVER, ["chief", "ps", "evaluator"], tmp_path) as job:
        chief, evaluator = job.finish("chief", "evaluator")
        assert job.processes["ps"].poll() is None
    assert "role chief 0 True 1 1 0" in chief
    assert "role evaluator 0 True 0 0 None" in evaluator
    # 2.15 drops them without a word.
    assert ("listener 40" in chief) is not NATIVE
