"""The flags of all scripts, and the call that trains."""

from __future__ import annotations

import argparse
from typing import Any, Callable

import tensorflow as tf

InputFn = Callable[[], tf.data.Dataset]
_SECS = 3600  # Longer than a run.


def flags(*names: str) -> argparse.Namespace:
    """Returns the flags of a script: model_dir, steps, line_steps, and `names`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_dir", required=True)
    for name in ("steps", "line_steps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in names:
        parser.add_argument(f"--{name}", required=True)
    return parser.parse_args()


def run_config(options: argparse.Namespace) -> tf.estimator.RunConfig:
    """Returns the RunConfig: no checkpoint within a run, a summary as often as by default."""
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
    return tf.estimator.RunConfig(
        options.model_dir, tf_random_seed=1, save_checkpoints_secs=_SECS,
        log_step_count_steps=options.line_steps)


def train(estimator: tf.estimator.Estimator, input_fn: InputFn, options: argparse.Namespace,
          hooks: Any = ()) -> None:
    """Trains to the last step, and evaluates."""
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn, max_steps=options.steps, hooks=hooks),
        tf.estimator.EvalSpec(input_fn, steps=1, throttle_secs=_SECS))


def spec(mode: str, loss: tf.Tensor, optimizer: Any, **others: Any) -> tf.estimator.EstimatorSpec:
    """Returns the EstimatorSpec of a model that `optimizer` trains, with its update operations."""
    v1 = tf.compat.v1
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=v1.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, **others)
