"""The plug-in that all these jobs train: a line, and a variable for the order of its batches.

Each batch has a number, from 0 on in each process that begins to read. A step of n replicas makes
`digest` the sum of (3 digest + number) modulo a prime over the replicas, so that its final value
shows whether every step had the right batch.

Params: `step_secs`, the time of a batch, `eval_secs`, the time of an evaluation, `marks`, a folder
where each evaluation leaves a file when it reads its first batch, and `is_ordered`, whether the
order is fixed (not with asynchronous trainers).
"""

import os
import time

import tensorflow as tf

from model_fns.training import update

DEFAULT_PARAMS = {"step_secs": 0.01, "eval_secs": 0.2, "marks": "", "is_ordered": False}
PRIME = 1_000_003  # 3 digest stays exact in a float32.
_EVAL_BATCHES = 4


def model_fn(features, labels, mode, params):
    """Builds a line through points, y = 2 x."""
    slope = tf.compat.v1.get_variable("slope", [], initializer=tf.zeros_initializer())
    digest = tf.compat.v1.get_variable(
        "digest", [], initializer=tf.zeros_initializer(), trainable=False, use_resource=True,
        aggregation=tf.VariableAggregation.SUM)
    y = slope * features["x"]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.reduce_mean((y - labels) ** 2)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    spec = update.spec(loss, {"optimizer": "sgd", "learning_rate": 0.1})
    if not params["is_ordered"]:
        return spec
    number = tf.reduce_max(features["number"])
    follow = digest.assign(tf.math.floormod(3.0 * digest + number, float(PRIME)))
    return spec._replace(train_op=tf.group(spec.train_op, follow))


def input_fn(mode, params, input_context=None):
    """Returns numbered batches without end for training, a few for an evaluation."""
    if mode != tf.estimator.ModeKeys.TRAIN:
        secs = params["eval_secs"] / _EVAL_BATCHES
        return _batches(tf.data.Dataset.range(_EVAL_BATCHES), secs, params["marks"])
    dataset = tf.data.Dataset.range(1_000_000)
    if input_context:
        dataset = dataset.shard(input_context.num_input_pipelines,
                                input_context.input_pipeline_id)
    return _batches(dataset, params["step_secs"], "")


def _batches(numbers, secs, marks):
    def batch(number):
        x = tf.range(8, dtype=tf.float32) / 8.0
        return {"x": x, "number": tf.fill([8], tf.cast(number, tf.float32))}, 2.0 * x

    def sleep(number):
        if marks and number == 0:
            with open(os.path.join(marks, f"{time.time_ns()}"), "w", encoding="utf-8"):
                pass
        time.sleep(secs)
        return number

    def slow(number):
        return tf.ensure_shape(tf.numpy_function(sleep, [number], number.dtype), [])

    return (numbers.map(slow) if secs else numbers).map(batch)
