"""`predict` writes JSON lines, in the order of the input, from a checkpoint or an export."""

from __future__ import annotations

import base64
import contextlib
import json
import sys
from typing import Any, ContextManager, Iterator, TextIO

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import checkpoints
from estimator_trainer.estimator import builder
from estimator_trainer.estimator import feature_batches
from estimator_trainer.estimator import loaded_plugins
from estimator_trainer.estimator.checkpoint_fit import CheckpointFit
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.plan.plan import Plan
from estimator_trainer.roles import exported_model
from estimator_trainer.roles.exported_model import ExportedModel


def predict(plan: Plan) -> int:
    """Writes one JSON object for each instance of the input_fn's dataset in mode "infer".

    Each object holds the model's predictions and `key`, the instance's position in the input; with
    --forward_key it holds that feature in place of the position.

    Returns:
      The number of instances.
    """
    parts = loaded_plugins.load(plan)
    instances = (_from_export if plan.config.export_dir else _from_checkpoint)(plan, parts)
    count = 0
    with _sink(plan.config.output) as file:
        for instance in instances:
            key = {} if plan.config.forward_key else {"key": count}
            predictions = {name: _plain(value) for name, value in instance.items()}
            file.write(json.dumps({**key, **predictions}) + "\n")
            count += 1
    logging.info("predicted %d instances", count)
    return count


def _from_checkpoint(plan: Plan, parts: LoadedPlugins) -> Iterator[dict[str, Any]]:
    if plan.config.checkpoint == "all":
        raise errors.ConfigError("checkpoint is 'all' (from --checkpoint); predict takes one."
                                 " For example: --checkpoint=latest")
    [path] = checkpoints.select(plan.config.model_dir, plan.config.checkpoint)
    single = builder.for_one_process(plan.config, parts)
    fits = CheckpointFit(plan.config, path)
    with fits.explained():
        for prediction in single.predict(parts.input_fn, checkpoint_path=path, hooks=[fits]):
            yield prediction if isinstance(prediction, dict) else {"predictions": prediction}


def _from_export(plan: Plan, parts: LoadedPlugins) -> Iterator[dict[str, Any]]:
    model = ExportedModel(plan.config.export_dir)
    for features in feature_batches.read(parts.input_fn, parts.params):
        named = features if isinstance(features, dict) else {"feature": features}
        if model.inputs == ["examples"]:
            named = {"examples": exported_model.serialize(named)}
        missing = sorted(set(model.inputs) - set(named))
        if missing:
            raise errors.ConfigError(
                f"the export {plan.config.export_dir} takes {', '.join(model.inputs)}, but"
                f" the input_fn yields only {', '.join(sorted(named))}.")
        yield from model.predict(named)


def _plain(value: Any) -> Any:
    """Makes a prediction JSON; bytes that are no text become {"b64": ...}, as in TF Serving."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value] if value.ndim else _plain(value.item())
    return value.item() if isinstance(value, np.generic) else value


def _sink(output: str) -> ContextManager[TextIO]:
    if not output:
        return contextlib.nullcontext(sys.stdout)
    file: ContextManager[TextIO] = tf.io.gfile.GFile(output, "w")
    return file
