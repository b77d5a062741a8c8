"""Runs the limit: a tf.function with 50 steps per call, on raw variables and one optimizer.

A batch is gathered from arrays: with records shuffled one by one, as in tuned_input.py, the small
network would wait for its input and not show the limit.
"""

from __future__ import annotations

import tensorflow as tf

from benchmarks.suite.peers import tuned_input, work

_FUSED_STEPS = 50


class _Model:
    """The raw variables of a case, its forward pass and its update."""

    def __init__(self, case: str):
        shapes = ([[3, 3, 1, 32], [13 * 13 * 32, 64], [64, 10]] if case == "cnn" else
                  [[784, 100], [100, 10]])
        self.variables = [variable for shape in shapes
                          for variable in (_kernel(shape, case), tf.Variable(tf.zeros(shape[-1:])))]
        self._case = case
        self._slots = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v)))
                       for v in self.variables]
        self._count = tf.Variable(0, dtype=tf.int64)

    def logits(self, image: tf.Tensor) -> tf.Tensor:
        """Returns float32 [batch, 10] for images [batch, 28, 28, 1]."""
        v = self.variables
        if self._case == "cnn":
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(image, v[0], 1, "VALID"), v[1]))
            x = tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), [-1, 13 * 13 * 32])
            x = tf.nn.relu(tf.matmul(x, v[2]) + v[3])
            return tf.matmul(x, v[4]) + v[5]
        x = tf.sigmoid(tf.matmul(tf.reshape(image, [-1, 784]), v[0]) + v[1])
        return tf.matmul(x, v[2]) + v[3]

    def update(self, gradients: list[tf.Tensor]) -> None:
        """Applies SGD (cnn) or Adam (sigmoid)."""
        self._count.assign_add(1)
        if self._case == "cnn":
            for variable, gradient in zip(self.variables, gradients):
                variable.assign_sub(0.01 * gradient)
            return
        step = tf.cast(self._count, tf.float32)
        rate = 0.001 * tf.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
        for variable, gradient, (m, v) in zip(self.variables, gradients, self._slots):
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle, m=m.handle, v=v.handle, beta1_power=0.0, beta2_power=0.0,
                lr=rate, beta1=0.9, beta2=0.999, epsilon=1e-7, grad=gradient)


def _kernel(shape: list[int], case: str) -> tf.Variable:
    initializers = tf.keras.initializers
    return tf.Variable((initializers.GlorotUniform() if case == "cnn" else
                        initializers.RandomNormal(stddev=1.0))(shape))


def _batches(todo: work.Work) -> tf.data.Dataset:
    """Returns batches of float32 images and int64 labels, in a new order each epoch."""
    images, labels = map(tf.constant, todo.arrays())
    number = len(labels) // todo.batch_size

    def shuffled(_: tf.Tensor) -> tf.data.Dataset:
        order = tf.random.shuffle(tf.range(len(labels)))[:number * todo.batch_size]
        return tf.data.Dataset.from_tensor_slices(tf.reshape(order, [number, todo.batch_size]))

    def gathered(rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.cast(tf.gather(images, rows), tf.float32) / 255.0, tf.gather(labels, rows)

    return (tf.data.Dataset.range(1).repeat().flat_map(shuffled).map(gathered, tf.data.AUTOTUNE)
            .prefetch(tf.data.AUTOTUNE))


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    model = _Model(todo.case)
    iterator = iter(_batches(todo))

    @tf.function
    def steps() -> tf.Tensor:
        total = 0.0
        for _ in tf.range(_FUSED_STEPS):
            image, label = next(iterator)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                    label, model.logits(image)))
            model.update(tape.gradient(loss, model.variables))
            total += loss
        return total / _FUSED_STEPS

    timer = work.Timer(todo)
    while not timer.is_done:
        loss = steps()
        timer.step(loss, _FUSED_STEPS)
    timer.report(sum(int(tf.size(v)) for v in model.variables), loss.dtype, tuned_input.threads())


if __name__ == "__main__":
    main()
