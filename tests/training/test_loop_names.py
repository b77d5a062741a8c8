"""A loop leaves names, summaries and a NaN as single steps, and so the plain Estimator, would."""

from __future__ import annotations

import textwrap

import pytest
import tensorflow as tf

from tests.support import jobs

_PROGRAM = """
    import numpy as np
    import tensorflow as tf
    v1 = tf.compat.v1
    DEFAULT_PARAMS = {"kind": ""}
    def input_fn(mode):
        dataset = tf.data.Dataset.range(64).map(lambda i: tf.cast([i], tf.float32))
        dataset = dataset.map(lambda x: ({"x": x}, 2.0 * x))
        return dataset.repeat() if mode == "train" else dataset
    def model_fn(features, labels, mode, params):
        kind = params["kind"]
        w = v1.get_variable("steps", [], initializer=tf.zeros_initializer())
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": w * features["x"]})
        error = tf.reduce_mean(tf.square(w * features["x"] / 64.0 - labels / 64.0))
        loss = tf.add(error, 1000.0, name="loss" if kind == "tensor" else None)
        if kind == "own summary":
            v1.summary.scalar("loss", error)
        if kind == "alike":
            tf.reduce_sum(error)
            v1.get_variable("sum", [], use_resource=True)
            v1.get_variable("const", [], use_resource=True)
            v1.summary.scalar("steps", error)
        if kind == "nan":
            is_bad = tf.equal(tf.reduce_sum(features["x"]), 45.0)
            loss += tf.where(is_bad, np.nan, 0.0)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(
            error, v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""


def _train(tmp_path, kind):
    (tmp_path / "program.py").write_text(textwrap.dedent(_PROGRAM))
    return jobs.trainer(
        f"--model_fn={tmp_path}/program.py", f"--input_fn={tmp_path}/program.py",
        f"--param=kind={kind}", f"--model_dir={tmp_path}/model", "--train_steps=61",
        "--steps_per_loop=10", "--save_summary_steps=20", "--num_evaluations=1", "--seed=1",
        "--exporters=none")


@pytest.mark.cluster
def test_loop_names_are_shared_by_variables_and_summaries(tmp_path):
    """As in one graph: "Sum" is taken for "sum", and a variable's name for a summary's."""
    ran = _train(tmp_path, "alike")
    assert ran.returncode == 0 and "one step in a session run" not in ran.stderr, ran.stderr
    names = {name for name, _ in tf.train.list_variables(str(tmp_path / "model"))}
    assert names == {"global_step", "steps", "sum_1", "const_1"}
    [path] = (tmp_path / "model").glob("events*")
    tags = {value.tag for event in tf.compat.v1.train.summary_iterator(str(path))
            for value in event.summary.value}
    assert {"steps_1", "loss"} <= tags and "steps" not in tags


@pytest.mark.cluster
@pytest.mark.parametrize("kind, tag, base", [
    ("own summary", "loss", 0),
    pytest.param("tensor", "loss_1", 1000, marks=pytest.mark.cluster),
])
def test_loop_names_leave_a_models_names_alone(kind, tag, base, tmp_path):
    ran = _train(tmp_path, kind)
    assert ran.returncode == 0, ran.stderr
    written = [(event.step, value.tag, value.simple_value)
               for path in (tmp_path / "model").glob("events*")
               for event in tf.compat.v1.train.summary_iterator(str(path))
               for value in event.summary.value if not value.tag.endswith("/sec")]
    assert [each[:2] for each in written] == [(step, tag) for step in (1, 21, 41, 61)]
    assert all(base <= value < base + 1 for _, _, value in written), written
    names = {name for name, _ in tf.train.list_variables(str(tmp_path / "model"))}
    assert names == {"global_step", "steps"}


@pytest.mark.cluster
def test_loop_ends_training_at_a_nan_loss_in_one_step(tmp_path):
    ran = _train(tmp_path, "nan")
    assert ran.returncode == 1 and "the loss became NaN in local" in ran.stderr, ran.stderr
