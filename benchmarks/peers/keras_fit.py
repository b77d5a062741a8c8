"""Keras `fit`, tuned input: the Keras of the environment, 2 (tf_keras) or 3.

It runs with STEPS_PER_EXECUTION training steps in a call, 1 as is Keras's default. An epoch is a
few steps here: a callback for each batch would cost Keras a copy from the device at each.
"""

from __future__ import annotations

import os

import keras_layers
import tensorflow as tf
import tuned_input
import work

_EPOCH_STEPS = work.LOSS_STEPS


class _Report(tf.keras.callbacks.Callback):
    """Tells the timer of each epoch."""

    def __init__(self, timer: work.Timer):
        super().__init__()
        self._timer = timer

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self._timer.step((logs or {})["loss"], _EPOCH_STEPS)


def main() -> None:
    """Trains and reports."""
    todo = work.from_command_line()
    model = keras_layers.network(todo.case)
    model.compile(
        optimizer=(tf.keras.optimizers.SGD(0.01) if todo.case == "cnn"
                   else tf.keras.optimizers.Adam(0.001)),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        steps_per_execution=int(os.environ.get("STEPS_PER_EXECUTION", "1")))
    timer = work.Timer(todo)
    model.fit(tuned_input.training(todo), epochs=todo.all_steps // _EPOCH_STEPS,
              steps_per_epoch=_EPOCH_STEPS, verbose=2, callbacks=[_Report(timer)])
    timer.report(sum(tf.size(v) for v in model.trainable_variables), model.compute_dtype,
                 tuned_input.threads())


if __name__ == "__main__":
    main()
