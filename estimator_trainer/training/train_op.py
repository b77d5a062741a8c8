"""The train op of a model_fn: what the program requests of it, and adds to it.

Requests and answers go through graph collections (`graph_state.CONTRACT`).
"""

import re
import threading
import time
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.errors import ConfigError, Problem
from estimator_trainer.graph import graph_state, operations, session_close
from estimator_trainer.settings.trainer_config import TrainerConfig

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

    Raises ConfigError if the model_fn does not do what was requested.
    """
    if config.mixed_precision == "float16" and not graph_state.LOSS_SCALED.all():
        raise _missing("mixed_precision", "float16",
                       "and gradients of 16 bit vanish unless the loss is scaled", config.model_fn)
    hooks = list(spec.training_hooks)
    if config.sync_replicas:
        optimizer = graph_state.SYNC_OPTIMIZER.take()
        if not isinstance(optimizer, tf.compat.v1.train.SyncReplicasOptimizer):
            raise _missing("sync_replicas", config.sync_replicas, "which is up to the optimizer",
                           config.model_fn)
        hooks.append(SyncReplicasHook(
            optimizer, task.is_chief, config.sync_tokens,
            needs_all=config.sync_replicas == task.num_trainers and not config.sync_tokens))
    _warn_of_left_out_updates(spec.train_op)
    return spec._replace(training_hooks=hooks)


def _missing(setting: str, value: Any, why: str, model_fn: str) -> ConfigError:
    return ConfigError(Problem(
        setting, value, f"{why}; model_fn {model_fn!r} does not do it",
        "a train op of model_fns.training", "return model_fns.training.update.spec(loss, params)"))


def _warn_of_left_out_updates(train_op: Any) -> None:
    """Warns of updates of moving statistics that neither the train op nor a loop runs.

    Keras layers make them for Keras's own training to run (tensorflow/tensorflow#23873); other
    layers put them into a collection that is easily forgotten. Evaluation then uses the statistics
    of step 0. A program may leave out some on purpose, such as the updates of a second batch.
    """
    graph = tf.compat.v1.get_default_graph()
    outside = operations.outside(graph)
    # An assigned variable, like a tensor, has the operation as `op`.
    collected = [getattr(each, "op", each)
                 for each in graph.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)]
    updates = {op for op in collected if op.graph is graph}
    updates |= {op for op in graph.get_operations() if op.type in _ASSIGNMENTS and
                _STATISTICS.search(operations.variable_of(op, outside).name)}
    # A nested Keras model leaves ops that depend on a placeholder, which no step can run; a class
    # with its own iterations runs such ops itself.
    left_out = sorted(op.name for op in updates - operations.up_to(train_op)
                      if not operations.is_fed(op)) if updates else []
    if left_out:
        logging.warning(
            "%d updates of the model, such as %s, are not part of the train_op and do not run. If"
            " they should: train_op=tf.group(train_op,"
            " *tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)), or for a Keras"
            " layer tf.group(train_op, *layer.updates)", len(left_out), left_out[0])


_SESSION_ERRORS = (tf.errors.CancelledError, tf.errors.AbortedError, tf.errors.UnavailableError,
                   RuntimeError)
_POLL_SECS = 0.2
# The name of a variable of SyncReplicasOptimizer.
_LOCAL_STEP = "sync_rep_local_step"


class SyncReplicasHook(tf.estimator.SessionRunHook):
    """Starts a trainer's part of synchronous steps with ps; in the chief, also their completion.

    TensorFlow's SyncReplicasOptimizer computes the steps: the chief applies the mean gradients of N
    trainers. Its own hook starts a thread for which every end of a session waits 120 seconds, and
    leaves workers waiting for a step that stays incomplete. `make_session_run_hook` makes this hook
    in its place while the program runs (`training_patches.synchronizing_with`).
    """

    def __init__(self, optimizer: tf.compat.v1.train.SyncReplicasOptimizer, is_chief: bool,
                 num_tokens: int = -1, needs_all: bool = False):
        """Makes the hook, with the arguments of `make_session_run_hook` first.

        The chief lets the trainers begin `num_tokens` steps before the first update; -1: as many as
        a step takes gradients. `needs_all`: each step waits for a gradient of each trainer.
        """
        self._optimizer, self._is_chief = optimizer, is_chief
        self._num_tokens, self._needs_all = num_tokens, needs_all
        self._failure: tf.errors.OpError | None = None

    def begin(self) -> None:
        self._wake = self._optimizer.get_init_tokens_op()
        graph_state.WAKE.add(self._wake)
        # The Estimator waits for the variables already; unused, this would be logged as an error.
        self._optimizer.ready_for_local_init_op.mark_used()
        if self._is_chief:
            [self._complete_step] = self._optimizer.get_chief_queue_runner().enqueue_ops
            self._start = self._optimizer.chief_init_op
            self._add_tokens = self._optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._start = self._optimizer.local_step_init_op
            if self._needs_all:
                [local_step] = [each for each in tf.compat.v1.local_variables()
                                if each.op.name.endswith(_LOCAL_STEP)]
                # A chief that was started again restores the step, and then lets the others begin
                # there. A first gradient between the two would be dropped as too old, and no step
                # would ever be complete.
                with tf.control_dependencies([self._start]):
                    self._start = local_step.assign(local_step.dtype.max)

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self._failure = None  # Left by an earlier session.
        session.run(self._start)
        if self._is_chief:
            session.run(self._add_tokens)
            # The coordinator must not get this thread, which ends with the session: it would wait
            # for the thread before it closes the session.
            threading.Thread(target=self._complete_steps, args=(session, coord),
                             name=session_close.RUNS_UNTIL_CLOSE, daemon=True).start()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._failure:
            raise self._failure

    def _complete_steps(self, session: tf.compat.v1.Session, coord: Any) -> None:
        while not coord.should_stop():
            try:
                session.run(self._wake if self._failure else self._complete_step)
            except _SESSION_ERRORS as error:
                # The session is closed or broken, so the trainer's own step fails too.
                logging.debug("completes no more steps: %s", error)
                return
            except tf.errors.OpError as error:
                # The update failed. The chief's own step waits for it, and must end.
                self._failure = error
            if self._failure:
                time.sleep(_POLL_SECS)
