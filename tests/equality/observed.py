"""Hooks and listeners that tell the job of every call they get."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class Hook(tf.estimator.SessionRunHook):
    """A hook that tells of its calls; `after_run` with the global step at that time."""

    def __init__(self, job: Any, name: str = "hook"):
        self._job, self._name, self.step = job, name, 0

    def begin(self) -> None:
        self._job.call(self._name, "begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._job.call(self._name, "after_create_session")

    def before_run(self, run_context: Any) -> Any:
        self._job.call(self._name, "before_run")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        # Values that a run fetches beside its step are from before or after the step.
        self.step = int(run_context.session.run(tf.compat.v1.train.get_global_step()))
        self._job.call(self._name, "after_run", self.step)

    def end(self, session: Any) -> None:
        self._job.call(self._name, "end")


class Listener(tf.estimator.CheckpointSaverListener):
    """A saving listener that tells of its calls, with the global step."""

    def __init__(self, job: Any, name: str = "listener"):
        self._job, self._name = job, name

    def begin(self) -> None:
        self._job.call(self._name, "begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self._job.call(self._name, "before_save", int(global_step_value))

    def after_save(self, session: Any, global_step_value: int) -> None:
        self._job.call(self._name, "after_save", int(global_step_value))

    def end(self, session: Any, global_step_value: int) -> None:
        self._job.call(self._name, "end", int(global_step_value))
