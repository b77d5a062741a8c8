"""The numerics of a model: its trainable variables are finite whenever a checkpoint is written.

A NaN in the data may ruin all weights and leave the loss finite: a ReLU makes 0 of NaN.
"""

from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors, machine
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoints
from estimator_trainer.graph import operations
from estimator_trainer.training.loop_size import LoopSize


class NotFiniteError(errors.TrainerError):
    """A trainable variable is NaN or infinite."""


class NumericsListener(tf.estimator.CheckpointSaverListener):
    """Checks the trainable variables before each checkpoint of training, in the task that saves."""

    def __init__(self, model_dir: str, loop_size: LoopSize, is_fatal: bool):
        """Makes the listener; unless `is_fatal`, a value that is not finite causes one warning."""
        self._model_dir, self._loop_size, self._is_fatal = model_dir, loop_size, is_fatal
        self._names: list[str] = []
        self._has_warned = self._has_stepped = False

    def begin(self) -> None:
        # The saver writes a checkpoint when its session begins, before the first step.
        self._has_stepped = False
        checked = [each for each in tf.compat.v1.trainable_variables()
                   if each.dtype.is_floating or each.dtype.is_complex]
        values = [(operations.saved_name(each), _is_finite(each)) for each in checked]
        # The value of a dynamic table's variable is the rows of the next batch.
        values = [(name, value) for name, value in values if not _needs_input(value)]
        self._names = [name for name, _ in values]
        self._are_finite = [value for _, value in values]

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Checks the variables; if `is_fatal`, raises TrainerError for one that is not finite."""
        has_stepped, self._has_stepped = self._has_stepped, True
        if self._has_warned or not has_stepped:
            return
        self._loop_size.end_run()
        are_finite = session.run(self._are_finite)
        if all(are_finite):
            return
        found = self._names[are_finite.index(False)]
        what = f"variable {found!r} has values that are NaN or infinite at step {global_step_value}"
        if self._is_fatal:
            raise NotFiniteError(
                f"{what}, and the loss does not show it. {self._last_good()} Look for NaN in the"
                f" data, or try a lower learning rate; {errors.Setting('check_numerics', False)}"
                " trains on.")
        self._has_warned = True
        logging.warning("%s: the model is ruined, though training goes on. Look for NaN in the"
                        " data", what)

    def _last_good(self) -> str:
        kept = tf.train.get_checkpoint_state(self._model_dir)
        for path in reversed(kept.all_model_checkpoint_paths if kept else ()):
            reader = tf.train.load_checkpoint(path)
            names = reader.get_variable_to_shape_map().keys() & self._names
            if all(np.isfinite(reader.get_tensor(name)).all() for name in names):
                return (f"The last good checkpoint is that of step {checkpoints.step_of(path)}:"
                        f" {path}.")
        return "No checkpoint without them is left."


def _is_finite(variable: Any) -> tf.Tensor:
    """Returns whether all values of a variable are finite, a bool scalar, where the variable is."""
    with tf.device(variable.device), tf.name_scope("check_numerics"):
        value = tf.convert_to_tensor(variable)
        return tf.reduce_all(tf.math.is_finite(tf.abs(value) if value.dtype.is_complex else value))


def _needs_input(tensor: tf.Tensor) -> bool:
    return any(op.type == "IteratorGetNext" for op in operations.up_to(tensor))


# Steps of 2 ms became slower where they were tried, those of 3 ms and of 90 ms faster
# (docs/scaling.md).
_LONG_STEP_SECS = 0.005
_RUNS_SECS = 2.0


class Bfloat16Advice(tf.estimator.SessionRunHook):
    """Logs one line of advice once the time of a step is known, if bfloat16 may help."""

    def __init__(self, loop_size: LoopSize, instructions: str):
        self._loop_size, self._instructions = loop_size, instructions
        self._is_done = False

    def after_run(self, run_context: Any, run_values: Any) -> None:
        _, secs = self._loop_size.waiting
        if self._is_done or secs < _RUNS_SECS:
            return
        self._is_done = True
        step_secs = self._loop_size.least_step_secs
        if step_secs >= _LONG_STEP_SECS and not self._loop_size.is_input_limit:
            logging.info(
                "a step takes %.0f ms, and this CPU multiplies in bfloat16 (%s): %s is worth a try",
                1000 * step_secs, self._instructions,
                errors.Setting("mixed_precision", "bfloat16"))


def for_training(mixed_precision: str, loop_size: LoopSize,
                 task: TaskConfig) -> Bfloat16Advice | None:
    """Builds the hook; None where bfloat16 could not help.

    A step with a ps is timed as a whole, with an unknown share of computing.
    """
    instructions = machine.bfloat16_instructions()
    if (not task.is_chief or "ps" in task.cluster or not instructions or
            mixed_precision != "none" or tf.config.list_physical_devices("GPU")):
        return None
    return Bfloat16Advice(loop_size, instructions)
