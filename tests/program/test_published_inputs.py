"""Input_fns in the shapes that published programs have train, evaluate, predict and export."""

from __future__ import annotations

import json
import textwrap

import pytest

from tests.support import jobs

pytestmark = pytest.mark.cluster

# The model remembers what it was trained on: how many rows, and in which order.
_MODULE = """
    import functools
    import numpy as np, tensorflow as tf
    tf1 = tf.compat.v1
    DEFAULT_PARAMS = {"factor": 2.0}
    X = np.arange(12, dtype=np.float32)

    def model_fn(features, mode):
        x = features["x"]
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"x": x}, export_outputs={
                "serving_default": tf.estimator.export.PredictOutput({"x": x})})
        rows, order = (tf1.get_variable(
            name, [], tf.int64, tf1.zeros_initializer(), trainable=False, use_resource=True)
            for name in ("rows", "order"))
        size = tf.shape(x, out_type=tf.int64)[0]
        first = tf.cast(x[0], tf.int64)
        with tf.control_dependencies([rows.assign_add(size), order.assign(order * 100 + first)]):
            train_op = tf1.assign_add(tf1.train.get_global_step(), 1).op
        return tf.estimator.EstimatorSpec(
            mode, loss=tf.reduce_mean(x), train_op=train_op, eval_metric_ops={
                "rows": tf1.metrics.mean(rows), "order": tf1.metrics.mean(order),
                "last": tf1.metrics.mean(x)})

    def one_shot(mode, config, params):
        assert isinstance(config, tf.estimator.RunConfig), mode
        dataset = tf1.data.Dataset.from_tensor_slices({"x": X / params["factor"]}).batch(4)
        features = dataset.make_one_shot_iterator().get_next()
        return {"x": features["x"] * params["factor"]}, None

    def builder(params):
        def of_mode(mode):
            return tf1.estimator.inputs.numpy_input_fn(
                {"x": X}, batch_size=5, num_epochs=2 if mode == "train" else 1, shuffle=False)
        return of_mode

    def queues():
        files = tf1.train.string_input_producer([FILE], num_epochs=1)
        _, line = tf1.TextLineReader().read(files)
        x = tf.strings.to_number(line)
        return {"x": tf1.train.batch([x], 4, allow_smaller_final_batch=True)}, None

    train_input_fn = tf1.estimator.inputs.numpy_input_fn({"x": X}, batch_size=3, shuffle=True)
    eval_input_fn = functools.partial(one_shot, params={"factor": 1.0})

    def serving_input_fn():
        half = tf1.placeholder(tf.float32, [None], "half")
        return tf.estimator.export.ServingInputReceiver({"x": half * 2}, {"half": half})
"""


@pytest.fixture
def module(tmp_path):
    """The path of a user's module, which has model and data."""
    (tmp_path / "rows.txt").write_text("".join(f"{row}\n" for row in range(12)))
    path = tmp_path / "published.py"
    path.write_text(textwrap.dedent(_MODULE).replace("FILE", repr(str(tmp_path / "rows.txt"))))
    return path


@pytest.mark.parametrize("function, steps, rows, order", [
    ("one_shot", 3, 12, 408), ("builder", 5, 24, 510_03_08), ("queues", 3, 12, 408)])
def test_each_row_is_trained_on_evaluated_and_predicted_once(function, steps, rows, order, module,
                                                             tmp_path, run):
    flags = [f"--model_fn={module}", f"--input_fn={module}:{function}",
             f"--model_dir={tmp_path / 'm'}"]
    _, log = run("--train_steps=0", *flags)
    assert ("one step in a session run" in log) == (function == "queues")
    made = jobs.result(tmp_path / "m")
    metrics = made["metrics"]
    assert (metrics["global_step"], metrics["rows"], metrics["last"]) == (steps, rows, 5.5)
    assert metrics["order"] == order
    for source in ("--checkpoint=latest", f"--export_dir={made['exports'][0]}"):
        out, _ = run("predict", source, *flags)
        assert [json.loads(line)["x"] for line in out.splitlines()] == list(range(12))


@pytest.mark.soak
def test_training_evaluation_and_serving_may_have_functions_of_their_own(module, tmp_path, run):
    flags = [f"--model_fn={module}", f"--train_input_fn={module}", f"--eval_input_fn={module}",
             f"--model_dir={tmp_path / 'm'}"]
    ran = jobs.trainer("--train_steps=0", "--train_distribute=mirrored", "--num_replicas=2",
                       "--exporters=none", *flags)
    assert ran.returncode == 0, ran.stderr
    assert jobs.result(tmp_path / "m")["metrics"]["global_step"] == 2
    run("export", f"--serving_input_fn={module}", *flags)
    [exported] = (tmp_path / "m" / "export" / "manual").iterdir()
    _, err = run("predict", f"--export_dir={exported}", *flags, expected_code=2)
    assert "takes half" in err
    out, _ = run("check", f"--serving_input_fn={module}", *flags)
    assert all(f"{kind}_input_fn" in out for kind in ("train", "eval", "serving"))


def test_tensors_of_queues_are_refused_where_only_a_dataset_would_do(module, tmp_path, run):
    flags = [f"--model_fn={module}", f"--input_fn={module}:queues",
             f"--model_dir={tmp_path / 'm'}"]
    _, err = run("--train_epochs=2", *flags, expected_code=2)
    assert "they come from queues" in err and "(from --train_epochs)" in err
    ran = jobs.trainer("--train_distribute=mirrored", "--num_replicas=2", *flags)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert "they come from queues; a strategy" in ran.stderr
