"""The file of the record in a model_dir, its copies in exports, and the specs of data in it."""

import dataclasses
import posixpath
from typing import Any, Mapping

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import shared_files
from estimator_trainer.record import recorded_run, run_record


def read(model_dir: str) -> run_record.RunRecord | None:
    """Reads `model_dir/record.json`; None if there is none. Raises ConfigError if it is damaged."""
    path = posixpath.join(model_dir, run_record.NAME)
    text = shared_files.read_text(path)
    return None if text is None else run_record.from_json(text, path)


def read_if_whole(model_dir: str,
                  warn_of: shared_files.Warn = shared_files.warn) -> run_record.RunRecord | None:
    """Reads the record where nothing depends on it; None if there is none, or it is damaged.

    `warn_of` receives the sentence about a damaged file: a job that has trained does not fail.
    """
    try:
        return read(model_dir)
    except errors.ConfigError as error:
        warn_of(str(error))
        return None


def write(model_dir: str, record: run_record.RunRecord) -> None:
    """Writes `model_dir/record.json`."""
    shared_files.write_text(posixpath.join(model_dir, run_record.NAME), run_record.to_json(record))


def copy_into(export: str, model_dir: str, step: int) -> None:
    """Gives an export of the checkpoint of `step` a copy of the record, to be used alone."""
    record = read_if_whole(model_dir)
    if record and tf.io.gfile.isdir(export):
        write(posixpath.join(export, recorded_run.EXTRA), dataclasses.replace(record, step=step))


def copy_of(export: str,
            warn_of: shared_files.Warn = shared_files.warn) -> run_record.RunRecord | None:
    """Reads the copy of the record that lies in an export; None if there is none that is whole."""
    return read_if_whole(posixpath.join(export, recorded_run.EXTRA), warn_of)


def described(features: Any, labels: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the record's part on the data: dtypes and shapes of one example, and facts.

    `features` and `labels` are specs; the input_fn's `data_params` returned the facts.
    """
    return {"features": tf.nest.map_structure(_shown, features),
            "labels": tf.nest.map_structure(_shown, labels), **facts}


def features_of(recorded: recorded_run.RecordedRun | None) -> Any:
    """Returns the specs of the features that a model was trained on; None if they are unknown."""
    features = recorded.record.data.get("features") if recorded else None
    if not features:
        return None
    try:
        if isinstance(features.get("dtype"), str):
            return _spec(features)
        return {name: _spec(each) for name, each in features.items()}
    except (KeyError, TypeError, AttributeError, ValueError):
        return None  # The features are ragged or nested, or somebody has edited the record.


def _shown(spec: Any) -> Any:
    """Returns dtype and shape of one example, without the batch's dimension, where it has them."""
    if not hasattr(spec, "dtype"):
        return spec and str(spec)
    shape = spec.shape[1:].as_list() if spec.shape.rank else None
    kind = {tf.SparseTensorSpec: "sparse", tf.RaggedTensorSpec: "ragged"}.get(type(spec))
    return {"dtype": spec.dtype.name, "shape": shape, **({"kind": kind} if kind else {})}


def _spec(shown: Mapping[str, Any]) -> Any:
    """Returns the spec of a batch from the result of `_shown`."""
    kinds = {None: tf.TensorSpec, "sparse": tf.SparseTensorSpec}
    shape = None if shown["shape"] is None else [None, *shown["shape"]]
    return kinds[shown.get("kind")](shape, tf.dtypes.as_dtype(shown["dtype"]))
