"""The graph of an evaluation, as `Estimator.evaluate` builds it, to be used more than once."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import tensorflow as tf

from estimator_trainer.estimator.input_fn_adapter import InputFn
from estimator_trainer.estimator.random_state import RandomState
from estimator_trainer.graph import ancestry

# Ops that hold something between session runs, which a checkpoint, the local initializer or the
# start of the input sets anew.
_SET_ANEW = {"VarHandleOp", "HashTableV2", "IteratorV2"}
_IN_PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}
# Attributes of ops that draw random numbers; such an op has both.
_SEEDS = ("seed", "seed2")


@dataclasses.dataclass(frozen=True)
class EvaluationGraph:
    """The graph that an evaluation runs, and what is run of it.

    Attributes:
      graph: The graph; it is finalized, unless there is an obstacle.
      scaffold: The Scaffold, which restores a checkpoint, and initializes the rest.
      start: The op that starts the input over.
      update: The op that adds a batch to the metrics.
      values: The metrics by name, "loss" and "global_step" included.
      obstacle: Why a session must not use the graph more than once; "" if it may.
    """

    graph: tf.Graph
    scaffold: tf.compat.v1.train.Scaffold
    start: tf.Operation
    update: tf.Operation
    values: dict[str, tf.Tensor]
    obstacle: str


def build(estimator: tf.estimator.Estimator, input_fn: InputFn,
          hooks: Sequence[tf.estimator.SessionRunHook]) -> EvaluationGraph:
    """Builds the graph without a strategy (estimator.py, `Estimator._evaluate_build_graph`).

    Args:
      estimator: The Estimator of the model.
      input_fn: The input_fn, which yields a Dataset, or else tensors.
      hooks: The hooks, which begin in the graph unless there is an obstacle.
    """
    mode, config = tf.estimator.ModeKeys.EVAL, estimator.config
    with tf.Graph().as_default() as graph:
        tf.compat.v1.set_random_seed(config.tf_random_seed)
        step = tf.compat.v1.train.create_global_step()
        drawn = RandomState()
        with tf.device("/cpu:0"):
            given = input_fn(mode=mode, params=estimator.params, config=config)
        is_dataset = isinstance(given, tf.data.Dataset)
        obstacle = ("its input_fn draws random numbers of Python, others in each evaluation"
                    if drawn.has_changed() else "")
        batch, start = _iterated(given) if is_dataset else (given, tf.no_op())
        features, labels = batch if isinstance(batch, tuple) else (batch, None)
        spec = estimator.model_fn(features, labels, mode, config)
        metrics = {"loss": tf.compat.v1.metrics.mean(spec.loss), **spec.eval_metric_ops}
        names = sorted(metrics)
        update = tf.group(*(metrics[name][1] for name in names))
        values = {**{name: metrics[name][0] for name in names}, "global_step": step}
        scaffold = _with_local_init(spec.scaffold)
        obstacle = obstacle or (_obstacle(spec, config) if is_dataset else
                                "its input_fn returns tensors, which nothing starts over")
        if not obstacle:
            for hook in hooks:
                hook.begin()
            scaffold.finalize()
    return EvaluationGraph(graph, scaffold, start, update, values, obstacle)


def _iterated(dataset: tf.data.Dataset) -> tuple[Any, tf.Operation]:
    """Returns a batch, and the op that starts the input over."""
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    return iterator.get_next(), iterator.initializer


def _with_local_init(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Scaffold:
    """Adds that of the metrics to the user's local initializer, if there is one."""
    if scaffold.local_init_op is None:
        return scaffold
    default = tf.compat.v1.train.Scaffold
    return default(local_init_op=tf.group(scaffold.local_init_op, default.default_local_init_op()),
                   copy_from_scaffold=scaffold)


def _obstacle(spec: tf.estimator.EstimatorSpec, config: tf.estimator.RunConfig) -> str:
    graph = tf.compat.v1.get_default_graph()
    if config.eval_distribute is not None:
        return "a strategy evaluates"
    if spec.evaluation_hooks:
        return "its EstimatorSpec has evaluation hooks, which begin with each evaluation"
    if {"loss", "global_step"} & set(spec.eval_metric_ops):
        return "it has a metric of a name that the Estimator uses itself"
    if graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
        return "it has queues"
    kept = {op.type for op in graph.get_operations()
            for output in op.outputs if output.dtype == tf.resource} - _SET_ANEW
    if kept:
        return f"it keeps more than variables and tables ({', '.join(sorted(kept))})"
    return _obstacle_in_ops(graph)


def _obstacle_in_ops(graph: tf.Graph) -> str:
    definition = graph.as_graph_def()
    # An evaluation does not run initializers.
    initial = {op.name for variable in (*tf.compat.v1.global_variables(),
                                        *tf.compat.v1.local_variables())
               for op in ancestry.of(variable.initializer)}
    nodes = [node for node in definition.node if node.name not in initial]
    for function in definition.library.function:
        nodes += function.node_def
    if any(node.op in _IN_PYTHON for node in nodes):
        return "it calls Python functions, which may keep something"
    # From the same seed a new session draws the same numbers, this one would draw others.
    if any(name in node.attr and node.attr[name].i for node in nodes for name in _SEEDS):
        return "it draws random numbers by a seed"
    return ""
