"""Programs whose functions draw numbers outside the graph, and so depend on the order of calls."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1


def _seeded(job: Any) -> None:
    """Trains and evaluates after seeding Python and NumPy, and tells what they draw next."""
    random.seed(3)
    np.random.seed(3)
    job.train_and_evaluate()
    if job.shape in ("one", "mirrored"):
        # In a cluster plain's chief does not evaluate: it draws less.
        job.keep("next", [random.random(), float(np.random.rand())])


def _drawn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Draws the initial value of a weight again in each mode."""
    first = np.random.rand() + random.random()
    weight = v1.get_variable("weight", [1, 1], initializer=v1.constant_initializer(first))
    return _regression(tf.matmul(features["x"], weight) + first, labels, mode)


def _layers(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has Keras layers, whose initializers and dropout are seeded by Python."""
    hidden = tf.keras.layers.Dense(4, activation="relu")(features["x"])
    hidden = tf.keras.layers.Dropout(0.5)(hidden, training=mode == "train")
    return _regression(tf.keras.layers.Dense(1)(hidden), labels, mode)


def _layers_and_table(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has Keras layers, and a table, which keeps the model out of a loop."""
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant([0], tf.int64), tf.constant([0.5])), 1.0)
    scale = table.lookup(tf.cast(features["x"] * 4.0, tf.int64))
    return _layers({"x": features["x"] * scale}, labels, mode)


def _regression(outputs: tf.Tensor, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    return models.spec(mode, loss, metrics={"mean": v1.metrics.mean(outputs)})


def _noisy(draw: Any) -> tf.data.Dataset:
    noise = draw(10).astype(np.float32).reshape(10, 1)
    return models.line(10).unbatch().batch(10).map(
        lambda features, labels: ({"x": features["x"] + noise}, labels))


def _noisy_input_fn() -> tf.data.Dataset:
    return _noisy(np.random.rand).repeat()


def _noisy_eval_input_fn() -> tf.data.Dataset:
    return _noisy(np.random.rand)


def _own_generator(job: Any) -> None:
    """Has a generator of its own, of which training and each evaluation draw."""
    generator = np.random.default_rng(5)
    job.keep("returns", tf.estimator.train_and_evaluate(
        job.estimator(),
        job.train_spec(input_fn=lambda: _noisy(generator.random).repeat()),
        job.eval_spec(input_fn=lambda: _noisy(generator.random))))


def _one_shot_input_fn() -> Any:
    return v1.data.make_one_shot_iterator(models.endless_line_input_fn()).get_next()


def _dropping(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has random numbers of the graph, each of the seed that its place among them gives."""
    weight = v1.get_variable("weight", [1, 1], initializer=v1.random_normal_initializer())
    x = features["x"]
    if mode == "train":
        x = x * tf.random.uniform(tf.shape(x))
    return _regression(tf.matmul(x, weight), labels, mode)


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn)

PROGRAMS = {
    "draws_in_model_fn": Program(_drawn, **_LINE, main=_seeded),
    "draws_in_input_fn": Program(models.linear, _noisy_input_fn, _noisy_eval_input_fn,
                                 main=_seeded),
    "draws_of_its_own": Program(models.linear, **_LINE, main=_own_generator),
    "keras_layers_seeded": Program(_layers, **_LINE, main=_seeded),
    "keras_layers_and_a_table": Program(_layers_and_table, **_LINE, main=_seeded),
    "one_shot_and_random": Program(_dropping, _one_shot_input_fn, models.short_line_input_fn,
                                   shapes=("one", "ps", "ps_worker"),
                                   why="a strategy takes no tensors in plain"),
}
