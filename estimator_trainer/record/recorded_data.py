"""The data and the sources of plug-ins, compared with those of the run before."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer.plugins import fingerprints
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.record import changes
from estimator_trainer.record.changes import Change
from estimator_trainer.record.recorded_run import RecordedRun

# Version 1.0 recorded this for a function without source.
_OF_NO_SOURCE = fingerprints.sha256_of_text("")


def described(features: Any, labels: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the record's part on the data: dtypes and shapes of one example, and facts.

    Args:
      features: The specs of the features that the input_fn yields.
      labels: The specs of the labels.
      facts: The facts that the input_fn's `data_params` returned.
    """
    return {"features": tf.nest.map_structure(_shown, features),
            "labels": tf.nest.map_structure(_shown, labels), **facts}


def kept(recorded: RecordedRun | None, found: Iterable[Change]) -> dict[str, Any]:
    """Returns recorded facts that the data do not yield again, once others are params."""
    if recorded is None or any(not change.is_free for change in found):
        return {}
    return {name: recorded.record.data[name] for name in ("train_examples", "empty_fields")
            if name in recorded.record.data}


def features_of(recorded: RecordedRun | None) -> Any:
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


def log_imports(recorded: RecordedRun | None, plugins: Iterable[Plugin]) -> None:
    """Logs which files are about to run because a record names them."""
    for plugin in plugins if recorded else ():
        if recorded and plugin.is_file and plugin.kind not in recorded.given:
            logging.info("runs %s, for %s names it as --%s", plugin.path, recorded.path,
                         plugin.kind)


def log_changes(recorded: RecordedRun | None, found: Iterable[Change], allowed: Iterable[str],
                data: Mapping[str, Any], sources: Mapping[str, Mapping[str, str]]
                ) -> dict[str, tuple[str, ...]]:
    """Logs the differences from the run before; returns the changed sources, by kind of plug-in.

    Args:
      recorded: The run before, or None.
      found: The changes of plug-ins, settings and params.
      allowed: The names that --allow_changed holds.
      data: The result of `described` for this run.
      sources: The sha256 of the plug-ins' sources, by kind and path.

    Raises:
      ConfigError: if training would go on with other data, and the user has not allowed that.
    """
    if recorded is None:
        return {}
    before = recorded.record.data
    of_data = [Change(name, before[name], data[name], is_free=False) for name in changes.DATA
               if name in before and name in data and before[name] != data[name]]
    logging.info("what is not given comes from %s", recorded.path)
    for change in (*found, *of_data):
        logging.info("changed: %s", change)
    changes.refuse(recorded, of_data, allowed)
    edited = {}
    for kind, files in sources.items():
        old = recorded.record.plugins.get(kind, {}).get("sources") or {}
        paths = tuple(path for path, sha256 in files.items()
                      if old.get(path, sha256) not in (sha256, _OF_NO_SOURCE))
        if paths:
            edited[kind] = paths
            logging.warning("the source of --%s is not what wrote the checkpoints: %s changed",
                            kind, ", ".join(paths))
    return edited


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
