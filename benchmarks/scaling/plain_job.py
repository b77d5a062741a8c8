"""A task of `benchmarks.scaling.many_tasks` as a plain Estimator, with the plug-in of the tests.

Its arguments are the model_dir, the number of steps and the seconds of a step.
"""

import sys

import tensorflow as tf

from tests.support import slow


def main() -> None:
    """Trains and evaluates in the role that TF_CONFIG gives."""
    model_dir, steps, step_secs = sys.argv[1:]
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
    params = {**slow.DEFAULT_PARAMS, "step_secs": float(step_secs)}
    estimator = tf.estimator.Estimator(
        slow.model_fn, params=params,
        config=tf.estimator.RunConfig(model_dir, save_checkpoints_secs=20))
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(lambda: slow.input_fn("train", params), max_steps=int(steps)),
        tf.estimator.EvalSpec(lambda: slow.input_fn("eval", params), start_delay_secs=1,
                              throttle_secs=1))


if __name__ == "__main__":
    main()
