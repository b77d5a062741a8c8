"""The train op of a model_fn: what the program requests of it, and adds to it.

Requests and answers go through graph collections (`graph_state.CONTRACT`).
"""

from __future__ import annotations

import re
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.errors import ConfigError, Problem
from estimator_trainer.graph import graph_state, operations
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import sync_replicas

_STATISTICS = re.compile(r"/moving_(mean|variance)(_\d+)?(/replica_\d+)?$")
_ASSIGNMENTS = ("AssignSubVariableOp", "AssignAddVariableOp", "AssignSub", "AssignAdd")


def request(config: TrainerConfig, task: TaskConfig) -> None:
    """Leaves in the current graph what a train op made from now on must do."""
    if config.sync_replicas:
        graph_state.SYNC_REPLICAS.put(config.sync_replicas, task.num_trainers)
    if config.mixed_precision == "float16":
        graph_state.LOSS_SCALE.put(1)


def complete(spec: tf.estimator.EstimatorSpec, config: TrainerConfig,
             task: TaskConfig) -> tf.estimator.EstimatorSpec:
    """Returns a training spec with the hooks that it lacks; warns of updates that it leaves out.

    Raises:
      ConfigError: if the model_fn does not do what was requested.
    """
    if config.mixed_precision == "float16" and not graph_state.LOSS_SCALED.all():
        raise _missing("mixed_precision", "float16",
                       "and gradients of 16 bit vanish unless the loss is scaled", config.model_fn)
    hooks = list(spec.training_hooks)
    if config.sync_replicas:
        hooks.append(sync_replicas.SyncReplicasHook(
            _sync_optimizer(config), task.is_chief, config.sync_tokens,
            needs_all=config.sync_replicas == task.num_trainers and not config.sync_tokens))
    _warn_of_left_out_updates(spec.train_op)
    return spec._replace(training_hooks=hooks)


def _sync_optimizer(config: TrainerConfig) -> tf.compat.v1.train.SyncReplicasOptimizer:
    found = graph_state.SYNC_OPTIMIZER.take()
    if not isinstance(found, tf.compat.v1.train.SyncReplicasOptimizer):
        raise _missing("sync_replicas", config.sync_replicas, "which is up to the optimizer",
                       config.model_fn)
    return found


def _missing(setting: str, value: Any, why: str, model_fn: str) -> ConfigError:
    return ConfigError(Problem(
        setting, value, f"{why}; model_fn {model_fn!r} does not do it",
        "a train op of model_fns.training",
        "return model_fns.training.update.spec(loss, params)"))


def _warn_of_left_out_updates(train_op: Any) -> None:
    """Warns of updates of moving statistics that neither the train op nor a loop runs.

    Keras layers make them for Keras's own training to run (tensorflow/tensorflow#23873); other
    layers put them into a collection that is easily forgotten. Evaluation then uses the statistics
    of step 0. A program may leave out some on purpose, such as the updates of a second batch.
    """
    left_out = _left_out_updates(train_op)
    if left_out:
        logging.warning(
            "%d updates of the model, such as %s, are not part of the train_op and do not run. If"
            " they should: train_op=tf.group(train_op,"
            " *tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)), or for a Keras"
            " layer tf.group(train_op, *layer.updates)", len(left_out), left_out[0].name)


def _left_out_updates(train_op: Any) -> list[tf.Operation]:
    """Returns the updates that do not run, in the order of their names."""
    graph = tf.compat.v1.get_default_graph()
    outside = operations.outside(graph)
    # An assigned variable, like a tensor, has the operation as `op`.
    collected = [getattr(each, "op", each)
                 for each in graph.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)]
    updates = {op for op in collected if op.graph is graph}
    updates |= {op for op in graph.get_operations() if op.type in _ASSIGNMENTS and
                _STATISTICS.search(operations.variable_of(op, outside).name)}
    if not updates:
        return []
    # A nested Keras model leaves ops that depend on a placeholder, which no step can run; a class
    # with its own iterations runs such ops itself.
    return sorted((op for op in updates - operations.up_to(train_op) if not operations.is_fed(op)),
                  key=lambda op: op.name)
