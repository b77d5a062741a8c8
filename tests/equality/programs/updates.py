"""Which updates run beside the optimizer's: batch norm, accumulation, averages, two optimizers."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from tests.equality.program import Program
from tests.equality.programs import models

v1 = tf.compat.v1
_UPDATES = v1.GraphKeys.UPDATE_OPS


def _two_domains() -> tf.data.Dataset:
    x = tf.reshape(tf.range(24.0), [6, 4, 1]) / 8.0
    return tf.data.Dataset.from_tensor_slices(
        ({"source": x, "target": x + 100.0}, 2.0 * x)).repeat()


def _few_domains() -> tf.data.Dataset:
    return _two_domains().take(3)


def _normed(updates: Callable[[Any], list[Any]], is_keras: bool = False) -> Any:
    """Returns a model_fn whose train_op waits for what `updates` chooses of its layer's."""
    kind = tf.keras.layers.BatchNormalization if is_keras else v1.layers.BatchNormalization

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        layer = kind(momentum=0.5, name="norm")
        source = layer(features["source"], training=mode == "train")
        chosen = updates(layer)
        target = layer(features["target"], training=mode == "train")
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean((weight * source - labels) ** 2) + 0.1 * tf.reduce_mean(
            target * weight)
        with tf.control_dependencies(chosen if mode == "train" else []):
            return models.spec(mode, loss, metrics={"out": v1.metrics.mean(source)})

    return model_fn


def _collected(layer: Any) -> list[Any]:
    return list(v1.get_collection(_UPDATES))


def _both_batches(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Runs all of UPDATE_OPS, as the documentation of batch_normalization says."""
    x = v1.layers.batch_normalization(features["source"], training=mode == "train", momentum=0.5)
    out = v1.layers.dense(x, 1, kernel_initializer=v1.ones_initializer())
    loss = v1.losses.mean_squared_error(labels, out)
    with tf.control_dependencies(v1.get_collection(_UPDATES)):
        return models.spec(mode, loss)


def _accumulating(num: int) -> Any:
    """Returns a model_fn that applies the mean gradient of `num` micro-batches."""

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        weight = v1.get_variable("weight", [], initializer=v1.constant_initializer(64.0),
                                 use_resource=True)
        loss = tf.reduce_mean((weight - labels) ** 2)
        if mode == "eval":
            return tf.estimator.EstimatorSpec(mode, loss=loss)
        optimizer = v1.train.GradientDescentOptimizer(0.25)
        held, micro = (v1.get_variable(name, [], initializer=v1.zeros_initializer(),
                                       trainable=False, use_resource=True)
                       for name in ("held", "micro"))
        [(gradient, _)] = optimizer.compute_gradients(loss, [weight])

        def apply() -> tf.Tensor:
            applied = optimizer.apply_gradients(
                [(held.read_value(), weight)], v1.train.get_global_step())
            with tf.control_dependencies([applied]):
                with tf.control_dependencies([held.assign(0.0)]):
                    return tf.constant(True)

        with tf.control_dependencies([held.assign_add(gradient / num), micro.assign_add(1.0)]):
            train_op = tf.cond(tf.equal(micro.read_value() % num, 0.0), apply,
                               lambda: tf.constant(False)).op
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def _zeros() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[0.0]])).repeat()


def _zero() -> tf.data.Dataset:
    return _zeros().take(2)


def _averaged(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Evaluates with the averages of the variables."""
    weight = v1.get_variable("weight", [1, 1], initializer=v1.zeros_initializer())
    loss = v1.losses.mean_squared_error(labels, features["x"] @ weight)
    averages = tf.train.ExponentialMovingAverage(0.5)
    if mode == "train":
        step = v1.train.GradientDescentOptimizer(0.25).minimize(loss, v1.train.get_global_step())
        with tf.control_dependencies([step]):
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=averages.apply([weight]))
    saver = v1.train.Saver(averages.variables_to_restore([weight]))
    return tf.estimator.EstimatorSpec(mode, loss=loss, scaffold=v1.train.Scaffold(saver=saver))


def _conditional(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Moves one of two variables, by the global step."""
    step = v1.train.get_or_create_global_step()
    even, odd = (v1.get_variable(name, [], initializer=v1.ones_initializer(), use_resource=True)
                 for name in ("even", "odd"))
    loss = tf.reduce_mean((features["x"] * even * odd - labels) ** 2)
    if mode == "eval":
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    with tf.control_dependencies([loss]):
        moved = tf.cond(step % 2 < 1, lambda: even.assign_sub(0.125), lambda: odd.assign_sub(0.25))
    with tf.control_dependencies([moved]):
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1).op)


def _two_optimizers(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Trains a generator and a discriminator, each by an optimizer of its own, in turns."""
    g = v1.get_variable("generator/g", [], initializer=v1.ones_initializer())
    d = v1.get_variable("discriminator/d", [], initializer=v1.ones_initializer())
    d_loss = tf.reduce_mean((d * features["x"] - labels) ** 2)
    g_loss = tf.reduce_mean((g * d - 0.5) ** 2)
    if mode == "eval":
        return tf.estimator.EstimatorSpec(mode, loss=d_loss + g_loss)
    adam, momentum = v1.train.AdamOptimizer(0.05), v1.train.MomentumOptimizer(0.05, 0.9)
    # Neither sees the other's update of this step.
    of_d = adam.compute_gradients(d_loss, [d])
    of_g = momentum.compute_gradients(g_loss, [g])
    with tf.control_dependencies([of_d[0][0], of_g[0][0]]):
        both = [adam.apply_gradients(of_d),
                momentum.apply_gradients(of_g, v1.train.get_global_step())]
    return tf.estimator.EstimatorSpec(mode, loss=d_loss + g_loss, train_op=tf.group(*both))


def _two_steps_a_run(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Counts two global steps with each train_op."""
    spec = models.linear(features, labels, mode)
    if mode != "train":
        return spec
    with tf.control_dependencies([spec.train_op]):
        more = v1.assign_add(v1.train.get_global_step(), 1)
    return spec._replace(train_op=more.op)


_DOMAINS = dict(train_input_fn=_two_domains, eval_input_fn=_few_domains, is_plugin=True)
_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn,
             is_plugin=True)
_NO_COND = {shape: "plain refuses minimize in a replica's tf.cond"
            for shape in ("mirrored", "multi_worker")}
_ALONE = dict(shapes=("one", "ps", "ps_worker"),
              why="plain refuses such a train_op of replicas")

PROGRAMS = {
    "batch_norm": Program(_both_batches, **_DOMAINS),
    "v1_chosen_updates": Program(_normed(_collected), **_DOMAINS),
    "forgotten_updates": Program(_normed(lambda layer: []), **_DOMAINS),
    "keras_chosen_updates": Program(_normed(lambda layer: list(layer.updates), True), **_DOMAINS),
    "keras_forgotten_updates": Program(_normed(lambda layer: [], True), **_DOMAINS),
    "accumulation": Program(_accumulating(4), _zeros, _zero, max_steps=3, is_plugin=True,
                            plain_fails=_NO_COND),
    "long_accumulation": Program(_accumulating(256), _zeros, _zero, max_steps=2, is_plugin=True,
                                 **_ALONE),
    "averages": Program(_averaged, **_LINE),
    "cond_in_train_op": Program(_conditional, **_LINE, **_ALONE),
    "two_optimizers": Program(_two_optimizers, **_LINE),
    # Where plain ends at an even goal is a race between its hook's look and the step.
    "two_steps_a_run": Program(_two_steps_a_run, **_LINE, **_ALONE, max_steps=9),
}
