"""Patches of what a session of training is made of."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer.patches import replacement

POLL_SECS = 1
# Values of tensorflow.RewriterConfig.Toggle, an enum that TensorFlow exports under no name.
REWRITER_ON, REWRITER_OFF = 1, 2


def poll_every_second() -> None:
    """Makes every session that is created from now on wait in steps of POLL_SECS for its model.

    A trainer looks this often whether the chief has initialized or restored the model. The default
    is 30 seconds, at the start and after a ps came back, and is out of reach: it is neither in
    RunConfig nor in a Scaffold (tensorflow/tensorflow#10679, whose maintainers agree).
    """
    manager = tf.compat.v1.train.SessionManager
    if inspect.signature(manager.__init__).parameters["recovery_wait_secs"].default != POLL_SECS:
        manager.__init__ = functools.partialmethod(
            manager.__init__, recovery_wait_secs=POLL_SECS)


@contextlib.contextmanager
def synchronizing_with(make_hook: Callable[..., Any]) -> Iterator[None]:
    """Makes a SyncReplicasOptimizer's hook with another function, within a `with` statement.

    The thread of its own hook waits for gradients at the end of a session, which waits for the
    thread, 120 seconds long. A trainer that waits for a step is not woken by anything.

    Args:
      make_hook: Takes the optimizer and the arguments of `make_session_run_hook`.
    """
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer

    def make_session_run_hook(self: Any, is_chief: bool, num_tokens: int = -1) -> Any:
        return make_hook(self, is_chief, num_tokens)

    with replacement.attributes([(optimizer, "make_session_run_hook", make_session_run_hook)]):
        yield
