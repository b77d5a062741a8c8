"""Synchronous training with ps: the chief applies the mean gradients of N trainers a step.

TensorFlow's SyncReplicasOptimizer computes the steps. Its own hook starts a thread for which every
end of a session waits 120 seconds, and leaves workers waiting for a step that stays incomplete.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer.graph import graph_state

_SESSION_ERRORS = (tf.errors.CancelledError, tf.errors.AbortedError, tf.errors.UnavailableError,
                   RuntimeError)
_POLL_SECS = 0.2
# The name of a variable of SyncReplicasOptimizer.
_LOCAL_STEP = "sync_rep_local_step"


class SyncReplicasHook(tf.estimator.SessionRunHook):
    """Starts a trainer's part; in the chief, also the thread that completes the steps.

    Replaces TensorFlow's own hook: `SyncReplicasOptimizer.make_session_run_hook` makes
    this one while the program runs (`training_patches.synchronizing_with`).
    """

    def __init__(self, optimizer: tf.compat.v1.train.SyncReplicasOptimizer, is_chief: bool,
                 num_tokens: int = -1, needs_all: bool = False):
        """Makes the hook, with the arguments of `make_session_run_hook` first.

        Args:
          optimizer: The optimizer that the train op was made with.
          is_chief: Whether this trainer completes the steps.
          num_tokens: Number of steps that the trainers may begin before the first update, in the
            chief; -1: the number of gradients that a step takes.
          needs_all: Whether each step waits for a gradient of each trainer.
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
                             name="complete_steps", daemon=True).start()

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
