"""Patches of sessions and of their hooks."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer.patches import replacement

POLL_SECS = 1
# Values of RewriterConfig.Toggle, an enum without a public name.
REWRITER_ON, REWRITER_OFF = 1, 2


@contextlib.contextmanager
def polling_every_second() -> Iterator[None]:
    """Makes sessions that are created within a `with` poll for their model every POLL_SECS.

    A trainer polls until the chief has initialized or restored the model, at the start and when a
    ps is back. TensorFlow's 30 seconds are a setting of neither RunConfig nor Scaffold
    (tensorflow/tensorflow#10679, whose maintainers agree).
    """
    manager = tf.compat.v1.train.SessionManager
    polling = functools.partialmethod(manager.__init__, recovery_wait_secs=POLL_SECS)
    with replacement.attributes([(manager, "__init__", polling)]):
        yield


@contextlib.contextmanager
def synchronizing_with(make_hook: Callable[..., Any]) -> Iterator[None]:
    """Makes SyncReplicasOptimizers use another hook, within a `with` statement.

    At the end of a session the thread of TensorFlow's own hook waits for gradients, and the session
    waits 120 seconds for the thread. Nothing wakes a trainer that waits for a step.

    Args:
      make_hook: Returns the hook; takes the optimizer and the arguments of
        `make_session_run_hook`.
    """
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer

    def make_session_run_hook(self: Any, is_chief: bool, num_tokens: int = -1) -> Any:
        return make_hook(self, is_chief, num_tokens)

    with replacement.attributes([(optimizer, "make_session_run_hook", make_session_run_hook)]):
        yield
