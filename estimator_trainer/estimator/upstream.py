"""Waiting: how often a trainer looks whether the chief has initialized or restored the model."""

from __future__ import annotations

import functools
import inspect

import tensorflow as tf

POLL_SECS = 1


def poll_every_second() -> None:
    """Makes every session that is created from now on wait in steps of POLL_SECS.

    The default is 30 seconds, at the start and after a ps came back, and is out of reach: it is
    neither in RunConfig nor in a Scaffold (tensorflow/tensorflow#10679, whose maintainers agree).
    """
    manager = tf.compat.v1.train.SessionManager
    if inspect.signature(manager.__init__).parameters["recovery_wait_secs"].default != POLL_SECS:
        manager.__init__ = functools.partialmethod(
            manager.__init__, recovery_wait_secs=POLL_SECS)
