"""Settings of the platform that the program reads: TF_CONFIG of every form, strategies, tasks."""

from __future__ import annotations

import json
import os
from typing import Any

import tensorflow as tf

from tests.equality import observed
from tests.equality.program import Program, USUAL_SHAPES
from tests.equality.programs import models

v1 = tf.compat.v1


def _reads_tf_config(job: Any) -> None:
    """Keeps the values of TF_CONFIG, of the RunConfig and of the resolver, then trains."""
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    job.keep("task", tf_config.get("task"))
    job.keep("cluster", {role: len(hosts) for role, hosts in tf_config.get("cluster", {}).items()})
    config = job.config()
    job.keep("RunConfig", [config.task_type, config.task_id, config.is_chief, config.master == "",
                           config.num_worker_replicas, config.num_ps_replicas,
                           config.global_id_in_cluster])
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    job.keep("resolver", [resolver.task_type, resolver.task_id,
                          sorted(resolver.cluster_spec().jobs)])
    job.train_and_evaluate()


def _sharded_by_tf_config() -> tf.data.Dataset:
    """Reads every n-th row, as scripts did before there was an input_context."""
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    trainers = [(role, index) for role in ("chief", "master", "worker")
                for index in range(len(tf_config.get("cluster", {}).get(role, [])))]
    task = tf_config.get("task", {})
    place = trainers.index((task["type"], task["index"])) if trainers else 0
    return models.line().shard(max(len(trainers), 1), place).repeat()


def _updates_in_a_cond(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    """Makes UPDATE_OPS in branches, and leaves them out of the train_op."""
    x = features["x"]
    step = v1.train.get_or_create_global_step()
    count = v1.get_variable("untaken_count", [], initializer=v1.zeros_initializer(),
                            trainable=False, use_resource=True)

    def untaken() -> tf.Tensor:
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, count.assign_add(10.0))
        return tf.constant(1)

    tf.cond(tf.less(tf.constant(1), 2), lambda: tf.constant(1), untaken)
    is_deep = tf.equal(step % 2, 0) if mode == "train" else tf.constant(True)
    x = tf.cond(is_deep, lambda: v1.layers.batch_normalization(
        x, training=mode == "train", name="norm"), lambda: tf.identity(x))
    out = v1.layers.dense(x, 1, kernel_initializer=v1.ones_initializer(), name="out")
    return models.spec(mode, v1.losses.mean_squared_error(labels, out))


def _evaluates_with_a_strategy(job: Any) -> None:
    """Trains plainly, and evaluates under a strategy of its own."""
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    estimator = job.estimator(train_distribute=None, eval_distribute=strategy)
    job.train_and_evaluate(estimator)


def _all_reduces_alone(job: Any) -> None:
    """Trains and evaluates under the strategy of many processes, in one."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    job.train_and_evaluate(job.estimator(train_distribute=strategy, eval_distribute=strategy))


def _listener(job: Any) -> list[Any]:
    return [observed.Listener(job)]


_LINE = dict(train_input_fn=models.endless_line_input_fn, eval_input_fn=models.short_line_input_fn)
_LINEAR = dict(model_fn=models.linear, **_LINE)

PROGRAMS = {
    "reads_tf_config": Program(**_LINEAR, main=_reads_tf_config, shapes=(
        *USUAL_SHAPES, "workers", "master", "evaluator"), why="all that there are"),
    "shards_by_tf_config": Program(
        models.linear, _sharded_by_tf_config, models.short_line_input_fn,
        shapes=(*USUAL_SHAPES, "workers", "master"), why="an evaluator has no shard"),
    "hooked_tasks": Program(**_LINEAR, hooks=lambda job: [observed.Hook(job)],
                            listeners=_listener, shapes=("master", "evaluator"),
                            why="the usual shapes have it as `listeners` and `hooks`"),
    "updates_in_a_cond": Program(_updates_in_a_cond, **_LINE, is_plugin=True,
                                 shapes=("one", "ps", "ps_worker"),
                                 why="plain refuses a replica's state in a tf.cond"),
    "eval_strategy": Program(**_LINEAR, main=_evaluates_with_a_strategy, shapes=("one",),
                             why="a cluster's evaluation has no strategy of one device"),
    "all_reduces_alone": Program(**_LINEAR, main=_all_reduces_alone, shapes=("one",),
                                 why="the others have a strategy already"),
}
