"""A plain Estimator script, as the multi-worker tutorial has it: model, input and RunConfig."""

from __future__ import annotations

import tempfile
from typing import Any

import estimator_trainer.compat  # noqa: F401  Gives a newer TensorFlow its Estimator back.

# isort: split
import tensorflow as tf
import work


class _Report(tf.estimator.SessionRunHook):
    """Tells the timer of each step."""

    def __init__(self, timer: work.Timer):
        self._timer = timer

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._timer.step()
        if self._timer.is_done:
            run_context.request_stop()


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    timer = work.Timer(todo)
    parameters = []

    def input_fn() -> tf.data.Dataset:
        def scale(image: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return tf.cast(image, tf.float32) / 255.0, label

        return (tf.data.Dataset.from_tensor_slices((todo.images, todo.labels)).map(scale).cache()
                .shuffle(10000).repeat().batch(todo.batch_size))

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        layer = tf.keras.layers
        head = [layer.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
                layer.MaxPooling2D(), layer.Flatten(), layer.Dense(64, activation="relu")
                ] if todo.case == "cnn" else [layer.Flatten(), layer.Dense(100, "sigmoid")]
        logits = tf.keras.Sequential([*head, layer.Dense(10)])(features)
        loss = tf.reduce_mean(tf.keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction="none")(labels, logits))
        train = tf.compat.v1.train
        optimizer = train.GradientDescentOptimizer(0.01) if todo.case == "cnn" else (
            train.AdamOptimizer(0.001))
        parameters[:] = [v.shape.num_elements() for v in tf.compat.v1.trainable_variables()]
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(
            loss, tf.compat.v1.train.get_or_create_global_step()))

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(input_fn, hooks=[_Report(timer)])
    timer.report(sum(parameters))


if __name__ == "__main__":
    main()
