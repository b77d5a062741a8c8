"""With --worker_events each worker beside ps leaves TensorBoard the curves of its own steps."""

from __future__ import annotations

import signal

import pytest

from estimator_trainer.cluster import topology
from tests.cluster.test_topology import tasks_of
from tests.support import event_files, jobs

_TIMEOUT_SECS = 120
_SOURCE = """
import tensorflow as tf
def input_fn(mode):
    data = tf.data.Dataset.from_tensors(([[1.0]], [[2.0]]))
    return data.repeat() if mode == "train" else data
def model_fn(features, labels, mode):
    w = tf.compat.v1.get_variable("w", initializer=1.0, use_resource=True)
    loss = tf.reduce_mean((w * features - labels) ** 2)
    tf.compat.v1.summary.scalar("weight", w)
    step = tf.compat.v1.train.get_or_create_global_step()
    rate = tf.compat.v1.train.GradientDescentOptimizer(0.001)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=rate.minimize(loss, step))
"""


@pytest.mark.soak
@pytest.mark.cluster
def test_each_worker_beside_ps_writes_summaries_into_its_own_folder(tmp_path):
    path, model_dir = tmp_path / "line.py", tmp_path / "model"
    path.write_text(_SOURCE)
    flags = [f"--model_fn={path}", f"--input_fn={path}", f"--model_dir={model_dir}",
             "--train_steps=100000000", "--exporters=none", "--noreport", "--worker_events",
             "--log_every_steps=20", "--save_summary_steps=10"]
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=2, ps=1), flags) as tasks:
        workers = [tasks["worker:0"], tasks["worker:1"]]
        jobs.wait_for(lambda: all(len(task.losses) > 2 for task in workers), _TIMEOUT_SECS)
        tasks["chief:0"].process.send_signal(signal.SIGTERM)
        jobs.wait_for(lambda: all(task.code is not None for task in tasks.values()), _TIMEOUT_SECS)
    assert "step by step" not in workers[0].log
    steps = event_files.read(model_dir)
    for folder in (".", "worker_0", "worker_1"):
        assert len(steps[f"{folder}/loss"]) > 1 and steps[f"{folder}/global_step/sec"]
        assert steps[f"{folder}/weight"] == steps[f"{folder}/loss"]
    assert {file.name.rpartition(".")[2] for file in model_dir.glob("events*")} == {"chief_0"}
    assert {file.name.rpartition(".")[2] for file in model_dir.glob("worker_*/*")} == {
        "worker_0", "worker_1"}


def test_events_of_each_worker_are_refused_where_there_is_no_ps():
    for roles in (["chief", "worker"], ["worker", "worker"], ["chief"]):
        verdicts = {topology.events_problems(task, True) for task in tasks_of(*roles)}
        [(problem,)] = verdicts
        assert str(problem).startswith("worker_events is True (from --worker_events)")
    for task in tasks_of("chief", "worker", "ps"):
        assert topology.events_problems(task, True) == ()
    assert topology.events_problems(tasks_of("chief")[0], False) == ()
