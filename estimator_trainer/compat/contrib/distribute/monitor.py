"""`tf.contrib.distribute.Monitor`.

Source: tensorflow/contrib/distribute/python/monitor.py of TensorFlow 1.15
"""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf


class Monitor:
    """Runs the steps of a training.

    Args:
      step_callable: A Step, such as StandardSingleLossStep.
      session: The session; none in eager mode.

    Raises:
      ValueError: A session is missing, or given in eager mode.
    """

    def __init__(self, step_callable: Any, session: Any = None) -> None:
        if tf.executing_eagerly() is not (session is None):
            raise ValueError("Should not provide a `session` in Eager mode."
                             if session is not None else
                             "Should provide a `session` in Graph mode.")
        if session is None:
            self._run_step = step_callable
            return
        session.run(step_callable.initialize())
        self._run_step = session.make_callable(step_callable())
        session.run(tf.compat.v1.global_variables_initializer())

    def run_steps(self, num_steps: Optional[int] = None) -> None:
        """Runs so many steps; without a number, until the input ends."""
        step = 0
        while num_steps is None or step < num_steps:
            try:
                self._run_step()
                step += 1
            except tf.errors.OutOfRangeError:
                break
