"""An evaluation whose graph and session are kept from one checkpoint to the next.

`Estimator.evaluate` builds graph, session and input again each time, which for a small model takes
longer than the evaluation. Here a checkpoint is restored in the session of the one before, and the
metrics, the tables and the input start over. The results are the same to the bit.

The input_fn is called once in a process, so files that come after the first evaluation are left
out. Where something would not start over (`_unsupported`), the Estimator evaluates by itself. The
same holds for a script, whose functions may draw random numbers of Python, or read what has
changed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from typing import Any, Collection, Iterator, Mapping, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer.estimator.input_fn_adapter import InputFn
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.estimator.random_state import RandomState
from estimator_trainer.evaluation import event_files
from estimator_trainer.evaluation.evaluation_log import check_names, EvaluationLog
from estimator_trainer.graph import operations, session_close
from estimator_trainer.patches import estimator_patches


def build(estimator: tf.estimator.Estimator, plugins: LoadedPlugins,
          evaluations: EvaluationLog) -> KeptEvaluation | None:
    """Returns the evaluation of a task, whose examples `evaluations` counts; None for a script."""
    if plugins.script:
        return None
    sets = {each.name: KeptEvaluation(estimator, each.loaded.input_fn, [each.progress],
                                      each.loaded.starts_over) for each in evaluations.sets}
    return KeptEvaluation(estimator, plugins.input_fn, [evaluations.progress], plugins.starts_over,
                          sets)


# A larger model has one session at a time, for all sets of data.
_MOST_BYTES = 256 * 1024**2


class KeptEvaluation:
    """Evaluates the checkpoints of one Estimator on one input."""

    def __init__(self, estimator: tf.estimator.Estimator, input_fn: InputFn,
                 hooks: Sequence[tf.estimator.SessionRunHook], starts_over: bool = False,
                 sets: Mapping[str, KeptEvaluation] | None = None):
        """Builds nothing yet.

        The `hooks` begin once, and get after each batch what they fetch before the first.
        `starts_over` is whether the Python functions of the input_fn yield the same again. `sets`
        are the evaluations on further data, by name: each has a graph and a session of its own; of
        a large model only one session at a time, because each holds the whole model.
        """
        self._starts_over, self._sets = starts_over, dict(sets or {})
        self._estimator, self._input_fn, self._hooks = estimator, input_fn, list(hooks)
        self._built: EvaluationGraph | None = None
        self._session: tf.compat.v1.Session | None = None
        self._step: Any = None

    def is_of(self, input_fn: InputFn) -> bool:
        """Returns whether this object evaluates the data of an input_fn."""
        return input_fn is self._input_fn

    def build(self) -> list[str]:
        """Builds the graphs, once; returns the names of the metrics that are one number."""
        names = sorted(name for name, value in self.built().values.items()
                       if value.shape.num_elements() in (1, None))
        check_names(names, self._sets)
        return names + [f"{name}/{metric}" for name, each in self._sets.items()
                        for metric in each.build() if metric != "global_step"]

    @contextlib.contextmanager
    def used_by(self, *estimators: tf.estimator.Estimator) -> Iterator[None]:
        """Replaces the Estimators' `evaluate` within a `with` statement, where supported."""
        self.build()
        everything = [self, *self._sets.values()]
        unsupported = next(filter(None, (each.built().unsupported for each in everything)), "")
        if unsupported:
            logging.info("each evaluation builds its graph again: %s", unsupported)
            self._forget()
            estimators = ()
        try:
            with estimator_patches.evaluating_with(estimators, self.evaluate):
                yield
        finally:
            self._forget()

    def evaluate(self, input_fn: InputFn, steps: int | None = None,
                 hooks: Sequence[tf.estimator.SessionRunHook] | None = None,
                 checkpoint_path: str | None = None, name: str | None = None) -> dict[str, Any]:
        """Evaluates with the arguments and the results of `tf.estimator.Estimator.evaluate`.

        With any other input_fn than this object's, the Estimator itself evaluates. Any other hooks
        must add nothing to the graph, and fetch nothing. After an error the session is a new one.
        """
        for other in self._sets.values():
            if other.is_of(input_fn):
                return self._evaluate_set(other, input_fn, steps, hooks, checkpoint_path, name)
        path = checkpoint_path or self._estimator.latest_checkpoint()
        if input_fn is not self._input_fn or not path:
            # The hooks are about to begin in another graph.
            self._forget()
            return dict(tf.estimator.Estimator.evaluate(
                self._estimator, input_fn, steps, hooks, checkpoint_path, name))
        if steps is not None and steps <= 0:
            raise ValueError(f"steps is {steps}; expected a positive number, or None")
        try:
            # The first events hold the graph, which their writer takes from here.
            with self.built().graph.as_default():
                values = self._run(self.built(), path, steps, hooks or ())
                event_files.write(self._estimator.eval_dir(name), values, path)
        except BaseException:
            self.close()
            raise
        return values

    def __deepcopy__(self, memo: dict[int, Any]) -> KeptEvaluation:
        """Returns itself, since TensorFlow 2.15 copies an Estimator deeply for a strategy."""
        return self

    def _evaluate_set(self, other: KeptEvaluation, *args: Any) -> dict[str, Any]:
        if self._is_small():
            return other.evaluate(*args)
        self.close()
        try:
            return other.evaluate(*args)
        finally:
            other.close()

    def _is_small(self) -> bool:
        """Returns whether the memory has room for a session of each set, with its own model."""
        variables = self.built().graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
        sizes = [(each.shape.num_elements() or _MOST_BYTES) * each.dtype.size for each in variables]
        return sum(sizes) <= _MOST_BYTES

    def _run(self, built: EvaluationGraph, path: str, steps: int | None,
             hooks: Sequence[tf.estimator.SessionRunHook]) -> dict[str, Any]:
        session, scaffold = self._open(built), built.scaffold
        for hook in hooks:
            if hook not in self._hooks:
                hook.begin()
        scaffold.saver.restore(session, path)
        session.run(scaffold.local_init_op, scaffold.local_init_feed_dict)
        # The input may use tables, which are initialized by now.
        session.run(built.start)
        for hook in hooks:
            hook.after_create_session(session, tf.train.Coordinator())
        with contextlib.suppress(tf.errors.OutOfRangeError):
            self._batches(session, steps, hooks)
        for hook in hooks:
            hook.end(session)
        return dict(session.run(built.values))

    def _batches(self, session: tf.compat.v1.Session, steps: int | None,
                 hooks: Sequence[tf.estimator.SessionRunHook]) -> None:
        context = tf.estimator.SessionRunContext(None, session)
        for _ in range(steps) if steps else itertools.count():
            results = dict(zip(self._hooks, self._step()))
            for hook in hooks:
                hook.after_run(context, tf.estimator.SessionRunValues(
                    results.get(hook), None, None))
            if context.stop_requested:
                return

    def _open(self, built: EvaluationGraph) -> tf.compat.v1.Session:
        if self._session is None:
            self._session = tf.compat.v1.Session(
                graph=built.graph, config=self._estimator.config.session_config)
            session_close.bound(self._session)
            context = tf.estimator.SessionRunContext(None, self._session)
            fetched = [hook.before_run(context) for hook in self._hooks]
            # A callable takes much less Python a batch than `run` and than a MonitoredSession.
            self._step = self._session.make_callable(
                [*(each.fetches if each else [] for each in fetched), built.update])
        return self._session

    def built(self) -> EvaluationGraph:
        """Returns the graph, which is built once."""
        if self._built is None:
            self._built = build_graph(self._estimator, self._input_fn, self._hooks,
                                      self._starts_over)
        return self._built

    def _forget(self) -> None:
        for each in (self, *self._sets.values()):
            each.drop()

    def drop(self) -> None:
        """Closes the session, and drops the graph."""
        self.close()
        self._built = None

    def close(self) -> None:
        """Closes the session; the next evaluation opens another."""
        if self._session is not None:
            self._session.close()
            self._session = self._step = None


