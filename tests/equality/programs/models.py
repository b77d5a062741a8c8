"""Models that many programs share: small, exact, and a function of all their input."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

v1 = tf.compat.v1


def total(value: Any) -> tf.Tensor:
    """Returns a float scalar that depends on all numbers, texts and sizes in a structure."""
    parts = [_total(leaf) for leaf in tf.nest.flatten(value) if leaf is not None]
    return tf.add_n(parts) if parts else tf.constant(0.0)


def _total(leaf: Any) -> tf.Tensor:
    if isinstance(leaf, tf.SparseTensor):
        return _total(leaf.values) + tf.cast(tf.reduce_sum(leaf.dense_shape), tf.float32)
    if isinstance(leaf, tf.RaggedTensor):
        return _total(leaf.flat_values) + tf.cast(leaf.nrows(), tf.float32)
    if leaf.dtype == tf.string:
        return tf.cast(tf.reduce_sum(tf.strings.length(leaf)), tf.float32)
    return tf.reduce_sum(tf.cast(leaf, tf.float32))


def counter(name: str, **arguments: Any) -> Any:
    """Returns a variable to add to: the sum over all replicas."""
    return v1.get_variable(name, [], initializer=v1.zeros_initializer(), trainable=False,
                           use_resource=True, aggregation=tf.VariableAggregation.SUM, **arguments)


def spec(mode: str, loss: tf.Tensor, *more: Any, optimizer: Any = None,
         metrics: Any = None, **arguments: Any) -> tf.estimator.EstimatorSpec:
    """Returns a spec whose train_op minimizes the loss and runs `more` beside it."""
    train_op = None
    if mode == "train":
        optimizer = optimizer or v1.train.GradientDescentOptimizer(0.125)
        train_op = tf.group(optimizer.minimize(loss, v1.train.get_global_step()), *more)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics,
                                      **arguments)


def summing(transform: Callable[[Any], Any] = lambda value: value) -> Callable[..., Any]:
    """Returns a model_fn that sums up its whole input, of any structure.

    `seen` holds the sum over all steps, `num_steps` how many there were.
    """

    def model_fn(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        received = total(transform((features, labels)))
        loss = weight * received / 1024.0
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"sum": loss})
        more = []
        if mode == "train":
            # A step whose input has ended must count nothing.
            with tf.control_dependencies([received]):
                one = tf.constant(1.0)
            more = [counter("seen").assign_add(received), counter("num_steps").assign_add(one)]
        return spec(mode, loss, *more, metrics={"sum": v1.metrics.mean(received)})

    return model_fn


def linear(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Builds a linear regression of features["x"], of shape [batch, 1]."""
    weight = v1.get_variable("weight", [1, 1], initializer=v1.ones_initializer())
    bias = v1.get_variable("bias", [1], initializer=v1.zeros_initializer())
    outputs = tf.matmul(features["x"], weight) + bias
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    return spec(mode, loss, metrics={"mean": v1.metrics.mean(outputs)})


def line(num: int = 40, batch: int = 4) -> tf.data.Dataset:
    """Returns batches of ({"x": [batch, 1]}, [batch, 1]), all different."""
    x = tf.reshape(tf.range(num, dtype=tf.float32) / num, [num, 1])
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 2.0 * x + 1.0)).batch(batch)


def line_input_fn() -> tf.data.Dataset:
    """Reads the line once."""
    return line()


def endless_line_input_fn() -> tf.data.Dataset:
    """Reads the line again and again."""
    return line().repeat()


def short_line_input_fn() -> tf.data.Dataset:
    """Reads ten rows, the last batch of two."""
    return line(10)


def serving_input_receiver_fn() -> Any:
    """Receives x as it is."""
    x = v1.placeholder(tf.float32, [None, 1], "x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
