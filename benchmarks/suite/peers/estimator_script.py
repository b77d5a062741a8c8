"""Runs the Estimator script of the multi-worker tutorial: its model, input and RunConfig.

Three things differ from the page: the images come from our TFRecords instead of `tfds.load`; they
are repeated, because the run takes more than an epoch; and there is no strategy, because there is
only one process.

Source: https://www.tensorflow.org/tutorials/distribute/multi_worker_with_estimator
"""

from __future__ import annotations

import tempfile
from typing import Any, Callable

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import tensorflow as tf

from benchmarks.suite.peers import keras_layers, tuned_input, v1_step, work


class _Report(tf.estimator.SessionRunHook):
    """The hook that reports each step to the timer."""

    def __init__(self, timer: work.Timer, loss: tf.Tensor):
        self._timer, self._loss = timer, loss

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs | None:
        return tf.estimator.SessionRunArgs(self._loss) if self._timer.wants_loss else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._timer.step(run_values.results)


def train(todo: work.Work, training_input_fn: Callable[[], tf.data.Dataset]) -> None:
    """Trains, evaluates and reports."""
    timer = work.Timer(todo)
    parameters = []

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        logits = keras_layers.network(todo.case)(features, training=False)
        loss = tf.reduce_sum(tf.keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction="none")(labels, logits)) * (1.0 / todo.batch_size)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss)
        parameters[:] = [(v.shape.num_elements(), loss.dtype)
                         for v in tf.compat.v1.trainable_variables()]
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, training_hooks=[_Report(timer, loss)],
            train_op=v1_step.optimizer(todo.case).minimize(
                loss, tf.compat.v1.train.get_or_create_global_step()))

    tf.estimator.train_and_evaluate(
        tf.estimator.Estimator(model_fn, tempfile.mkdtemp()),
        tf.estimator.TrainSpec(training_input_fn, max_steps=todo.all_steps),
        tf.estimator.EvalSpec(lambda: published_input(todo, "test"), steps=None))
    numbers, dtypes = zip(*parameters)
    timer.report(sum(numbers), dtypes[0], tuned_input.threads())


def published_input(todo: work.Work, split: str) -> tf.data.Dataset:
    """Returns the tutorial's batches."""

    def scale(image: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        image = tf.cast(image, tf.float32)
        image /= 255
        return image, label

    dataset = tuned_input.examples(todo.records, split).map(scale).cache().shuffle(10000)
    return (dataset.repeat() if split == "train" else dataset).batch(todo.batch_size)


def main() -> None:
    """Runs the peer with the tutorial's input."""
    todo = work.from_command_line()
    train(todo, lambda: published_input(todo, "train"))


if __name__ == "__main__":
    main()
