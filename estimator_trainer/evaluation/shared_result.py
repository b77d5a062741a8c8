"""The result of an evaluation, passed from the evaluator that made it to the one that leads.

The file `evaluators/step-N.json` is there until the result has been used. Its values have the types
that `Estimator.evaluate` returned: a custom exporter gets them.
"""

import base64
import dataclasses
import json
import posixpath
import re
from typing import Any, Mapping

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import schema
from estimator_trainer.coordination import shared_evaluation, shared_files

_NAME = re.compile(r"step-(\d+)\.json")
_MOST_CHARACTERS = 1 << 23
_BYTES = "bytes"


@dataclasses.dataclass(frozen=True)
class _Value:
    """A metric: its dtype in NumPy, or "bytes", and its value as JSON."""

    dtype: str
    value: Any


@dataclasses.dataclass(frozen=True)
class _Result:
    """The content of the file.

    Attributes:
      saved: Seconds since 1970, since another training may save a checkpoint of the same step.
      values: The metrics by name.
    """

    saved: int
    values: Mapping[str, _Value]


def write(model_dir: str, step: int, saved: int, eval_result: Mapping[str, Any]) -> None:
    """Writes what `Estimator.evaluate` returned for the checkpoint that was `saved` then."""
    values = {name: _encoded(value) for name, value in eval_result.items()}
    for name in [name for name, each in values.items()
                 if len(str(each.value)) > _MOST_CHARACTERS // len(values)]:
        logging.warning("metric %s is too large to be passed to evaluator:0, and leaves no event",
                        name)
        del values[name]
    shared_files.write_text(_path(model_dir, step), json.dumps(
        dataclasses.asdict(_Result(saved, values))) + "\n")


def read(model_dir: str, step: int) -> dict[str, Any] | None:
    """Returns what `write` wrote; None if the file cannot be read now."""
    found = _read(model_dir, step)
    return None if found is None else {
        name: _decoded(each) for name, each in found.values.items()}


def remove(model_dir: str, step: int) -> None:
    """Removes the file of a result that has been used, if there is one."""
    try:
        tf.io.gfile.remove(_path(model_dir, step))
    except tf.errors.NotFoundError:
        pass  # The lead itself evaluated.


def unused(model_dir: str) -> set[int]:
    """Returns the steps of the results that an earlier process has not used; removes useless ones.

    A result of another checkpoint than the one that is there now has no use.
    """
    folder = posixpath.join(shared_files.escape(model_dir), shared_evaluation.FOLDER)
    names = map(posixpath.basename, tf.io.gfile.glob(posixpath.join(folder, "step-*.json")))
    steps = {int(match[1]) for match in map(_NAME.fullmatch, names) if match}
    useless = set()
    for step in steps:
        found = _read(model_dir, step)
        if found is None or found.saved != saved(model_dir, step):
            useless.add(step)
            remove(model_dir, step)
    return steps - useless


def saved(model_dir: str, step: int) -> int:
    """Returns when a checkpoint was saved, in seconds since 1970; -1 if it is gone."""
    try:
        index = f"{shared_evaluation.path_of(model_dir, step)}.index"
        # TensorFlow 2.15 rounds to whole seconds.
        return int(tf.io.gfile.stat(index).mtime_nsec) // 1_000_000_000
    except tf.errors.OpError:
        return -1


def _read(model_dir: str, step: int) -> _Result | None:
    """Returns the content of a result's file; a file that was cut off is no JSON."""
    try:
        return schema.parsed(_Result, shared_files.read_text(_path(model_dir, step)) or "")
    except (schema.SchemaError, tf.errors.OpError):
        return None


def _path(model_dir: str, step: int) -> str:
    return posixpath.join(model_dir, shared_evaluation.FOLDER, f"step-{step}.json")


def _encoded(value: Any) -> _Value:
    if isinstance(value, bytes):
        return _Value(_BYTES, base64.b64encode(value).decode())
    array = np.asarray(value)
    return _Value(array.dtype.str, array.tolist())


def _decoded(each: _Value) -> Any:
    if each.dtype == _BYTES:
        return base64.b64decode(each.value)
    # An empty index makes a scalar of an array without dimensions.
    return np.array(each.value, np.dtype(each.dtype))[()]
