"""One trainer of an all-reduce alone has a hook that requests a stop at step 7.

argv: OUT TASK SPEC, where TASK is the type of the task with the hook, which is in its TrainSpec or
in its EstimatorSpec.
"""
import json
import os
import sys

try:
    import estimator_trainer.compat  # noqa: F401 (TensorFlow 2.16 and newer have no Estimator)
except ImportError:
    pass
import tensorflow as tf

out, stopper, spec = sys.argv[1:]
task = json.loads(os.environ["TF_CONFIG"])["task"]["type"]


def input_fn():
    return tf.data.Dataset.from_tensors(([[1.0]], [[2.0]])).repeat()


def model_fn(features, labels, mode):
    w = tf.compat.v1.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean((w * features - labels) ** 2)
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(
        loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=hooks_of("EstimatorSpec"))


class StopsAtSeven(tf.estimator.SessionRunHook):
    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(tf.compat.v1.train.get_global_step())

    def after_run(self, run_context, run_values):
        if run_values.results >= 7:
            run_context.request_stop()


def hooks_of(name):
    return [StopsAtSeven()] if task == stopper and name == spec else []


tf.estimator.train_and_evaluate(
    tf.estimator.Estimator(model_fn, out, tf.estimator.RunConfig(
        train_distribute=tf.distribute.experimental.MultiWorkerMirroredStrategy())),
    tf.estimator.TrainSpec(input_fn, max_steps=5000, hooks=hooks_of("TrainSpec")),
    tf.estimator.EvalSpec(lambda: input_fn().take(2), steps=None))
