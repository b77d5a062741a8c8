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
from estimator_trainer.estimator import input_fn_adapter
from estimator_trainer.estimator import loaded_plugins
from estimator_trainer.estimator.checkpoint_fit import CheckpointFit
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.plan.run_plan import Plan

_SIGNATURE = "serving_default"


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
    single = builder.for_one_process(plan.config, parts.model_fn, parts.params,
                                     given=parts.given)
    fits = CheckpointFit(plan.config, path)
    with fits.explained():
        for prediction in single.predict(parts.input_fn, checkpoint_path=path, hooks=[fits]):
            yield prediction if isinstance(prediction, dict) else {"predictions": prediction}


def _from_export(plan: Plan, parts: LoadedPlugins) -> Iterator[dict[str, Any]]:
    loaded = _load_export(plan.config.export_dir)
    signature = loaded.signatures[_SIGNATURE]
    inputs = signature.structured_input_signature[1]
    for features in input_fn_adapter.feature_batches(parts.input_fn, parts.params):
        named = features if isinstance(features, dict) else {"feature": features}
        if set(inputs) == {"examples"}:
            named = {"examples": _serialize(named)}
        missing = sorted(set(inputs) - set(named))
        if missing:
            raise errors.ConfigError(
                f"the export {plan.config.export_dir} takes {', '.join(sorted(inputs))}, but"
                f" input_fn {plan.config.input_fn!r} yields only {', '.join(sorted(named))}.")
        outputs = signature(**{name: tf.constant(named[name]) for name in inputs})
        arrays = {name: tensor.numpy() for name, tensor in outputs.items()}
        for i in range(len(next(iter(arrays.values())))):
            yield {name: array[i] for name, array in arrays.items()}


def _load_export(export_dir: str) -> Any:
    if not tf.saved_model.contains_saved_model(export_dir):
        raise errors.ConfigError(
            f"export_dir is {export_dir!r} (from --export_dir), which holds no SavedModel;"
            " expected the directory of one export. For example:"
            " --export_dir=MODEL_DIR/export/final/1700000000")
    return tf.saved_model.load(export_dir)


def _serialize(features: dict[str, np.ndarray]) -> np.ndarray:
    """Packs a batch of features into serialized tf.Example protos, shape [batch]."""
    size = len(next(iter(features.values())))
    return np.array([
        tf.train.Example(features=tf.train.Features(feature={
            name: _feature(array[i]) for name, array in features.items()
        })).SerializeToString() for i in range(size)
    ], dtype=object)


def _feature(value: Any) -> tf.train.Feature:
    flat = np.asarray(value).ravel()
    if flat.dtype.kind in "OSU":
        return tf.train.Feature(bytes_list=tf.train.BytesList(
            value=[tf.compat.as_bytes(item) for item in flat]))
    if flat.dtype.kind == "f":
        return tf.train.Feature(float_list=tf.train.FloatList(value=flat.astype(np.float32)))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=flat.astype(np.int64)))


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
