"""A model and data that train in tenths of a second: a line through points, y = 2 x."""

from __future__ import annotations

import pathlib
import textwrap

SOURCE = textwrap.dedent('''
    """A line."""
    import tensorflow as tf

    DEFAULT_PARAMS = {"scale": 1.0, "learning_rate": 0.1, "points": 64, "api_key": ""}


    def model_fn(features, labels, mode, params):
        slope = tf.compat.v1.get_variable("slope", [], initializer=tf.zeros_initializer())
        y = slope * features["x"] * params["scale"]
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean((y - labels) ** 2)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(params["learning_rate"])
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(
            loss, tf.compat.v1.train.get_global_step()))


    def input_fn(mode, params):
        x = tf.range(params["points"], dtype=tf.float32) / params["points"]
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x)).batch(8)
        return dataset.repeat() if mode == "train" else dataset
''')


def write(folder: pathlib.Path) -> pathlib.Path:
    """Writes the plug-in, which is both a model_fn and an input_fn, and returns its path."""
    path = folder / "line.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path
