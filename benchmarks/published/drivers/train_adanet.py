"""Trains and evaluates AdaNet's ensemble of two canned networks on random numbers."""

import argparse

import adanet
import tensorflow as tf

_BATCH = 16


def _input_fn():
    numbers = tf.random.stateless_uniform([64, 3], seed=(1, 2))
    rows = ({"x": numbers}, tf.reduce_sum(numbers, axis=1, keepdims=True))
    return tf.data.Dataset.from_tensor_slices(rows).batch(_BATCH)


def main() -> None:
    """Trains in the folder --model_dir."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_dir")
    columns = [tf.feature_column.numeric_column("x", shape=[3])]
    optimizer = tf.compat.v1.train.GradientDescentOptimizer
    ensemble = adanet.AutoEnsembleEstimator(
        head=tf.compat.v1.estimator.RegressionHead()
        if hasattr(tf.compat.v1.estimator, "RegressionHead") else tf.estimator.RegressionHead(),
        candidate_pool=lambda config: {
            "linear": tf.compat.v1.estimator.LinearEstimator(
                head=tf.estimator.RegressionHead(), feature_columns=columns,
                optimizer=lambda: optimizer(0.1), config=config),
            "deep": tf.compat.v1.estimator.DNNEstimator(
                head=tf.estimator.RegressionHead(), feature_columns=columns, hidden_units=[8],
                optimizer=lambda: optimizer(0.1), config=config)},
        max_iteration_steps=5, max_iterations=2, model_dir=parser.parse_args().model_dir)
    tf.estimator.train_and_evaluate(
        ensemble, tf.estimator.TrainSpec(lambda: _input_fn().repeat(), max_steps=10),
        tf.estimator.EvalSpec(_input_fn))


if __name__ == "__main__":
    main()
