"""What model_dir holds: the checkpoints, which is meant, the best one; and the result."""

from __future__ import annotations

import dataclasses
import json
import math
import posixpath
import re

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer import result
from estimator_trainer.result import Result

_STEP = re.compile(r"-(\d+)$")
_BEST_DIR = "best_checkpoint"
_BEST_FILE = "best.json"
_RESULT_FILE = "result.json"


@dataclasses.dataclass(frozen=True)
class Best:
    """The best checkpoint so far, as `model_dir/best.json` holds it.

    Attributes:
      metric: The metric that decided.
      value: Its value.
      step: The global step.
      export: Path of its export.
    """

    metric: str
    value: float
    step: int
    export: str


def latest_step(model_dir: str) -> int:
    """Returns the global step of the latest checkpoint, by its name; 0 if there is none."""
    return step_of(tf.train.latest_checkpoint(model_dir) or "")


def fall_back(model_dir: str) -> None:
    """Makes the newest checkpoint that is whole the latest, if the latest is not (pains P30).

    A process killed while it saved, or a full disk, leaves part of one.
    """
    latest = tf.train.latest_checkpoint(model_dir)
    if latest is None or is_whole(latest):
        return
    whole = [path for path in _all(model_dir) if path != latest and is_whole(path)]
    if not whole:
        raise errors.TrainerError(
            f"the only checkpoint of {model_dir}, {latest}, is damaged: its files are shorter than"
            " what they are to hold. Restore it, or train in another --model_dir.")
    logging.warning("the checkpoint of step %d is damaged; falls back to that of step %d",
                    step_of(latest), step_of(whole[-1]))
    tf.compat.v1.train.update_checkpoint_state(model_dir, whole[-1], whole)


def is_whole(path: str) -> bool:
    """Returns whether a checkpoint is there, its files as long as its variables need."""
    try:
        reader = tf.train.load_checkpoint(path)
        shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    except (tf.errors.OpError, ValueError, RuntimeError):
        return False
    # A string's length is only known by reading it; its dtype's size is 0 here.
    needed = sum(math.prod(shape) * _size(dtypes[name]) for name, shape in shapes.items())
    files = tf.io.gfile.glob(f"{escape(path)}.data-*")
    return needed <= sum(tf.io.gfile.stat(file).length for file in files)


def step_of(path: str) -> int:
    """Returns the global step in a checkpoint's name."""
    match = _STEP.search(path)
    return int(match.group(1)) if match else 0


def select(model_dir: str, which: str) -> list[str]:
    """Returns the paths of the checkpoints that `which` means, oldest first.

    Args:
      model_dir: Where to look.
      which: "latest", "best", "all" or "step=N".

    Raises:
      ConfigError: if there is no such checkpoint, listing those that exist.
    """
    paths = _all(model_dir)
    if which == "best":
        found = [path for path in [tf.train.latest_checkpoint(_best_dir(model_dir))] if path]
    elif which == "all":
        found = paths
    elif which == "latest":
        latest = tf.train.latest_checkpoint(model_dir)
        found = [latest] if latest else []
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
    path = posixpath.join(model_dir, _BEST_FILE)
    if not tf.io.gfile.exists(path):
        return None
    with tf.io.gfile.GFile(path) as file:
        return Best(**json.load(file))


def write_best(model_dir: str, best: Best, checkpoint_path: str) -> None:
    """Copies the checkpoint to `model_dir/best_checkpoint` and remembers it as the best."""
    folder = _best_dir(model_dir)
    tf.io.gfile.makedirs(folder)
    old = set(tf.io.gfile.listdir(folder))
    name = posixpath.basename(checkpoint_path)
    copied = set()
    for source in tf.io.gfile.glob(f"{escape(checkpoint_path)}.*"):
        copied.add(posixpath.basename(source))
        tf.io.gfile.copy(source, posixpath.join(folder, posixpath.basename(source)),
                         overwrite=True)
    write_text(posixpath.join(folder, "checkpoint"), f'model_checkpoint_path: "{name}"\n')
    write_text(posixpath.join(model_dir, _BEST_FILE), json.dumps(dataclasses.asdict(best)) + "\n")
    for leftover in old - copied - {"checkpoint"}:
        tf.io.gfile.remove(posixpath.join(folder, leftover))


def read_result(model_dir: str) -> Result | None:
    """Reads `model_dir/result.json`; None if there is none."""
    try:
        with tf.io.gfile.GFile(posixpath.join(model_dir, _RESULT_FILE)) as file:
            return result.from_json(file.read())
    except tf.errors.NotFoundError:
        return None


def write_result(model_dir: str, ended: Result) -> None:
    """Writes `model_dir/result.json`."""
    write_text(posixpath.join(model_dir, _RESULT_FILE), result.to_json(ended))


def write_text(path: str, text: str) -> None:
    """Writes a small file under a new name, then moves it, so that no reader sees half of it."""
    tf.io.gfile.makedirs(posixpath.dirname(path))
    with tf.io.gfile.GFile(f"{path}.new", "w") as file:
        file.write(text)
    tf.io.gfile.rename(f"{path}.new", path, overwrite=True)


def _all(model_dir: str) -> list[str]:
    pattern = posixpath.join(escape(model_dir), "model.ckpt-*.index")
    paths = [path.removesuffix(".index") for path in tf.io.gfile.glob(pattern)]
    return sorted(paths, key=step_of)


def _size(dtype: tf.DType) -> int:
    return 0 if dtype == tf.string else int(dtype.size)


def _best_dir(model_dir: str) -> str:
    return posixpath.join(model_dir, _BEST_DIR)


def escape(path: str) -> str:
    """Escapes what `gfile.glob` would take for a pattern, as in a directory named `run[1]`."""
    return re.sub(r"([\[\]*?])", r"\\\1", path)
