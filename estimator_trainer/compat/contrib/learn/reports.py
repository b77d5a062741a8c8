"""Monitors of `tf.contrib.learn` that log, write or keep what a training computes.

Source: tensorflow/contrib/learn/python/learn/monitors.py of TensorFlow 1.15.
"""

from __future__ import annotations

import time
from typing import Any, Optional

import numpy as np
import tensorflow as tf
from tensorflow.python.platform import tf_logging as logging

from estimator_trainer.compat.contrib.learn.monitors import BaseMonitor, EveryN, output_of


class NanLossDuringTrainingError(RuntimeError):
    """The loss is no number any more."""

    def __str__(self) -> str:
        return "NaN loss during training."


class PrintTensor(EveryN):
    """Logs tensors by their names."""

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._names = (tensor_names if isinstance(tensor_names, dict)
                       else {name: name for name in tensor_names})

    def every_n_step_begin(self, step: int) -> list[Any]:
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Any) -> None:
        logging.info("Step %d: %s", step, ", ".join(
            f"{tag} = {output_of(outputs, name)}" for tag, name in self._names.items()
            if name in outputs))


class LoggingTrainable(PrintTensor):
    """Logs trainable variables of a scope."""

    def __init__(self, scope: Any = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__((), every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        v1 = tf.compat.v1
        self._names = {each.name: each.value().name for each in v1.get_collection(
            v1.GraphKeys.TRAINABLE_VARIABLES, self._scope)}
        return super().every_n_step_begin(step)


class SummarySaver(EveryN):
    """Writes a summary."""

    def __init__(self, summary_op: Any, save_steps: int = 100, output_dir: Any = None,
                 summary_writer: Any = None, scaffold: Any = None) -> None:
        super().__init__(save_steps)
        self._summary_op, self._scaffold = summary_op, scaffold
        self._writer = summary_writer
        if summary_writer is None and output_dir:
            self._writer = tf.compat.v1.summary.FileWriter(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        super().set_estimator(estimator)
        self._writer = self._writer or tf.compat.v1.summary.FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> list[Any]:
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        if self._summary_op is not None and self._writer:
            self._writer.add_summary(output_of(outputs, self._summary_op), step)
        return False

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._writer:
            self._writer.flush()


class CaptureVariable(EveryN):
    """Keeps a variable's values by step, in `values`."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self.values: dict[int, Any] = {}

    def every_n_step_begin(self, step: int) -> list[Any]:
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: Any) -> None:
        self.values[step] = output_of(outputs, self._var_name)


class CheckpointSaver(BaseMonitor):
    """Saves checkpoints, by steps or seconds."""

    def __init__(self, checkpoint_dir: str, save_secs: Optional[float] = None,
                 save_steps: Optional[int] = None, saver: Any = None,
                 checkpoint_basename: str = "model.ckpt", scaffold: Any = None) -> None:
        super().__init__()
        if (save_secs is None) == (save_steps is None):
            raise ValueError("Either save_steps or save_secs should be provided, and not both.")
        self._prefix, self._saver, self._scaffold = checkpoint_basename, saver, scaffold
        self._timer = tf.estimator.SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._folder = checkpoint_dir
        self._last_step: Any = None

    def post_step(self, step: int, session: Any) -> None:
        if self._timer.should_trigger_for_step(step):
            self._save(step, session)

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._last_step is not None:
            self._save(self._last_step, session)

    def step_begin(self, step: int) -> list[Any]:
        self._last_step = step
        return super().step_begin(step)

    def _save(self, step: int, session: Any) -> None:
        if step != self._timer.last_triggered_step():
            self._timer.update_last_triggered_step(step)
            saver = self._saver or self._scaffold.saver
            saver.save(session, f"{self._folder}/{self._prefix}", global_step=step)


class StepCounter(EveryN):
    """Writes steps per second as a summary."""

    def __init__(self, every_n_steps: int = 100, output_dir: Any = None,
                 summary_writer: Any = None) -> None:
        super().__init__(every_n_steps)
        self._writer = summary_writer
        self._last: Any = None
        if summary_writer is None and output_dir:
            self._writer = tf.compat.v1.summary.FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        super().set_estimator(estimator)
        self._writer = self._writer or tf.compat.v1.summary.FileWriterCache.get(
            estimator.model_dir)

    def every_n_step_end(self, step: int, outputs: Any) -> None:
        now, last = time.time(), self._last
        self._last = (step, now)
        if last is not None and self._writer:
            rate = (step - last[0]) / (now - last[1])
            self._writer.add_summary(tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(
                tag="global_step/sec", simple_value=rate)]), step)


class NanLoss(EveryN):
    """Stops, or raises, where the loss is no number."""

    def __init__(self, loss_tensor: Any, every_n_steps: int = 100,
                 fail_on_nan_loss: bool = True) -> None:
        super().__init__(every_n_steps)
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        return [self._loss]

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        is_nan = bool(np.isnan(output_of(outputs, self._loss)))
        if is_nan:
            logging.error("Model diverged with loss = NaN.")
            if self._fails:
                raise NanLossDuringTrainingError
        return is_nan


def get_default_monitors(loss_op: Any = None, summary_op: Any = None,
                         save_summary_steps: int = 100, output_dir: Any = None,
                         summary_writer: Any = None) -> list[Any]:
    """Returns monitors of a loss and of a summary, where these are given."""
    found: list[Any] = []
    if loss_op is not None:
        found.append(PrintTensor({"loss": loss_op.name}))
    if summary_op is not None:
        found.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return found
