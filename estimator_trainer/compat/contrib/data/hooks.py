"""The hook that saves where an Estimator's datasets stand.

Follows `tf.data.experimental.CheckpointInputPipelineHook` of TensorFlow 1.15: files have the same
names.
"""

from __future__ import annotations

import os
from typing import Any, Optional

import tensorflow as tf
from tensorflow.python.data.experimental.ops import iterator_ops as experimental
from tensorflow.python.data.ops import iterator_ops

_V1 = tf.compat.v1


class CheckpointInputPipelineHook(tf.compat.v1.train.SessionRunHook):
    """Saves the iterators of a graph when checkpoints are saved, and restores them at the start."""

    def __init__(self, estimator: Any, external_state_policy: Optional[str] = None) -> None:
        """Takes the Estimator whose settings say when and where checkpoints are saved.

        Args:
          estimator: A `tf.estimator.Estimator`.
          external_state_policy: "fail" (the default), "warn" or "ignore": what happens to a dataset
            whose state cannot be saved.

        Raises:
          ValueError: if the policy is another one, or the Estimator saves no checkpoints.
        """
        self._policy = experimental._convert_external_state_policy_to_enum(
            external_state_policy or "fail")
        config = estimator.config
        name = "input" if config.num_worker_replicas <= 1 else (
            f"input_{config.task_type}_{config.task_id}")
        self._folder, self._latest = estimator.model_dir, f"checkpoint_{name}"
        self._path = os.path.join(self._folder, f"{name}.ckpt")
        # A CheckpointSaverHook would take the place of the Estimator's own.
        self._timer = _V1.train.SecondOrStepTimer(config.save_checkpoints_secs,
                                                  config.save_checkpoints_steps)
        self._is_first = True

    def begin(self) -> None:
        """Makes the operations that save and restore."""
        self._step = _V1.train.get_or_create_global_step().read_value()
        self._saver = _V1.train.Saver([
            iterator_ops._IteratorSaveable(each, each.name, self._policy)
            for each in _V1.get_collection(iterator_ops.GLOBAL_ITERATORS)], sharded=True)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Notes that iterators start anew."""
        self._is_first = True

    def before_run(self, run_context: Any) -> Any:
        """Restores the iterators in the first call, by when all hooks have initialized theirs."""
        if self._is_first:
            self._is_first = False
            latest = _V1.train.latest_checkpoint(self._folder, self._latest)
            if latest:
                self._saver.restore(run_context.session, latest)
            else:
                self._save(run_context.session, run_context.session.run(self._step))
        return _V1.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Saves, if it is time."""
        if self._timer.should_trigger_for_step(run_values.results + 1):
            step = run_context.session.run(self._step)
            if self._timer.should_trigger_for_step(step):
                self._save(run_context.session, step)

    def end(self, session: Any) -> None:
        """Saves where the iterators stand at the end."""
        step = session.run(self._step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)

    def _save(self, session: Any, step: Any) -> None:
        self._timer.update_last_triggered_step(step)
        self._saver.save(session, self._path, global_step=step, latest_filename=self._latest)
