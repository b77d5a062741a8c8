"""Keras `fit`, tuned input: the Keras of the environment, 2 (tf_keras) or 3."""

from __future__ import annotations

import os

import tensorflow as tf
import work

_STEPS_PER_EXECUTION = int(os.environ.get("STEPS_PER_EXECUTION", "1"))


class _Report(tf.keras.callbacks.Callback):
    """Tells the timer of each batch, and ends training when it has seen enough."""

    def __init__(self, timer: work.Timer):
        super().__init__()
        self._timer = timer

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        self._timer.step(steps=_STEPS_PER_EXECUTION)
        if self._timer.is_done:
            self.model.stop_training = True

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.last_loss = (logs or {}).get("loss")


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    layer = tf.keras.layers
    head = [layer.Conv2D(32, 3, activation="relu"), layer.MaxPooling2D(), layer.Flatten(),
            layer.Dense(64, activation="relu")] if todo.case == "cnn" else [
                layer.Flatten(), layer.Dense(100, activation="sigmoid")]
    model = tf.keras.Sequential([*head, layer.Dense(10)])
    model.compile(
        optimizer=(tf.keras.optimizers.SGD(0.01) if todo.case == "cnn"
                   else tf.keras.optimizers.Adam(0.001)),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        steps_per_execution=_STEPS_PER_EXECUTION)
    dataset = (tf.data.Dataset.from_tensor_slices((todo.images, todo.labels)).cache()
               .shuffle(10000).repeat().batch(todo.batch_size, drop_remainder=True)
               .map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, label),
                    tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))
    timer = work.Timer(todo)
    report = _Report(timer)
    model.fit(dataset, epochs=1, steps_per_epoch=2 * work.WARM_UP_STEPS + todo.steps, verbose=0,
              callbacks=[report])
    timer.report(model.count_params())


if __name__ == "__main__":
    main()
