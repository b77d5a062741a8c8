"""Programs whose step is more than an update: states, random numbers, micro-batches."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1
_MICRO_BATCHES = 64


def _of(seen: Callable[[], tf.Tensor], **arguments: Any) -> Program:
    """Returns a program whose variable `w` adds up what each step sees, a float scalar."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        value = seen() if mode == "train" else tf.constant(1.0)
        loss = tf.reduce_mean(-w * tf.stop_gradient(value) * features["x"])
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"w": loss})
        return models.spec(mode, loss)

    return Program(model_fn, models.endless_line_input_fn, models.short_line_input_fn,
                   **{"max_steps": 24, **arguments})


def _iterator() -> tf.Tensor:
    dataset = tf.data.Dataset.range(10**6).map(lambda i: tf.cast(i, tf.float32))
    return v1.data.make_one_shot_iterator(dataset).get_next()


def _queue() -> tf.Tensor:
    queue = tf.queue.FIFOQueue(1000, [tf.float32], [[]], shared_name="bank", name="bank")
    with tf.control_dependencies([queue.enqueue(1.0)]):
        return tf.cast(queue.size(), tf.float32)


def _table() -> tf.Tensor:
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
    key = tf.constant([7], tf.int64)
    before = table.lookup(key)
    with tf.control_dependencies([table.insert(key, before + 1.0)]):
        return tf.identity(before[0])


def _words() -> tf.Tensor:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant(["a", "b"]), tf.constant([1.0, 2.0])), 0.0)
    return tf.reduce_sum(table.lookup(tf.constant(["b", "c"])))


def _generator() -> tf.Tensor:
    return tf.random.Generator.from_seed(3).uniform([])


def _python() -> tf.Tensor:
    calls: list[int] = []

    def count() -> Any:
        calls.append(1)
        return tf.constant(1.0).dtype.as_numpy_dtype(len(calls))

    seen = v1.py_func(count, [], tf.float32)
    seen.set_shape([])
    return seen


def _seeded(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """A model whose variables, dropout and noise take their seeds from the graph."""
    a = v1.get_variable("a", [1, 8])
    hidden = tf.matmul(features["x"], a)
    if mode == "train":
        hidden = tf.nn.dropout(hidden, 0.5) + tf.random.uniform([8])
    b = v1.get_variable("b", [8, 1], initializer=v1.truncated_normal_initializer())
    outputs = tf.matmul(hidden, b)
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": outputs})
    noise = tf.cond(tf.reduce_sum(outputs) > 0.0, lambda: tf.random.normal([], seed=5),
                    lambda: tf.random.uniform([]))
    return models.spec(mode, v1.losses.mean_squared_error(labels, outputs + 0.01 * noise))


def _shuffled() -> tf.data.Dataset:
    return models.line().unbatch().shuffle(40).batch(4, drop_remainder=True).repeat()


def _normalized(chosen: Callable[[Any], Any]) -> Callable[..., Any]:
    """Returns a model_fn with batch norm of two batches, which runs some of the updates."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        norm = tf.keras.layers.BatchNormalization(momentum=0.5, name="norm")
        source = norm(features["x"], training=mode == "train")
        updates = chosen(norm) if mode == "train" else []
        target = norm(features["x"] + 100.0, training=mode == "train")
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"y": w * source})
        loss = tf.reduce_mean(tf.square(w * source - labels)) + 0.1 * tf.reduce_mean(w * target)
        return models.spec(mode, loss, *updates)

    return model_fn


def _accumulating(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """A model that sums up the gradients of 64 batches, whose global step counts updates."""
    w = v1.get_variable("w", [], initializer=v1.constant_initializer(64.0), use_resource=True)
    loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
    if mode != "train":
        return models.spec(mode, loss)
    sums = models.counter("sums")
    micro = v1.get_variable("micro", [], tf.int64, v1.zeros_initializer(), trainable=False,
                            use_resource=True)
    optimizer = v1.train.GradientDescentOptimizer(0.25)
    [(gradient, _)] = optimizer.compute_gradients(loss, [w])

    def apply() -> tf.Tensor:
        pairs = [(sums.read_value(), w)]
        with tf.control_dependencies([
                optimizer.apply_gradients(pairs, v1.train.get_global_step())]):
            with tf.control_dependencies([sums.assign(0.0)]):
                return tf.constant(True)

    with tf.control_dependencies([sums.assign_add(gradient / _MICRO_BATCHES), micro.assign_add(1)]):
        is_update = tf.equal(micro.read_value() % _MICRO_BATCHES, 0)
        train_op = tf.cond(is_update, apply, lambda: tf.constant(False)).op
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


_LINE = (models.endless_line_input_fn, models.short_line_input_fn)
_ALONE = dict(shapes=("one", "ps"),
              why="a strategy's replicas cannot make these in a graph, in plain neither")

PROGRAMS = {
    "iterator_inside": _of(_iterator, **_ALONE),
    "queue_inside": _of(_queue, **_ALONE),
    "mutable_table": _of(_table, **_ALONE),
    "static_table": _of(_words, is_plugin=True),
    "generator_inside": _of(_generator, **_ALONE),
    "python_inside": _of(_python, **_ALONE),
    "op_seed": _of(lambda: tf.random.uniform([], seed=5)),
    "graph_seeds": Program(_seeded, _shuffled, models.short_line_input_fn, max_steps=24),
    "seed_zero": Program(_seeded, _shuffled, models.short_line_input_fn, max_steps=24,
                         run_config={"tf_random_seed": 0}),
    "chosen_updates": Program(_normalized(lambda norm: list(norm.updates)), *_LINE),
    "no_updates": Program(_normalized(lambda norm: []), *_LINE),
    "accumulated_by_hand": Program(_accumulating, *_LINE, max_steps=4, **_ALONE),
}
