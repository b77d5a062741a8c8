"""Optimizers, schedules, clipping, and where variables and gradients are of special kinds."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1


def _by(make: Callable[[], Any]) -> Any:
    """Returns the linear model_fn with another optimizer."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        weight = v1.get_variable("weight", [1, 1], initializer=v1.ones_initializer())
        bias = v1.get_variable("bias", [1], initializer=v1.zeros_initializer())
        loss = v1.losses.mean_squared_error(labels, features["x"] @ weight + bias)
        return models.spec(mode, loss, optimizer=make() if mode == "train" else None)

    return model_fn


def _keras(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Counts the global step as Keras's iterations do."""
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones", name="layer")
    out = layer(features["x"])
    loss = v1.losses.mean_squared_error(labels, out)
    if mode == "eval":
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.keras.optimizers.legacy.Adam(0.1)
    optimizer.iterations = v1.train.get_or_create_global_step()
    updates = optimizer.get_updates(loss, layer.trainable_variables)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(*updates))


def _decayed() -> Any:
    rate = v1.train.exponential_decay(0.5, v1.train.get_global_step(), 2, 0.5, staircase=True)
    return v1.train.GradientDescentOptimizer(rate)


def _clipped(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Clips gradients by their global norm."""
    weight = v1.get_variable("weight", [1, 1], initializer=v1.constant_initializer(9.0))
    loss = v1.losses.mean_squared_error(labels, features["x"] @ weight)
    if mode == "eval":
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = v1.train.AdagradOptimizer(0.5)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    clipped, norm = tf.clip_by_global_norm(gradients, 0.5)
    v1.summary.scalar("norm", norm)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.apply_gradients(
        zip(clipped, variables), v1.train.get_global_step()))


def _embedded(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Looks up rows of a table, so that gradients are IndexedSlices."""
    table = v1.get_variable("table", [7, 2], initializer=v1.ones_initializer())
    ids = tf.cast(features["x"] * 40, tf.int64)[:, 0] % 7
    out = tf.reduce_sum(tf.nn.embedding_lookup(table, ids), 1, keepdims=True)
    return models.spec(mode, v1.losses.mean_squared_error(labels, out),
                       optimizer=v1.train.AdamOptimizer(0.1))


def _embedded_sparse(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Combines rows of a table by a sparse tensor of ids."""
    table = v1.get_variable("table", [5, 2], initializer=v1.ones_initializer(),
                            partitioner=v1.fixed_size_partitioner(2))
    ids = tf.cast(features["x"] * 40, tf.int64) % 5
    sparse = tf.sparse.from_dense(tf.concat([ids, ids + 1], 1) % 5 + 1)
    out = v1.nn.embedding_lookup_sparse(
        table, tf.SparseTensor(sparse.indices, sparse.values - 1, sparse.dense_shape), None,
        combiner="sum")
    loss = v1.losses.mean_squared_error(labels, tf.reduce_sum(out, 1, keepdims=True))
    return models.spec(mode, loss, optimizer=v1.train.GradientDescentOptimizer(0.01))


def _partitioned(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Has a variable in three parts."""
    weights = v1.get_variable("weights", [3, 4], initializer=v1.ones_initializer(),
                              partitioner=v1.fixed_size_partitioner(3))
    out = tf.reduce_sum(features["x"] * tf.reduce_sum(weights), 1, keepdims=True)
    return models.spec(mode, v1.losses.mean_squared_error(labels, out),
                       optimizer=v1.train.GradientDescentOptimizer(0.001))


def _regularized(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Sums up the losses that layers leave in a collection."""
    out = v1.layers.dense(
        features["x"], 1, kernel_initializer=v1.ones_initializer(),
        kernel_regularizer=lambda kernel: 0.1 * tf.nn.l2_loss(kernel), name="layer")
    v1.losses.mean_squared_error(labels, out)
    return models.spec(mode, v1.losses.get_total_loss())


def _names_taken(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Calls variables by names that a framework may want for itself."""
    names = ("steps", "batch", "loop", "while", "is_last", "examples", "ballot")
    made = [v1.get_variable(name, [], initializer=v1.ones_initializer()) for name in names]
    loss = tf.reduce_mean((features["x"] * tf.add_n(made) - labels) ** 2)
    return models.spec(mode, loss, optimizer=v1.train.GradientDescentOptimizer(0.001))


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn,
             is_plugin=True)

PROGRAMS = {
    **{f"optimizer_{name}": Program(_by(make), **_LINE) for name, make in {
        "adam": lambda: v1.train.AdamOptimizer(0.1),
        "adagrad": lambda: v1.train.AdagradOptimizer(0.1),
        "ftrl": lambda: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        "momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        "rmsprop": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        "decayed": _decayed}.items()},
    "optimizer_keras": Program(_keras, **_LINE),
    "clipped": Program(_clipped, **_LINE),
    "embedded": Program(_embedded, **_LINE),
    "embedded_sparse": Program(_embedded_sparse, **_LINE),
    "partitioned": Program(_partitioned, **_LINE),
    "regularized": Program(_regularized, **_LINE),
    "names_taken": Program(_names_taken, **_LINE),
}
