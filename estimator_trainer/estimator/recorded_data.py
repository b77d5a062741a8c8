"""The data and the sources of plug-ins, compared with those of the run before."""

from __future__ import annotations

from typing import Any, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer.checks.plan import Plan
from estimator_trainer.estimator.data_spec import DataSpec
from estimator_trainer.plugins import fingerprints
from estimator_trainer.record import changes
from estimator_trainer.record.changes import Change

# Version 1.0 recorded this for a function without source.
_OF_NO_SOURCE = fingerprints.sha256_of_text("")


def described(spec: DataSpec, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a record holds of the data.

    Args:
      spec: What the input_fn yields.
      facts: What its `data_params` returned.

    Returns:
      A dict of `features`, dtype and shape of one example, by name where features have names;
      `labels`; and the facts.
    """
    return {"features": tf.nest.map_structure(_shown, spec.features),
            "labels": tf.nest.map_structure(_shown, spec.labels), **facts}


def kept(plan: Plan) -> dict[str, Any]:
    """Returns recorded facts that the data do not tell again, once others of them are params."""
    recorded = plan.recorded
    if recorded is None or any(not change.is_free for change in plan.changes):
        return {}
    return {name: recorded.record.data[name] for name in ("train_examples", "empty_fields")
            if name in recorded.record.data}


def features_of(plan: Plan) -> Any:
    """Returns the specs of the features that a model was trained on; None if they are not known."""
    features = plan.recorded.record.data.get("features") if plan.recorded else None
    if not features:
        return None
    try:
        if isinstance(features.get("dtype"), str):
            return _spec(features)
        return {name: _spec(each) for name, each in features.items()}
    except (KeyError, TypeError, AttributeError, ValueError):
        return None  # They are ragged or nested, or somebody has edited the record.


def tell_imports(plan: Plan) -> None:
    """Logs which files are about to run because a record names them."""
    recorded = plan.recorded
    for plugin in plan.plugins if recorded else ():
        if recorded and plugin.is_file and plugin.kind not in recorded.given:
            logging.info("runs %s, for %s names it as --%s", plugin.path, recorded.path,
                         plugin.kind)


def tell(plan: Plan, data: Mapping[str, Any],
         sources: Mapping[str, Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Logs what differs from the run before.

    Args:
      plan: The plan, with what that run left.
      data: What `described` returns of this run.
      sources: The sha256 of the plug-ins' sources, by kind and path.

    Returns:
      The sources of each kind that are others than those which wrote the checkpoints.

    Raises:
      ConfigError: if training would go on with other data, and nobody has allowed it.
    """
    recorded = plan.recorded
    if recorded is None:
        return {}
    before = recorded.record.data
    found = [Change(name, before[name], data[name], is_free=False) for name in changes.DATA
             if name in before and name in data and before[name] != data[name]]
    logging.info("what is not given comes from %s", recorded.path)
    for change in (*plan.changes, *found):
        logging.info("changed: %s", change)
    changes.refuse(recorded, found, plan.config.allow_changed)
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
    """Returns the spec of a batch that `_shown` tells of."""
    kinds = {None: tf.TensorSpec, "sparse": tf.SparseTensorSpec}
    shape = None if shown["shape"] is None else [None, *shown["shape"]]
    return kinds[shown.get("kind")](shape, tf.dtypes.as_dtype(shown["dtype"]))
