"""The checkpoints of a model_dir: the latest, the best, those that the user means; the result."""

from __future__ import annotations

import dataclasses
import json
import math
import posixpath
import re
import time

from absl import logging
from google.protobuf import text_format  # type: ignore[import-untyped]
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer import result
from estimator_trainer import storage
from estimator_trainer.coordination import small_files
from estimator_trainer.result import Result

_STEP = re.compile(r"-(\d+)$")
_BEST_DIR = "best_checkpoint"
_BEST_FILE = "best.json"
_RESULT_FILE = "result.json"
# TensorFlow writes this file; it names the latest checkpoint.
_STATE_FILE = "checkpoint"
_TRIES = 3
_TRY_SECS = 0.5


@dataclasses.dataclass(frozen=True)
class Best:
    """The best checkpoint so far, as `model_dir/best.json` holds it.

    Attributes:
      metric: The name of the metric that decided.
      value: The value of that metric.
      step: The checkpoint's global step.
      export: Path of the SavedModel that was exported from the checkpoint.
    """

    metric: str
    value: float
    step: int
    export: str


def latest(model_dir: str, known: str = "") -> str:
    """Returns the path of the latest checkpoint; "" if there is none, or none can be read now.

    `tf.train.latest_checkpoint` reads as many bytes of the file `checkpoint` as its cached size
    says, and lists all of model_dir.

    Args:
      model_dir: The directory of the checkpoints.
      known: A checkpoint that was found before; it is not looked for again.
    """
    # The type of this message has no public name in TensorFlow; its maker has one.
    state = tf.compat.v1.train.generate_checkpoint_state_proto("/", "/any")
    state.Clear()
    for _ in range(_TRIES):
        try:
            text = small_files.read(posixpath.join(model_dir, _STATE_FILE))
            if text is None:
                return _newest_if_listed(model_dir)
            text_format.Parse(text, state)
            named = state.model_checkpoint_path
            path = named if storage.scheme(named) else posixpath.join(model_dir, named)
            is_there = bool(named) and (path == known or tf.io.gfile.exists(f"{path}.index") or
                                        tf.io.gfile.exists(path))
            return path if is_there else ""
        except (text_format.ParseError, tf.errors.OpError) as error:
            logging.warning("cannot read the file %s of %s now: %s", _STATE_FILE, model_dir,
                            errors.first_line(error))
            time.sleep(_TRY_SECS)
    return ""


def latest_step(model_dir: str) -> int:
    """Returns the global step of the latest checkpoint, by its name; 0 if there is none."""
    return step_of(latest(model_dir))


def fall_back(model_dir: str) -> None:
    """Makes the newest checkpoint that is whole the latest, if the latest is not.

    A process killed while it saved, or a full disk, leaves part of a checkpoint.
    """
    newest = latest(model_dir)
    if not newest or is_whole(newest):
        return
    whole = [path for path in _all(model_dir) if path != newest and is_whole(path)]
    if not whole:
        raise errors.TrainerError(
            f"the only checkpoint of {model_dir}, {newest}, is damaged: its files are shorter than"
            " what they are to hold. Restore it, or train in another --model_dir.")
    logging.warning("the checkpoint of step %d is damaged; falls back to that of step %d",
                    step_of(newest), step_of(whole[-1]))
    tf.compat.v1.train.update_checkpoint_state(model_dir, whole[-1], whole)


def is_whole(path: str) -> bool:
    """Returns whether a checkpoint is there, its files as long as its variables need."""
    try:
        reader = tf.train.load_checkpoint(path)
        shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    except (tf.errors.OpError, ValueError, RuntimeError):
        return False
    # Only reading a string tells its length; the size of its dtype counts as 0.
    needed = sum(math.prod(shape) * _size(dtypes[name]) for name, shape in shapes.items())
    files = tf.io.gfile.glob(f"{small_files.escape(path)}.data-*")
    return bool(needed <= sum(tf.io.gfile.stat(file).length for file in files))


def step_of(path: str) -> int:
    """Returns the global step in a checkpoint's name."""
    match = _STEP.search(path)
    return int(match.group(1)) if match else 0


