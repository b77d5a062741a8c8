"""An input of batches of unknown rank: the chief's ends first, and no worker's step is lost."""

from __future__ import annotations

import textwrap

import pytest

from tests.support import jobs

pytestmark = [pytest.mark.cluster, pytest.mark.soak]

_PLUGIN = """
    import tensorflow as tf
    v1 = tf.compat.v1
    def input_fn(mode, params, input_context):
        count = 20 + 300 * input_context.input_pipeline_id if mode == "train" else 3
        return tf.data.Dataset.from_generator(lambda: ([i * 1.0] for i in range(count)), tf.float32)
    def model_fn(features, labels, mode):
        weight = v1.get_variable("weight", [], use_resource=True)
        loss = tf.reduce_mean(tf.square(weight - tf.reshape(features, [-1]) / 300.0))
        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(
            loss, v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""


def test_the_last_checkpoint_holds_what_the_worker_did(tmp_path):
    (tmp_path / "plugin.py").write_text(textwrap.dedent(_PLUGIN))
    flags = [f"--model_fn={tmp_path}/plugin.py", f"--input_fn={tmp_path}/plugin.py",
             f"--model_dir={tmp_path}/model", "--exporters=none", "--train_steps=10000"]
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1, ps=1), flags) as tasks:
        jobs.wait_for(lambda: all(task.code is not None for task in tasks.values()), 90)
        assert [task.code for task in tasks.values()] == [0, 0, 0], tasks["chief:0"].log
    result = jobs.result(tmp_path / "model")
    assert result["reason"] == "input_exhausted"
    step = jobs.saved_step(tmp_path / "model")
    assert step == result["metrics"]["global_step"] == 340