# Ops that hold something between session runs, which a checkpoint, the local initializer or the
# start of the input sets again.
_RESET = {"VarHandleOp", "HashTableV2", "IteratorV2"}
# Attributes of ops that draw random numbers; such an op has both.
_SEEDS = ("seed", "seed2")


@dataclasses.dataclass(frozen=True)
class EvaluationGraph:
    """The graph that an evaluation runs, and its entry points.

    Attributes:
      graph: The graph, which is finalized if it may be used more than once.
      start: The op that starts the input over.
      update: The op that adds a batch to the metrics.
      values: The metrics by name, "loss" and "global_step" included.
      unsupported: Why a session must not use the graph more than once; "" if it may.
    """

    graph: tf.Graph
    scaffold: tf.compat.v1.train.Scaffold
    start: tf.Operation
    update: tf.Operation
    values: dict[str, tf.Tensor]
    unsupported: str


def build_graph(estimator: tf.estimator.Estimator, input_fn: InputFn,
                hooks: Sequence[tf.estimator.SessionRunHook],
                starts_over: bool = False) -> EvaluationGraph:
    """Builds the graph without a strategy (estimator.py, `Estimator._evaluate_build_graph`).

    The hooks begin in the graph if it may be used more than once. `starts_over`: as above.
    """
    mode, config = tf.estimator.ModeKeys.EVAL, estimator.config
    with tf.Graph().as_default() as graph:
        tf.compat.v1.set_random_seed(config.tf_random_seed)
        step = tf.compat.v1.train.create_global_step()
        drawn = RandomState()
        with tf.device("/cpu:0"):
            made = input_fn(mode=mode, params=estimator.params, config=config)
        is_dataset = isinstance(made, tf.data.Dataset)
        functions = graph.as_graph_def().library.function if starts_over else ()
        trusted = {function.signature.name for function in functions}
        unsupported = ("its input_fn draws random numbers of Python, others in each evaluation"
                       if drawn.has_changed() else "")
        start, batch = tf.no_op(), made
        if is_dataset:
            iterator = tf.compat.v1.data.make_initializable_iterator(made)
            batch, start = iterator.get_next(), iterator.initializer
        features, labels = batch if isinstance(batch, tuple) else (batch, None)
        spec = estimator.model_fn(features, labels, mode, config)
        metrics = {"loss": tf.compat.v1.metrics.mean(spec.loss), **spec.eval_metric_ops}
        names = sorted(metrics)
        update = tf.group(*(metrics[name][1] for name in names))
        values = {**{name: metrics[name][0] for name in names}, "global_step": step}
        scaffold = _with_local_init(spec.scaffold)
        unsupported = unsupported or (_unsupported(spec, config, trusted) if is_dataset else
                                      "its input_fn returns tensors, which nothing starts over")
        if not unsupported:
            for hook in hooks:
                hook.begin()
            scaffold.finalize()
    return EvaluationGraph(graph, scaffold, start, update, values, unsupported)