def select(model_dir: str, which: str) -> list[str]:
    """Returns the paths of the checkpoints that `which` means, oldest first.

    Args:
      model_dir: The directory of the checkpoints.
      which: The checkpoints that are meant: "latest", "best", "all" or "step=N".

    Raises:
      ConfigError: if there is no such checkpoint, listing those that exist.
    """
    paths = _all(model_dir)
    if which == "best":
        found = [path for path in [latest(_best_dir(model_dir))] if path]
    elif which == "all":
        found = paths
    elif which == "latest":
        found = [path for path in [latest(model_dir)] if path]
    else:
        found = [path for path in paths if step_of(path) == int(which.removeprefix("step="))]
    if not found:
        steps = ", ".join(str(step_of(path)) for path in paths)
        hint = " (`best` needs a run with --exporters=best)" if which == "best" else ""
        raise errors.ConfigError(
            f"checkpoint is {which!r} (from --checkpoint), and {model_dir} has no such"
            f" checkpoint{hint}; it has those of steps: {steps or '(none)'}. For example:"
            f" --checkpoint={'latest' if paths else 'latest, after a `train` in this model_dir'}")
    return found


def read_best(model_dir: str) -> Best | None:
    """Reads which checkpoint is the best so far, or None."""
    content = small_files.read_json(posixpath.join(model_dir, _BEST_FILE))
    return Best(**content) if content else None


def write_best(model_dir: str, best: Best, checkpoint_path: str) -> None:
    """Copies the checkpoint to `model_dir/best_checkpoint` and remembers it as the best."""
    folder = _best_dir(model_dir)
    small_files.make_folder(folder)
    old = {posixpath.basename(path) for path in tf.io.gfile.glob(f"{small_files.escape(folder)}/*")}
    name = posixpath.basename(checkpoint_path)
    copied = set()
    for source in tf.io.gfile.glob(f"{small_files.escape(checkpoint_path)}.*"):
        copied.add(posixpath.basename(source))
        tf.io.gfile.copy(source, posixpath.join(folder, posixpath.basename(source)),
                         overwrite=True)
    small_files.write(posixpath.join(folder, _STATE_FILE), f'model_checkpoint_path: "{name}"\n')
    small_files.write(posixpath.join(model_dir, _BEST_FILE),
                      json.dumps(dataclasses.asdict(best)) + "\n")
    for leftover in old - copied - {_STATE_FILE}:
        tf.io.gfile.remove(posixpath.join(folder, leftover))


def read_result(model_dir: str) -> Result | None:
    """Reads `model_dir/result.json`; None if there is none."""
    text = small_files.read(posixpath.join(model_dir, _RESULT_FILE))
    return result.from_json(text) if text else None


def write_result(model_dir: str, ended: Result) -> None:
    """Writes `model_dir/result.json`."""
    small_files.write(posixpath.join(model_dir, _RESULT_FILE), result.to_json(ended))


def has_result_since(model_dir: str, secs: float) -> bool:
    """Returns whether `result.json` was written after a time, in seconds since the epoch."""
    path = posixpath.join(model_dir, _RESULT_FILE)
    try:
        return bool(tf.io.gfile.stat(path).mtime_nsec > secs * 1e9)
    except tf.errors.OpError:
        return False


def all_of(model_dir: str) -> dict[int, int]:
    """Returns the checkpoints that are there: their sizes in bytes, by global step."""
    return {step_of(path): sum(tf.io.gfile.stat(file).length
                               for file in tf.io.gfile.glob(f"{small_files.escape(path)}.*"))
            for path in _all(model_dir)}


def _newest_if_listed(model_dir: str) -> str:
    """Returns the newest checkpoint where TensorFlow's file is there and cannot be opened.

    TensorFlow looks for that file before there is one, and some shared disks remember this; see
    `small_files.read`.
    """
    path = posixpath.join(model_dir, _STATE_FILE)
    if storage.is_object_store(path) or not small_files.is_listed(path):
        return ""
    return max(_all(model_dir), key=step_of, default="")


def _all(model_dir: str) -> list[str]:
    pattern = posixpath.join(small_files.escape(model_dir), "model.ckpt-*.index")
    paths = [path.removesuffix(".index") for path in tf.io.gfile.glob(pattern)]
    return sorted(paths, key=step_of)


def _size(dtype: tf.DType) -> int:
    return 0 if dtype == tf.string else int(dtype.size)


def _best_dir(model_dir: str) -> str:
    return posixpath.join(model_dir, _BEST_DIR)
