"""Runs one trainer of a hand-written all-reduce: no strategy, no Estimator, one collective.

The gradients are concatenated, summed over the trainers, and split again. The batches come
from this project's `input_fns.tfrecord`, so that only the step differs. A while loop in the graph
makes the steps, or, with `--single`, one session run each. TF_CONFIG has only workers. The first
prints `{"steps_per_sec": ...}` and ends; the others continue until they are killed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any, Callable

import tensorflow as tf

from benchmarks.suite.peers import keras_layers
from input_fns import tfrecord

_WARM_UP_RUNS = 3
_RUN_STEPS = 20
_GROUP_KEY, _INSTANCE_KEY = 1, 1


def main() -> None:
    """Trains as the worker that TF_CONFIG names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=0, help="0: the tutorial's network")
    parser.add_argument("--units", type=int, default=0, help="of each sigmoid layer")
    parser.add_argument("--batch_size", type=int, required=True, help="of one trainer")
    parser.add_argument("--records", required=True)
    parser.add_argument("--secs", type=float, required=True, help="of the measurement")
    parser.add_argument("--single", action="store_true")
    options = parser.parse_args()
    tf_config = json.loads(os.environ["TF_CONFIG"])
    hosts, index = tf_config["cluster"]["worker"], tf_config["task"]["index"]
    config = tf.compat.v1.ConfigProto(isolate_session_state=True)
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    server = tf.distribute.Server({"worker": hosts}, "worker", index, config=config)
    with tf.Graph().as_default(), tf.device(f"/job:worker/task:{index}/cpu:0"):
        iterator = tf.compat.v1.data.make_initializable_iterator(_batches(options, len(hosts),
                                                                          index))
        step = _step_of(options, iterator, len(hosts))
        run, steps = (step(), 1) if options.single else (_loop(step), _RUN_STEPS)
        with tf.compat.v1.Session(server.target, config=config) as session:
            session.run([tf.compat.v1.global_variables_initializer(), iterator.initializer])
            _measure(lambda: session.run(run), steps, options.secs if index == 0 else 1e9)
    os._exit(0)  # The other trainers wait for this one, so a graceful end would hang.


def _batches(options: argparse.Namespace, trainers: int, index: int) -> tf.data.Dataset:
    params = {**tfrecord.DEFAULT_PARAMS, "batch_size": options.batch_size * trainers,
              "train_files": f"{options.records}/train-*"}
    return tfrecord.input_fn("train", params, tf.distribute.InputContext(
        trainers, index, num_replicas_in_sync=trainers))


def _step_of(options: argparse.Namespace, iterator: Any, trainers: int) -> Callable[[], Any]:
    """Returns a function that makes a step and returns the loss, a scalar."""
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.01 / trainers)

    def step() -> tf.Tensor:
        features, label = iterator.get_next()
        image = features["image"]
        logits = (_sigmoid_layers(options, image) if options.layers else
                  keras_layers.network("cnn")(image))
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits))
        variables = tf.compat.v1.trainable_variables()
        gradients = _reduced(tf.gradients(loss, variables), trainers)
        with tf.control_dependencies([optimizer.apply_gradients(zip(gradients, variables))]):
            return tf.identity(loss)

    return step


def _sigmoid_layers(options: argparse.Namespace, image: tf.Tensor) -> tf.Tensor:
    hidden = tf.keras.layers.Flatten()(image)
    for _ in range(options.layers):
        hidden = tf.keras.layers.Dense(options.units, tf.sigmoid)(hidden)
    return tf.keras.layers.Dense(10)(hidden)


def _reduced(gradients: list[tf.Tensor], trainers: int) -> list[tf.Tensor]:
    flat = [tf.reshape(gradient, [-1]) for gradient in gradients]
    total = tf.raw_ops.CollectiveReduceV2(
        input=tf.concat(flat, 0), group_size=trainers, group_key=_GROUP_KEY,
        instance_key=_INSTANCE_KEY, ordering_token=[], merge_op="Add", final_op="Id",
        communication_hint="ring")
    parts = tf.split(total, [int(each.shape[0]) for each in flat])
    return [tf.reshape(part, gradient.shape) for part, gradient in zip(parts, gradients)]


def _loop(step: Callable[[], tf.Tensor]) -> Any:
    return tf.while_loop(lambda number, loss: number < _RUN_STEPS,
                         lambda number, loss: (number + 1, step()), (0, 0.0),
                         parallel_iterations=1)


def _measure(run: Callable[[], Any], steps: int, secs: float) -> None:
    """Calls `run`, which makes `steps` steps, for `secs` after a warm-up; prints the speed."""
    for _ in range(_WARM_UP_RUNS * _RUN_STEPS // steps):
        run()
    start, made = time.perf_counter(), 0
    while time.perf_counter() < start + secs:
        run()
        made += steps
    print(json.dumps({"steps_per_sec": made / (time.perf_counter() - start)}), flush=True)


if __name__ == "__main__":
    main()
