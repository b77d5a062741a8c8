"""A plug-in for tests: steps that take a while, and an input that tells who read which record.

Params: `examples` of training, `step_secs` that each batch of 5 takes, `ids`, a path to which every
process appends the ids that it read, `nan_step`, the step from which on the loss is NaN, and
`listener`, a path to which a saving listener of the model's own appends each step that it sees.
"""

import os
import time

import tensorflow as tf

DEFAULT_PARAMS = {"examples": 100000, "step_secs": 0.01, "ids": "", "nan_step": -1,
                  "listener": ""}
session_config = tf.compat.v1.ConfigProto(operation_timeout_in_ms=600_000)
_BATCH_SIZE = 5


def model_fn(features, labels, mode, params, config):
    """Builds a model of one variable."""
    w = tf.compat.v1.get_variable("w", [])
    predictions = {"y": w * features["x"]}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(predictions["y"] - labels))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    step = tf.compat.v1.train.get_global_step()
    if params["nan_step"] >= 0:
        # Not `equal`: among asynchronous trainers it may be that none sees a certain step.
        loss = tf.where(tf.greater_equal(step, params["nan_step"]), float("nan"), loss)
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    hooks = [_saver_hook(config.model_dir, params["listener"])] if params["listener"] else []
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op,
                                      training_chief_hooks=hooks)


def input_fn(mode, params, input_context=None):
    """Returns numbers, once; in training each trainer gets its share of them."""
    if mode != tf.estimator.ModeKeys.TRAIN:
        return tf.data.Dataset.range(20).map(_example).batch(_BATCH_SIZE)
    dataset = tf.data.Dataset.range(params["examples"])
    if input_context:
        dataset = dataset.shard(input_context.num_input_pipelines,
                                input_context.input_pipeline_id)
    if params["ids"]:
        dataset = dataset.map(lambda i: _through(i, _writer(params["ids"])))
    dataset = dataset.map(_example).batch(_BATCH_SIZE)
    return dataset.map(lambda features, labels: (
        features, _through(labels, _sleeper(params["step_secs"]))))


def _saver_hook(model_dir, path):
    class SequelReader(tf.estimator.CheckpointSaverListener):
        """Writes down the step of every checkpoint."""

        def after_save(self, session, global_step_value):
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"{global_step_value}\n")

    return tf.estimator.CheckpointSaverHook(model_dir, save_steps=50, listeners=[SequelReader()])


def _example(i):
    x = tf.cast(i, tf.float32) / 1e6
    return {"x": x}, x


def _through(tensor, function):
    return tf.ensure_shape(tf.numpy_function(function, [tensor], tensor.dtype), tensor.shape)


def _sleeper(secs):
    def sleep(value):
        time.sleep(secs)
        return value

    return sleep


def _writer(path):
    def write(value):
        with open(f"{path}-{os.getpid()}", "a", encoding="utf-8") as file:
            file.write(f"{value}\n")
        return value

    return write
