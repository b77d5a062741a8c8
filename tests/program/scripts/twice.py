"""Trains two Estimators one after the other: twice.py FOLDER {same,other} [all_reduce]."""

import os
import sys

import tensorflow as tf

if not hasattr(tf, "estimator"):
    import estimator_trainer.compat  # noqa: F401

v1 = tf.compat.v1


def input_fn(num=64):
    ids = tf.data.Dataset.range(num).map(lambda i: tf.cast([i], tf.float32) / 64)
    return ids.map(lambda x: ({"x": x}, 2 * x)).batch(4)


def model_fn(features, labels, mode):
    w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean((features["x"] * w - labels) ** 2)
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


folder, kind = sys.argv[1:3]
strategy = tf.distribute.MultiWorkerMirroredStrategy() if "all_reduce" in sys.argv else None
for max_steps in (8, 16):
    estimator = tf.estimator.Estimator(
        model_fn, folder if kind == "same" else os.path.join(folder, str(max_steps)),
        tf.estimator.RunConfig(train_distribute=strategy, tf_random_seed=1))
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(lambda: input_fn().repeat(), max_steps),
        tf.estimator.EvalSpec(lambda: input_fn(8), steps=None, start_delay_secs=0))
    print("trained to", estimator.get_variable_value("global_step"), flush=True)
print("the script has ended")
