"""Fixtures that run a command in this process, and that write modules as users do."""

from __future__ import annotations

import textwrap

import pytest

from estimator_trainer import cli
from tests.support import plain_lines

PLAIN_MODEL = """
    import tensorflow as tf
    def model_fn(features, labels, mode):
        x = features["x"]
        w = tf.compat.v1.get_variable("w", [2, 1])
        y = tf.squeeze(tf.matmul(x, w), axis=1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y}, export_outputs={
                "serving_default": tf.estimator.export.RegressionOutput(y)})
        loss = tf.reduce_mean(tf.square(y - labels))
        train_op = tf.compat.v1.train.AdamOptimizer(0.1).minimize(
            loss, tf.compat.v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
PLAIN_INPUT = """
    import numpy as np, tensorflow as tf
    def input_fn():
        x = np.random.RandomState(0).rand(64, 2).astype(np.float32)
        return tf.data.Dataset.from_tensor_slices(
            ({"x": x, "id": np.arange(64)}, x @ [1.0, -2.0])).map(
                lambda f, y: (f, tf.cast(y, tf.float32))).batch(16)
"""


@pytest.fixture
def run(tmp_path, data_dir, capfd):
    """Runs a command in this process; returns its standard output and error."""

    def run_command(*args, expected_code=0):
        # New data, and input_fns other than the default's, need no prepared dataset.
        needs_none = any("input_fn" in arg or arg.startswith("--data=") for arg in args)
        with_data = [] if needs_none else [f"--param=data_dir={data_dir}"]
        code = cli.main(plain_lines.of([*args, *with_data]))
        out, err = capfd.readouterr()
        assert code == expected_code, err
        return out, err

    return run_command


@pytest.fixture
def plain(tmp_path):
    """Modules of a team that knows nothing of this project."""
    (tmp_path / "my_model.py").write_text(textwrap.dedent(PLAIN_MODEL))
    (tmp_path / "my_input.py").write_text(textwrap.dedent(PLAIN_INPUT))
    return [f"--model_fn={tmp_path}/my_model.py", f"--input_fn={tmp_path}/my_input.py"]
