"""A script with a SyncReplicasOptimizer of its own: OUT max|train|input|fail."""

import sys

import numpy as np
import tensorflow as tf

if not hasattr(getattr(tf, "estimator", None), "Estimator"):
    import estimator_trainer.compat  # noqa: F401

OUT, WAY = sys.argv[1:]


class _Fails(tf.compat.v1.train.GradientDescentOptimizer):
    """An update that fails at step 5, in the chief alone, which makes it."""

    def _resource_apply_dense(self, grad, handle):
        step = tf.compat.v1.train.get_global_step()
        with tf.control_dependencies([tf.debugging.assert_less(step, tf.constant(5, tf.int64),
                                                               message="the update fails")]):
            return super()._resource_apply_dense(tf.identity(grad), handle)


def _input_fn():
    x = np.linspace(-1, 1, 100, dtype=np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x + 1)).batch(20)
    return data.repeat(4 if WAY == "input" else None)


def _model_fn(features, labels, mode, config):
    w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.zeros_initializer())
    loss = tf.reduce_mean((features["x"] * w - labels) ** 2)
    if mode != "train":
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    inner = _Fails if WAY == "fail" else tf.compat.v1.train.GradientDescentOptimizer
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer(inner(0.1), 2, 2)
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        training_hooks=[optimizer.make_session_run_hook(config.is_chief)])


ESTIMATOR = tf.estimator.Estimator(_model_fn, OUT)
if WAY == "train":
    ESTIMATOR.train(_input_fn, max_steps=20)
else:
    tf.estimator.train_and_evaluate(ESTIMATOR, tf.estimator.TrainSpec(_input_fn, max_steps=20),
                                    tf.estimator.EvalSpec(_input_fn, steps=2))
print("ENDED")
