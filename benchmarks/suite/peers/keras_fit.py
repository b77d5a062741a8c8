"""Runs Keras `fit` on the tuned input; the environment has Keras 2 (tf_keras) or 3.

STEPS_PER_EXECUTION is the number of training steps per call, 1 by default, as in Keras. An epoch is
a few steps here: with a callback for each batch, Keras would copy from the device for each.
"""

from __future__ import annotations

import os

import tensorflow as tf

from benchmarks.suite.peers import keras_layers, tuned_input, work

_EPOCH_STEPS = work.LOSS_STEPS


class _Report(tf.keras.callbacks.Callback):
    """The callback that reports each epoch to the timer."""

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
