"""An evaluation whose graph and session are kept from one checkpoint to the next.

`Estimator.evaluate` builds graph, session and input anew each time, which for a small model takes
longer than the evaluation. Here a checkpoint is restored in the session that evaluated the one
before; the metrics, the tables and the input start over. The results are the same to the bit.

The input_fn is called once in a process, so the evaluation set is that of the first evaluation:
files that come later are left out. Where something would not start over, the Estimator evaluates
as it always did; see evaluation_graph.py.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Sequence

from absl import logging
import tensorflow as tf

from estimator_trainer import evaluation_graph
from estimator_trainer.compat import private_api
from estimator_trainer.data import InputFn
from estimator_trainer.evaluation_graph import EvaluationGraph


class KeptEvaluation:
    """Evaluates the checkpoints of one Estimator on one input."""

    def __init__(self, estimator: tf.estimator.Estimator, input_fn: InputFn,
                 hooks: Sequence[tf.estimator.SessionRunHook]):
        """Makes it; builds nothing yet.

        Args:
          estimator: Whose model is evaluated.
          input_fn: As `tf.estimator.EvalSpec` has it; yields a Dataset.
          hooks: Those whose `begin` adds to the graph.
        """
        self._estimator, self._input_fn, self._hooks = estimator, input_fn, list(hooks)
        self._built: EvaluationGraph | None = None
        self._session: _OpenSession | None = None

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, "loss" and "global_step" included; builds the graph."""
        return sorted(self._graph().values)

    @contextlib.contextmanager
    def used_by(self, *estimators: tf.estimator.Estimator) -> Iterator[None]:
        """Within it, `evaluate` of the Estimators is that of this object, if it can be."""
        obstacle = self._graph().obstacle
        if obstacle:
            logging.info("each evaluation is built anew: %s", obstacle)
            self._forget()
            estimators = ()
        for estimator in estimators:
            # A subclass must not override it.
            estimator.evaluate = self.evaluate
        try:
            yield
        finally:
            for estimator in estimators:
                del estimator.evaluate
            self._forget()

    def evaluate(self, input_fn: InputFn, steps: int | None = None,
                 hooks: Sequence[tf.estimator.SessionRunHook] | None = None,
                 checkpoint_path: str | None = None, name: str | None = None) -> dict[str, Any]:
        """Does what `tf.estimator.Estimator.evaluate` does, and returns the same.

        Args:
          input_fn: That of this object; with another one the Estimator itself evaluates.
          steps: Batches to take; None: all.
          hooks: Some of those of this object, and such as add nothing to the graph.
          checkpoint_path: The checkpoint; None: the latest.
          name: Of the set, part of the folder's name in which the events are.

        Raises:
          ValueError: If `steps` is not positive; and whatever the input, the hooks and
            TensorFlow raise, after which the next evaluation has a new session.
        """
        path = checkpoint_path or self._estimator.latest_checkpoint()
        if input_fn is not self._input_fn or not path:
            # The hooks are about to begin in another graph.
            self._forget()
            return dict(tf.estimator.Estimator.evaluate(
                self._estimator, input_fn, steps, hooks, checkpoint_path, name))
        if steps is not None and steps <= 0:
            raise ValueError(f"steps is {steps}; expected a positive number, or None")
        try:
            # Also for the writer of the events, which writes the graph first.
            with self._graph().graph.as_default():
                values = self._run(self._graph(), path, steps, hooks or ())
                private_api.write_evaluation(self._estimator.eval_dir(name), values, path)
        except BaseException:
            self._close()
            raise
        return values

    def __deepcopy__(self, memo: dict[int, Any]) -> KeptEvaluation:
        """Returns this: TensorFlow 2.15 copies an Estimator, and what it holds, for a strategy."""
        return self

    def _run(self, built: EvaluationGraph, path: str, steps: int | None,
             hooks: Sequence[tf.estimator.SessionRunHook]) -> dict[str, Any]:
        if self._session is None:
            self._session = _OpenSession(graph=built.graph,
                                         config=self._estimator.config.session_config)
        final = tf.compat.v1.train.FinalOpsHook(built.values)
        begun = [_Begun(hook) if hook in self._hooks else hook for hook in hooks]
        stop = [_StopAfter(steps)] if steps else []
        with tf.compat.v1.train.MonitoredSession(
                _Restoring(self._session, built, path), [*begun, *stop, final]) as session:
            while not session.should_stop():
                session.run(built.update)
        return dict(final.final_ops_values)

    def _graph(self) -> EvaluationGraph:
        if self._built is None:
            self._built = evaluation_graph.build(self._estimator, self._input_fn, self._hooks)
        return self._built

    def _forget(self) -> None:
        self._close()
        self._built = None

    def _close(self) -> None:
        if self._session is not None:
            self._session.let_go()
            self._session = None


class _OpenSession(tf.compat.v1.Session):
    """Stays open when the MonitoredSession that it was used in closes."""

    def close(self) -> None:
        pass

    def let_go(self) -> None:
        super().close()


class _Restoring(tf.compat.v1.train.SessionCreator):
    """Makes an evaluation's session of one that is there."""

    def __init__(self, session: _OpenSession, built: EvaluationGraph, path: str):
        self._session, self._built, self._path = session, built, path

    def create_session(self) -> tf.compat.v1.Session:
        scaffold = self._built.scaffold
        scaffold.saver.restore(self._session, self._path)
        self._session.run(scaffold.local_init_op, scaffold.local_init_feed_dict)
        # The input may look up in tables.
        self._session.run(self._built.start)
        return self._session


class _Begun(tf.estimator.SessionRunHook):
    """A hook that has added to the graph what it needs."""

    def __init__(self, hook: tf.estimator.SessionRunHook):
        self.after_create_session, self.end = hook.after_create_session, hook.end
        self.before_run, self.after_run = hook.before_run, hook.after_run


class _StopAfter(tf.estimator.SessionRunHook):
    """Ends an evaluation after so many batches."""

    def __init__(self, steps: int):
        self._steps = steps

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self._left = self._steps

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._left -= 1
        if not self._left:
            run_context.request_stop()
