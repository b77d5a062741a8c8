"""Runs one task of a hand-written asynchronous loop of TensorFlow 1, as in books and tutorials.

This is between-graph replication: every trainer builds the graph with `replica_device_setter`,
which puts the variables on the ps, and calls `session.run` of a MonitoredTrainingSession until the
shared global step is the last. The input comes from tuned_input.py, not `feed_dict`.
"""

from __future__ import annotations

import argparse
import json
import os

import tensorflow as tf

from benchmarks.suite.peers import tuned_input, v1_step, work

_LINE_STEPS = 100


def main() -> None:
    """Runs the task that TF_CONFIG names; the chief prints a line every _LINE_STEPS steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_steps", type=int, required=True)
    known, rest = parser.parse_known_args()
    tf_config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = tf.train.ClusterSpec(tf_config["cluster"]), tf_config["task"]
    server = tf.distribute.Server(cluster, job_name=task["type"], task_index=task["index"])
    if task["type"] == "ps":
        server.join()
    _train(work.from_command_line([*rest, "--steps=0"]), server, cluster, task, known.train_steps)


def _train(todo: work.Work, server: tf.distribute.Server, cluster: tf.train.ClusterSpec,
           task: dict, train_steps: int) -> None:
    train, is_chief = tf.compat.v1.train, task["type"] == "chief"
    own = f"/job:{task['type']}/task:{task['index']}"
    with tf.Graph().as_default():
        with tf.compat.v1.device(train.replica_device_setter(worker_device=own, cluster=cluster)):
            step = train.get_or_create_global_step()
            with tf.compat.v1.device(f"{own}/cpu:0"):
                iterator = tf.compat.v1.data.make_initializable_iterator(
                    tuned_input.training(todo))
                image, label = iterator.get_next()
            train_op, loss = v1_step.build(todo.case, image, label)
        scaffold = train.Scaffold(local_init_op=tf.group(
            train.Scaffold.default_local_init_op(), iterator.initializer))
        # Without device_filters a session waits for every task.
        config = tf.compat.v1.ConfigProto(device_filters=["/job:ps", own])
        with train.MonitoredTrainingSession(
                server.target, is_chief, scaffold=scaffold, config=config, log_step_count_steps=0,
                hooks=[train.StopAtStepHook(last_step=train_steps)]) as session:
            own_steps = 0
            while not session.should_stop():
                _, seen, value = session.run([train_op, step, loss])
                own_steps += 1
                if is_chief and own_steps % _LINE_STEPS == 0:
                    print(f"step {seen}/{train_steps}  loss {value:.4g}", flush=True)
    if is_chief:
        os._exit(0)  # A graceful end would wait for the others' servers, which may be gone.


if __name__ == "__main__":
    main()
