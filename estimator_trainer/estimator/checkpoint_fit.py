"""Whether a model can be restored from the checkpoint that it begins with."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Iterator

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import checkpoints
from estimator_trainer.graph import operations
from estimator_trainer.settings.trainer_config import TrainerConfig

_PART = re.compile(r"/(part|replica)_\d+")


class CheckpointFit(tf.estimator.SessionRunHook):
    """Compares the model with the checkpoint that it is restored from."""

    def __init__(self, config: TrainerConfig, path: str = ""):
        """Makes the hook; `path` is the checkpoint, "" the latest, which training resumes from."""
        self._config, self._path = config, path
        self._misfit = ""

    def begin(self) -> None:
        path = self._path or checkpoints.latest(self._config.model_dir)
        if path:
            self._misfit = _misfit(path, tf.compat.v1.global_variables())
            if self._config.warm_start_from and not self._path:
                logging.warning("warm_start_from is ignored: training resumes from %s", path)

    def after_create_session(self, session: Any, coord: Any) -> None:
        # A resource variable of another shape is restored without an error, and then broadcasts.
        for variable in tf.compat.v1.global_variables() if self._misfit else []:
            if variable.shape.is_fully_defined() and (
                    session.run(variable).shape != tuple(variable.shape.as_list())):
                raise errors.ConfigError(self._misfit)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._misfit = ""

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Raises a ConfigError for a failure, up to the first step, that the checkpoint causes."""
        try:
            yield
        except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError) as error:
            if self._misfit:
                raise errors.ConfigError(self._misfit) from error
            raise


def _misfit(path: str, variables: list[Any]) -> str:
    reader = tf.train.load_checkpoint(path)
    saved = reader.get_variable_to_shape_map()
    # Replicas and parts of variables are saved under the whole variable's name.
    model = {variable.op.name: variable.shape.as_list() for variable in variables
             if not _PART.search(variable.op.name)}
    missing = sorted(set(model) - set(saved))
    shapes = [f"{name} is {saved[name]} there, {shape} in the model"
              for name, shape in sorted(model.items()) if name in saved and saved[name] != shape]
    if not missing and not shapes:
        return ""
    unexpected = sorted(set(saved) - set(model))
    lines = [f"checkpoint {path} does not fit the model:"]
    for title, entries in (("not in the checkpoint", missing), ("of another shape", shapes),
                           ("only in the checkpoint", unexpected)):
        if entries:
            lines.append(f"  {title}: {operations.some(entries)}")
    lines.append("Use the model and the params that wrote it, or another model_dir; for example"
                 " --model_dir=NEW --warm_start_from=OLD --warm_start_vars=REGEX")
    return "\n".join(lines)
