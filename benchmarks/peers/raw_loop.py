"""The limit: a tf.function that makes 50 steps a call, on raw variables and one optimizer."""

from __future__ import annotations

import tensorflow as tf
import tuned_input
import work

_FUSED_STEPS = 50


def _kernel(shape: list[int], case: str) -> tf.Variable:
    initializers = tf.keras.initializers
    return tf.Variable((initializers.GlorotUniform() if case == "cnn" else
                        initializers.RandomNormal(stddev=1.0))(shape))


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    zeros = tf.zeros
    if todo.case == "cnn":
        variables = [_kernel([3, 3, 1, 32], todo.case), tf.Variable(zeros([32])),
                     _kernel([13 * 13 * 32, 64], todo.case), tf.Variable(zeros([64])),
                     _kernel([64, 10], todo.case), tf.Variable(zeros([10]))]
    else:
        variables = [_kernel([784, 100], todo.case), tf.Variable(zeros([100])),
                     _kernel([100, 10], todo.case), tf.Variable(zeros([10]))]
    slots = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]
    count = tf.Variable(0, dtype=tf.int64)

    def logits(image: tf.Tensor) -> tf.Tensor:
        if todo.case == "cnn":
            x = tf.nn.relu(tf.nn.bias_add(
                tf.nn.conv2d(image, variables[0], 1, "VALID"), variables[1]))
            x = tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), [-1, 13 * 13 * 32])
            x = tf.nn.relu(tf.matmul(x, variables[2]) + variables[3])
            return tf.matmul(x, variables[4]) + variables[5]
        x = tf.sigmoid(tf.matmul(tf.reshape(image, [-1, 784]), variables[0]) + variables[1])
        return tf.matmul(x, variables[2]) + variables[3]

    def update(gradients: list[tf.Tensor]) -> None:
        count.assign_add(1)
        if todo.case == "cnn":
            for variable, gradient in zip(variables, gradients):
                variable.assign_sub(0.01 * gradient)
            return
        step = tf.cast(count, tf.float32)
        rate = 0.001 * tf.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
        for variable, gradient, (m, v) in zip(variables, gradients, slots):
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle, m=m.handle, v=v.handle, beta1_power=0.0, beta2_power=0.0,
                lr=rate, beta1=0.9, beta2=0.999, epsilon=1e-7, grad=gradient)

    iterator = iter(tuned_input.training(todo))

    @tf.function
    def steps() -> tf.Tensor:
        total = 0.0
        for _ in tf.range(_FUSED_STEPS):
            image, label = next(iterator)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                    label, logits(image)))
            update(tape.gradient(loss, variables))
            total += loss
        return total / _FUSED_STEPS

    timer = work.Timer(todo)
    while not timer.is_done:
        loss = steps()
        timer.step(loss, _FUSED_STEPS)
    timer.report(sum(int(tf.size(v)) for v in variables), loss.dtype, tuned_input.threads())


if __name__ == "__main__":
    main()
