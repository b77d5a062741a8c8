"""Synchronous training with ps: the chief applies the mean gradients of N trainers a step.

TensorFlow's SyncReplicasOptimizer does it. Its own hook starts a thread for which every end of a
session waits 120 seconds, and leaves workers waiting for a step that nobody completes any more.
"""

from __future__ import annotations

import threading
from typing import Any

from absl import logging
import tensorflow as tf

from estimator_trainer.steps import graph_state


class SyncReplicasHook(tf.estimator.SessionRunHook):
    """Starts a trainer's part; in the chief, also the thread that completes the steps."""

    def __init__(self, optimizer: tf.compat.v1.train.SyncReplicasOptimizer, is_chief: bool,
                 num_trainers: int, num_tokens: int = 0):
        """Makes the hook.

        Args:
          optimizer: The optimizer that the train op was made with.
          is_chief: Whether this trainer completes the steps.
          num_trainers: Number of trainers, the chief and backup workers included.
          num_tokens: Number of steps that the trainers may begin before the first update; the
            chief's counts.
        """
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_trainers = num_trainers
        self._num_tokens = num_tokens

    def begin(self) -> None:
        # The Estimator waits for the variables already; unused, this would be logged as an error.
        self._optimizer.ready_for_local_init_op.mark_used()
        graph_state.WAKE.add(self._optimizer.get_init_tokens_op(self._num_trainers))
        if self._is_chief:
            [self._complete_step] = self._optimizer.get_chief_queue_runner().enqueue_ops
            self._start = self._optimizer.chief_init_op
            self._add_tokens = (self._optimizer.get_init_tokens_op(self._num_tokens)
                                if self._num_tokens else tf.no_op())
        else:
            self._start = self._optimizer.local_step_init_op

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        session.run(self._start)
        if self._is_chief:
            session.run(self._add_tokens)
            # The coordinator does not know this thread: before it closes the session it would wait
            # for the thread, which ends with the session.
            threading.Thread(target=self._complete_steps, args=(session, coord),
                             name="complete_steps", daemon=True).start()

    def _complete_steps(self, session: tf.compat.v1.Session, coord: Any) -> None:
        try:
            while not coord.should_stop():
                session.run(self._complete_step)
        except (tf.errors.OpError, RuntimeError) as error:
            # The session is closed, or broken, and then the trainer's own step fails too.
            logging.debug("completes no more steps: %s", error)
