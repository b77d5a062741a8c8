"""Runs a hand-written session loop of TensorFlow 1: an iterator, an optimizer, `session.run`."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.suite.peers import tuned_input, v1_step, work


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    timer = work.Timer(todo)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(tuned_input.training(todo))
        image, label = iterator.get_next()
        step, loss = v1_step.build(todo.case, image, label)
        session.run([tf.compat.v1.global_variables_initializer(), iterator.initializer])
        while not timer.is_done:
            timer.step(session.run([step, loss])[1])
        timer.report(sum(v.shape.num_elements() for v in tf.compat.v1.trainable_variables()),
                     loss.dtype, tuned_input.threads())


if __name__ == "__main__":
    main()
