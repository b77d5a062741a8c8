"""A hand-written session loop of TensorFlow 1: an iterator, an optimizer, `session.run`."""

from __future__ import annotations

import tensorflow as tf
import work


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    timer = work.Timer(todo)
    layer, train = tf.keras.layers, tf.compat.v1.train
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = (tf.data.Dataset.from_tensor_slices((todo.images, todo.labels)).cache()
                   .shuffle(10000).repeat().batch(todo.batch_size, drop_remainder=True)
                   .map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, label),
                        tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        image, label = iterator.get_next()
        head = [layer.Conv2D(32, 3, activation="relu"), layer.MaxPooling2D(), layer.Flatten(),
                layer.Dense(64, activation="relu")] if todo.case == "cnn" else [
                    layer.Flatten(), layer.Dense(100, "sigmoid")]
        logits = tf.keras.Sequential([*head, layer.Dense(10)])(image)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits))
        optimizer = train.GradientDescentOptimizer(0.01) if todo.case == "cnn" else (
            train.AdamOptimizer(0.001))
        step = optimizer.minimize(loss, train.get_or_create_global_step())
        session.run([tf.compat.v1.global_variables_initializer(), iterator.initializer])
        while not timer.is_done:
            timer.step(session.run([step, loss])[1])
        timer.report(sum(v.shape.num_elements() for v in tf.compat.v1.trainable_variables()))


if __name__ == "__main__":
    main()
