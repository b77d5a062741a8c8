"""A plug-in for tests and benchmarks: each trainer writes which records it trained on, and when.

The training step writes them, not the input: a record that was only read does not count. Params:
`examples` of training, in `parts` of the same size; `step_secs` of a training step, twice as many
in the task `slow_task`; `ids`, a folder where each process has a file of lines "seconds id id ...";
`meet`, a number of trainers whose first steps wait for each other.
"""

import json
import os
import pathlib
import time

import tensorflow as tf

DEFAULT_PARAMS = {"examples": 4000, "parts": 40, "batch_size": 10, "step_secs": 0.01,
                  "slow_task": "", "ids": "", "meet": 0}
session_config = tf.compat.v1.ConfigProto(operation_timeout_in_ms=600_000)


def model_fn(features, labels, mode, params):
    """Builds a model of one variable, whose step takes a while and writes its ids."""
    w = tf.compat.v1.get_variable("w", [])
    predictions = {"y": w * features["x"]}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(predictions["y"] - labels))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    written = tf.numpy_function(_Step(params), [features["id"]], tf.int64)
    with tf.control_dependencies([written]):
        loss = tf.identity(loss)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(mode, params, input_context=None):
    """Returns numbered records; in training each trainer gets its share of the parts."""
    size = params["examples"] // params["parts"]
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    parts = tf.data.Dataset.range(params["parts"] if is_training else 1)
    if input_context and is_training:
        parts = parts.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    ids = parts.flat_map(lambda part: tf.data.Dataset.range(part * size, (part + 1) * size))
    return ids.map(_example).batch(params["batch_size"])


def data_params(params):
    """Returns how many records a pass has, for the sentence on lost ones."""
    return {"train_examples": params["examples"]}


def trained(folder):
    """Returns the lines that the trainers wrote so far: (seconds, ids) by the name of a file."""
    return {path.name: [(float(line.split()[0]), [int(word) for word in line.split()[1:]])
                        for line in path.read_text().split("\n")[:-1]]
            for path in sorted(pathlib.Path(folder).iterdir())}


def _example(i):
    x = tf.cast(i, tf.float32) / 1e6
    return {"id": i, "x": x}, x


class _Step:
    """The body of a training step: writes the ids, and takes its time."""

    def __init__(self, params):
        task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
        self._name = f"{task.get('type', 'local')}-{task.get('index', 0)}"
        is_slow = params["slow_task"] == self._name.replace("-", ":")
        self._secs = params["step_secs"] * (2 if is_slow else 1)
        self._folder, self._meet = pathlib.Path(params["ids"]), params["meet"]
        self._file = None

    def __call__(self, ids):
        if self._file is None:
            path = self._folder / f"{self._name}-{os.getpid()}"
            self._file = open(path, "a", encoding="utf-8", buffering=1)
            while len(list(self._folder.iterdir())) < self._meet:
                time.sleep(0.005)
        self._file.write(f"{time.time():.3f} {' '.join(str(i) for i in ids)}\n")
        time.sleep(self._secs)
        return ids
