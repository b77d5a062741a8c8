"""Runs a hand-written session loop of TensorFlow 1: an iterator, an optimizer, `session.run`."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.suite.peers import keras_layers
from benchmarks.suite.peers import tuned_input
from benchmarks.suite.peers import work


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    timer = work.Timer(todo)
    train = tf.compat.v1.train
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(tuned_input.training(todo))
        image, label = iterator.get_next()
        logits = keras_layers.network(todo.case)(image)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits))
        optimizer = train.GradientDescentOptimizer(0.01) if todo.case == "cnn" else (
            train.AdamOptimizer(0.001))
        step = optimizer.minimize(loss, train.get_or_create_global_step())
        session.run([tf.compat.v1.global_variables_initializer(), iterator.initializer])
        while not timer.is_done:
            timer.step(session.run([step, loss])[1])
        timer.report(sum(v.shape.num_elements() for v in tf.compat.v1.trainable_variables()),
                     loss.dtype, tuned_input.threads())


if __name__ == "__main__":
    main()
