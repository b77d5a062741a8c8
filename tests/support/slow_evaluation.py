"""A plug-in for tests: an evaluation that takes longer than the training between two checkpoints.

Params beside those of `slow`: `eval_secs` that each of 4 batches of an evaluation takes, and
`best_step`, from which the loss of an evaluation is as far as the checkpoint's step.
"""

import time

import tensorflow as tf

from tests.support import slow

DEFAULT_PARAMS = {**slow.DEFAULT_PARAMS, "eval_secs": 0.25, "best_step": 0}
session_config = slow.session_config


def model_fn(features, labels, mode, params, config):
    """Builds a model of one variable, whose evaluation knows its step alone."""
    spec = slow.model_fn(features, labels, mode, params, config)
    if mode != tf.estimator.ModeKeys.EVAL:
        return spec
    step = tf.cast(tf.compat.v1.train.get_global_step(), tf.float32)
    distance = tf.abs(step - params["best_step"]) + 0 * tf.reduce_sum(labels)
    classes = tf.constant([0, 1, 1])
    return tf.estimator.EstimatorSpec(mode, loss=distance, eval_metric_ops={
        "confusion": tf.compat.v1.metrics.mean_tensor(tf.math.confusion_matrix(classes, classes))})


def input_fn(mode, params, input_context=None):
    """Returns numbers, slowly in an evaluation too."""
    dataset = slow.input_fn(mode, params, input_context)
    if mode != tf.estimator.ModeKeys.EVAL:
        return dataset
    return dataset.map(lambda features, labels: (
        features, tf.ensure_shape(tf.numpy_function(
            _sleeper(params["eval_secs"]), [labels], labels.dtype), labels.shape)))


def _sleeper(secs):
    def sleep(value):
        time.sleep(secs)
        return value

    return sleep