def _with_local_init(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Scaffold:
    """Adds the local initializer of the metrics to the user's, if there is one."""
    if scaffold.local_init_op is None:
        return scaffold
    default = tf.compat.v1.train.Scaffold
    return default(local_init_op=tf.group(scaffold.local_init_op, default.default_local_init_op()),
                   copy_from_scaffold=scaffold)


def _unsupported(spec: tf.estimator.EstimatorSpec, config: tf.estimator.RunConfig,
                 trusted: Collection[str]) -> str:
    """Returns why a graph must not be used again; `trusted` functions in it start over."""
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
            for output in op.outputs if output.dtype == tf.resource} - _RESET
    if kept:
        return f"it keeps more than variables and tables ({', '.join(sorted(kept))})"
    definition = graph.as_graph_def()
    others = [each for each in definition.library.function if each.signature.name not in trusted]
    del definition.library.function[:]
    definition.library.function.extend(others)
    # An evaluation does not run initializers.
    initial = {op.name for variable in (*tf.compat.v1.global_variables(),
                                        *tf.compat.v1.local_variables())
               for op in operations.up_to(variable.initializer)}
    nodes = [node for node in definition.node if node.name not in initial]
    nodes += operations.in_functions(definition)
    if any(node.op in operations.IN_PYTHON for node in nodes):
        return "it calls Python functions, which may keep something"
    # A new session draws the same numbers from the same seed; this one would draw others.
    if any(name in node.attr and node.attr[name].i for node in nodes for name in _SEEDS):
        return "it draws random numbers by a seed"
    return ""
