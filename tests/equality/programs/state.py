"""State beside the variables: random numbers, tables, queues, Python, iterators, loops."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1


def _adding(see: Callable[[Any], tf.Tensor]) -> Any:
    """Returns a model_fn that adds what `see` returns at each step to a variable."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        if mode != "train":
            # An evaluation that reads no input never ends.
            loss = weight + tf.reduce_mean(features["x"])
            return tf.estimator.EstimatorSpec(mode, loss=loss, predictions={"loss": loss})
        seen = tf.cast(see(features), tf.float32)
        loss = -weight * tf.stop_gradient(seen)
        return models.spec(mode, loss, counter("sum", seen),
                           optimizer=v1.train.GradientDescentOptimizer(1.0))

    return model_fn


def counter(name: str, value: tf.Tensor) -> Any:
    """Returns an operation that adds to a variable of this name."""
    return models.counter(name).assign_add(value)


def _random(features: Any) -> tf.Tensor:
    return tf.random.uniform([], seed=5)


def _dropout(features: Any) -> tf.Tensor:
    return tf.reduce_sum(tf.nn.dropout(features["x"], rate=0.5, seed=11))


def _named_alike(features: Any) -> tf.Tensor:
    """Makes variables beside operations and summaries that are called like them."""
    first = v1.get_variable("mean", [], initializer=v1.ones_initializer(), trainable=False)
    mean = tf.reduce_mean(features["x"])
    with tf.name_scope("inner"):
        square = tf.Variable(tf.ones([]), name="square", trainable=False)
        other = tf.Variable(tf.square(tf.ones([])), name="Square", trainable=False)
    const = v1.get_variable("const", [], initializer=v1.ones_initializer(), trainable=False)
    for each in (first, square, other, const):
        v1.summary.scalar(each.op.name, each)
    v1.summary.scalar("global_step", tf.cast(v1.train.get_global_step(), tf.float32))
    v1.summary.scalar("mean_1", mean)
    v1.summary.scalar("weight", mean)
    return mean + first + square + other + const


def _generator(features: Any) -> tf.Tensor:
    return tf.random.Generator.from_seed(3).uniform([])


def _stateless(features: Any) -> tf.Tensor:
    step = v1.train.get_or_create_global_step()
    return tf.random.stateless_normal([], tf.stack([step, 7]))


def _mutable_table(features: Any) -> tf.Tensor:
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
    key = tf.constant([7], tf.int64)
    old = table.lookup(key)
    with tf.control_dependencies([table.insert(key, old + 1.0)]):
        return old[0]


def _dense_table(features: Any) -> tf.Tensor:
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.0, -1, -2)
    key = tf.constant([7], tf.int64)
    old = table.lookup(key)
    with tf.control_dependencies([table.insert(key, old + 1.0)]):
        return old[0]


def _static_table(features: Any) -> tf.Tensor:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant(["a", "b"]), tf.constant([1.5, 2.5])), 0.0)
    step = v1.train.get_or_create_global_step()
    return table.lookup(tf.where(step % 2 < 1, "a", "b"))


def _vocabulary(features: Any) -> tf.Tensor:
    table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant(["a", "b"]), tf.constant([0, 1], tf.int64)), 3)
    return tf.reduce_sum(table.lookup(tf.constant(["a", "b", "c", "d"])))


def _python(features: Any) -> tf.Tensor:
    box: list[int] = []

    def count() -> np.float32:
        box.append(1)
        return np.float32(len(box))

    seen = v1.py_func(count, [], tf.float32)
    seen.set_shape([])
    return seen


def _fifo_queue(features: Any) -> tf.Tensor:
    queue = tf.queue.FIFOQueue(10, [tf.float32], [[]], name="numbers")
    with tf.control_dependencies([queue.enqueue(tf.reduce_sum(features["x"]))]):
        return queue.dequeue()


def _queue_runner(features: Any) -> tf.Tensor:
    [number] = v1.train.slice_input_producer([tf.constant([1.0, 2.0, 4.0])], shuffle=False)
    return v1.train.batch([number], 2)[1]


def _inner_iterator(features: Any) -> tf.Tensor:
    dataset = tf.data.Dataset.range(100).map(lambda i: tf.cast(i, tf.float32) ** 2)
    return v1.data.make_one_shot_iterator(dataset).get_next()


def _inner_initializable(features: Any) -> tf.Tensor:
    iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(100))
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def _local_variable(features: Any) -> tf.Tensor:
    count = v1.get_variable("count", [], initializer=v1.zeros_initializer(), trainable=False,
                            use_resource=True, collections=[v1.GraphKeys.LOCAL_VARIABLES],
                            aggregation=tf.VariableAggregation.SUM)
    with tf.control_dependencies([count.assign_add(tf.constant(1.0))]):
        return count.read_value()


def _loop(features: Any) -> tf.Tensor:
    step = v1.train.get_or_create_global_step()
    return tf.while_loop(lambda i, total: i < 4 + step % 3, lambda i, total: (
        i + 1, total + tf.reduce_sum(features["x"]) * tf.cast(i, tf.float32)),
        [tf.constant(0, tf.int64), 0.0])[1]


def _recurrent(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Reads a sequence with TensorFlow 1's cell."""
    cell = v1.nn.rnn_cell.BasicRNNCell(2)
    with v1.variable_scope("rnn", initializer=v1.constant_initializer(0.25)):
        outputs, _ = v1.nn.dynamic_rnn(cell, features["x"][:, :, tf.newaxis] * tf.ones(
            [1, 3, 1]), dtype=tf.float32)
    out = tf.reduce_mean(outputs[:, -1], 1, keepdims=True)
    loss = v1.losses.mean_squared_error(labels, out)
    return models.spec(mode, loss, metrics={"out": v1.metrics.mean(out)})


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn,
             is_plugin=True)
_ALONE = dict(shapes=("one", "ps", "ps_worker"),
              why="plain cannot make such a state in replicas, or waits for ever")


def _of(see: Callable[[Any], tf.Tensor], **arguments: Any) -> Program:
    return Program(_adding(see), **{**_LINE, **arguments})


PROGRAMS = {
    "random_op": _of(_random),
    "dropout": _of(_dropout),
    "named_alike": _of(_named_alike),
    "random_generator": _of(_generator, **_ALONE),
    "stateless_random": _of(_stateless),
    "counting_table": _of(_mutable_table, **_ALONE),
    "dense_table": _of(_dense_table, **_ALONE),
    "table_of_words": _of(_static_table),
    "vocabulary": _of(_vocabulary),
    "python_state": _of(_python),
    "fifo_queue": _of(_fifo_queue, **_ALONE),
    "queue_runner": _of(_queue_runner, **_ALONE),
    "inner_iterator": _of(_inner_iterator, **_ALONE),
    "inner_initializable": _of(_inner_initializable, **_ALONE),
    "local_variable": _of(_local_variable),
    "while_loop": _of(_loop),
    "recurrent": Program(_recurrent, **_LINE, **_ALONE),
}
