"""Trains with a tf.function in one process, all columns' rows in one table."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.sparse.peers import records, work


class _Model:
    """The variables, and a step with one lookup and one update of each of two tables."""

    def __init__(self, todo: work.Work):
        self._todo, rows = todo, todo.columns * work.BUCKETS
        self._deep = tf.Variable(tf.random.truncated_normal([rows, todo.dimension],
                                                            stddev=todo.row_deviation))
        self._wide = tf.Variable(tf.zeros([rows, 1]))
        glorot = tf.keras.initializers.GlorotUniform()
        self._layers = [tf.Variable(value) for sizes in todo.layer_sizes
                        for value in (glorot(sizes), tf.zeros(sizes[1:]))]
        self._wide_bias = tf.Variable(tf.zeros([1]))
        self._sums = {v.ref(): tf.Variable(tf.fill(v.shape, work.INITIAL_ACCUMULATOR))
                      for v in (self._deep, self._wide, *self._layers, self._wide_bias)}
        self._linear = {v.ref(): tf.Variable(tf.zeros_like(v))
                        for v in (self._wide, self._wide_bias)}

    def step(self, ids: tf.Tensor, numbers: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
        """Makes a step with a batch of `records.hashed_batches`; returns the loss."""
        todo = self._todo
        keys, places = tf.unique(tf.reshape(tf.transpose(
            ids + work.BUCKETS * tf.range(todo.columns, dtype=tf.int64)[:, None]), [-1]))
        rows = [tf.gather(table, keys) for table in (self._deep, self._wide)]
        with tf.GradientTape() as tape:
            tape.watch(rows)
            deep, wide = (tf.reshape(tf.gather(each, places), [todo.batch, -1]) for each in rows)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label, self._logits(
                tf.concat([numbers, deep], 1), tf.reduce_sum(wide, 1, keepdims=True))))
        (deep, wide), gradients, bias = tape.gradient(
            loss, (rows, self._layers, self._wide_bias))
        tf.raw_ops.ResourceSparseApplyAdagradV2(
            **self._adagrad(self._deep), grad=_summed(deep, keys), indices=keys)
        tf.raw_ops.ResourceSparseApplyFtrl(
            **self._ftrl(self._wide), grad=_summed(wide, keys), indices=keys)
        for variable, gradient in zip(self._layers, gradients):
            tf.raw_ops.ResourceApplyAdagradV2(**self._adagrad(variable), grad=gradient)
        tf.raw_ops.ResourceApplyFtrl(**self._ftrl(self._wide_bias), grad=bias)
        return loss

    def _logits(self, inputs: tf.Tensor, wide: tf.Tensor) -> tf.Tensor:
        *hidden, (kernel, bias) = zip(self._layers[::2], self._layers[1::2])
        for each in hidden:
            inputs = tf.nn.relu(inputs @ each[0] + each[1])
        return inputs @ kernel + bias + wide + self._wide_bias

    def _adagrad(self, variable: tf.Variable) -> dict[str, tf.Tensor | float]:
        return {"var": variable.handle, "accum": self._sums[variable.ref()].handle,
                "lr": work.LEARNING_RATE, "epsilon": work.ADAGRAD_EPSILON}

    def _ftrl(self, variable: tf.Variable) -> dict[str, tf.Tensor | float]:
        return {"var": variable.handle, "accum": self._sums[variable.ref()].handle,
                "linear": self._linear[variable.ref()].handle, "lr": work.LEARNING_RATE,
                "l1": 0.0, "l2": 0.0, "lr_power": -0.5}


def _summed(gradient: tf.IndexedSlices, keys: tf.Tensor) -> tf.Tensor:
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, tf.size(keys))


def main() -> None:
    """Trains."""
    todo = work.from_command_line()
    model, iterator = _Model(todo), iter(records.hashed_batches(todo))

    @tf.function
    def steps() -> tf.Tensor:
        loss = 0.0
        for _ in tf.range(work.LINE_STEPS):
            loss = model.step(*next(iterator))
        return loss

    for step in range(work.LINE_STEPS, todo.steps + 1, work.LINE_STEPS):
        work.print_line(todo, step, steps())


if __name__ == "__main__":
    main()
