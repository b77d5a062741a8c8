"""Runs this project's model_fns and input_fns without the trainer, as a short script would.

    python -m benchmarks.suite.peers.plain step cnn digits '{"batch_size": 64}'
    python -m benchmarks.suite.peers.plain job cnn digits '{"batch_size": 64}' 1000

`step` makes one step in a session, the minimum. `job` trains, evaluates and exports: a plain
Estimator script, with the tuned input_fn. Both print `step 1/...` after the first step.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from typing import Any

import estimator_trainer.compat  # noqa: F401  Restores Estimator on a newer TensorFlow.

# isort: split
import tensorflow as tf


class _FirstStep(tf.estimator.SessionRunHook):
    """The hook that prints a line after the first step."""

    def __init__(self) -> None:
        self._is_first = True

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._is_first:
            print("step 1/", flush=True)
        self._is_first = False


def step(model: Any, data: Any, params: dict[str, Any]) -> None:
    """Makes a step and ends."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.train.create_global_step()
        iterator = tf.compat.v1.data.make_initializable_iterator(data.input_fn("train", params))
        spec = model.model_fn(*iterator.get_next(), "train", params)
        session.run([tf.compat.v1.global_variables_initializer(), iterator.initializer])
        session.run([spec.train_op, spec.loss])
        print("step 1/1", flush=True)


def job(model: Any, data: Any, params: dict[str, Any], steps: int) -> None:
    """Trains to a step, evaluates and exports."""

    def receiver_fn() -> tf.estimator.export.ServingInputReceiver:
        images = data.input_fn("eval", params).element_spec[0]["image"]
        image = tf.compat.v1.placeholder(images.dtype, [None, *images.shape[1:]])
        return tf.estimator.export.ServingInputReceiver({"image": image}, {"image": image})

    tf.estimator.train_and_evaluate(
        tf.estimator.Estimator(model.model_fn, tempfile.mkdtemp(), params=params),
        tf.estimator.TrainSpec(lambda: data.input_fn("train", params), steps,
                               hooks=[_FirstStep()]),
        tf.estimator.EvalSpec(lambda: data.input_fn("eval", params), steps=None,
                              exporters=[tf.estimator.FinalExporter("final", receiver_fn)]))


def main() -> None:
    """Runs the command line."""
    what, model_name, data_name, text, *steps = sys.argv[1:]
    model = importlib.import_module(f"model_fns.{model_name}")
    data = importlib.import_module(f"input_fns.{data_name}")
    params = {**model.DEFAULT_PARAMS, **data.DEFAULT_PARAMS, **json.loads(text)}
    params |= data.data_params(params)
    if what == "step":
        step(model, data, params)
    else:
        job(model, data, params, int(*steps))


if __name__ == "__main__":
    main()
