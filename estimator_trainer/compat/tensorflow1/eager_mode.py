"""Eager execution, which a program of TensorFlow 1 switches on at its start.

Source: tf.enable_eager_execution of TensorFlow 1.15's API
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

_NAMES = ("enable_eager_execution", "enable_eager_execution_internal")


def _for_keras(newer: Any) -> Any:
    @functools.wraps(newer)
    def enable(*args: Any, **kwargs: Any) -> None:
        newer(*args, **kwargs)
        # TensorFlow was started for graphs. Without an entry for what is outside them, Keras takes
        # its own graphs for the program's.
        switches = context.context().context_switches
        if not switches.stack:
            switches.push(False, context.eager_mode, None)

    return enable


def supply() -> None:
    """Lets Keras's models be made after eager execution is switched on."""
    for name in _NAMES:
        setattr(ops, name, _for_keras(getattr(ops, name)))
    tf.compat.v1.enable_eager_execution = ops.enable_eager_execution
