"""The content of a model_dir, in a form that two runs can be compared by."""

from __future__ import annotations

import contextlib
import pathlib
import re
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

# Tags of the speed of a run, of paths, and of how full the queue of an input is.
_CLOCK_TAGS = re.compile(
    r".*(global_step/sec|checkpoint_path|fraction_(over_\d+_)?of_\d+_full)$")


def variables(model_dir: pathlib.Path) -> dict[str, np.ndarray]:
    """Returns the values in the last checkpoint, by name; none without one."""
    path = tf.train.latest_checkpoint(str(model_dir))
    if path is None:
        return {}
    reader = tf.train.load_checkpoint(path)
    return {name: np.asarray(reader.get_tensor(name))
            for name in sorted(reader.get_variable_to_shape_map())}


def last_step(model_dir: pathlib.Path) -> int:
    """Returns the step of the last checkpoint; -1 without one."""
    path = tf.train.latest_checkpoint(str(model_dir))
    return int(path.rpartition("-")[2]) if path else -1


def checkpoints(model_dir: pathlib.Path) -> list[str]:
    """Returns the names of the checkpoints that are there."""
    return sorted(path.stem for path in model_dir.glob("*.index"))


def events(folder: pathlib.Path) -> dict[str, list[tuple[int, Any]]]:
    """Returns steps and values of each tag in the event files of a folder.

    A value is a number, or the name of its kind.
    """
    found: dict[str, list[tuple[int, Any]]] = {}
    for path in sorted(folder.glob("events.out.tfevents.*")):
        # A task that was ended may leave half a record behind.
        with contextlib.suppress(tf.errors.DataLossError):
            for event in tf.compat.v1.train.summary_iterator(str(path)):
                for value in event.summary.value:
                    if not _CLOCK_TAGS.match(value.tag):
                        found.setdefault(value.tag, []).append((event.step, _value(value)))
    return {tag: sorted(each, key=lambda pair: pair[0]) for tag, each in found.items()}


def evaluations(model_dir: pathlib.Path) -> dict[str, dict[str, list[tuple[int, Any]]]]:
    """Returns the events of each folder below, evaluations and others, by the folder's path."""
    folders = sorted({path.parent for path in model_dir.rglob("*/events.out.tfevents.*")})
    return {str(folder.relative_to(model_dir)): events(folder) for folder in folders}


def exports(model_dir: pathlib.Path) -> dict[str, list[Any]]:
    """Returns the signatures and values of all SavedModels, by the path of their parent."""
    found: dict[str, list[Any]] = {}
    for path in sorted(model_dir.rglob("saved_model.pb")):
        base = str(path.parent.parent.relative_to(model_dir))
        found.setdefault(base, []).append(_saved_model(path))
    return found


def _saved_model(path: pathlib.Path) -> dict[str, Any]:
    model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    shown: dict[str, Any] = {}
    for graph in model.meta_graphs:
        tags = ",".join(sorted(graph.meta_info_def.tags))
        for name, signature in sorted(graph.signature_def.items()):
            shown[f"{tags}: {name}"] = [signature.method_name, _tensors(signature.inputs),
                                        _tensors(signature.outputs)]
    assets = path.parent / "assets"
    shown["assets"] = sorted(each.name for each in assets.glob("*"))
    extra = path.parent / "assets.extra"
    # The record of ours stands beside what the user gives.
    shown["assets.extra"] = sorted({each.name for each in extra.glob("*")} - {"record.json"})
    values = path.parent / "variables" / "variables.index"
    shown["variables"] = {name: np.asarray(value).tolist() for name, value in _read(
        str(values.with_suffix(""))).items()} if values.exists() else {}
    return shown


def _read(prefix: str) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in sorted(reader.get_variable_to_shape_map())}


def _tensors(infos: Any) -> dict[str, Any]:
    return {name: [tf.dtypes.as_dtype(info.dtype).name, [dim.size for dim in info.tensor_shape.dim]]
            for name, info in sorted(infos.items())}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return value.simple_value
    if kind == "histo":
        return [value.histo.min, value.histo.max, value.histo.num, value.histo.sum]
    if kind == "tensor":
        made = tf.make_ndarray(value.tensor)
        return made.tolist() if made.dtype.kind in "fiub" else "text"
    return kind
