"""The profiler: it profiles chosen steps, for TensorBoard."""

from __future__ import annotations

from typing import Any

from absl import logging
import tensorflow as tf


class StepProfiler(tf.estimator.SessionRunHook):
    """Profiles this process from the first to the last of some global steps.

    It writes into MODEL_DIR/plugins/profile, where TensorBoard looks for profiles.
    """

    def __init__(self, model_dir: str, first: int, last: int):
        """Makes the hook; the steps are counted from 1, and both are profiled."""
        self._model_dir = model_dir
        self._first, self._last = first, last
        self._is_on = self._is_over = False

    def begin(self) -> None:
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self._start_if_due(int(session.run(self._global_step)))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._is_over:
            return
        step = int(run_context.session.run(self._global_step))
        if self._is_on and step >= self._last:
            self._stop(step)
        self._start_if_due(step)
        self._is_over = step >= self._last

    def end(self, session: tf.compat.v1.Session) -> None:
        if self._is_on:
            self._stop(int(session.run(self._global_step)))

    def _start_if_due(self, step: int) -> None:
        if not self._is_on and self._first <= step + 1 <= self._last:
            tf.profiler.experimental.start(self._model_dir)
            self._is_on = True

    def _stop(self, step: int) -> None:
        tf.profiler.experimental.stop()
        self._is_on = False
        logging.info("profiled up to step %d: tensorboard --logdir=%s", step, self._model_dir)
