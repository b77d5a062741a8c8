"""The checkpoints of a model_dir: all, the latest, the best; and the job's result."""

import contextlib
import dataclasses
import functools
import json
import math
import posixpath
import re
import time
from typing import Annotated, Mapping

from absl import logging
from google.protobuf import text_format  # type: ignore[import-untyped]
import tensorflow as tf

from estimator_trainer import errors, result, schema, storage
from estimator_trainer.coordination import shared_files

_STEP = re.compile(r"-(\d+)$")
_BEST_DIR = "best_checkpoint"
_BEST_FILE = "best.json"
_AVERAGE_DIR = "average"
_RESULT_FILE = "result.json"
# TensorFlow writes this file; it names the latest checkpoint.
STATE_FILE = "checkpoint"
_TRIES = 3
_TRY_SECS = 0.5
_LOG_SECS = 60


# A metric may be infinite; comparisons with NaN have no meaning.
_NotNan = Annotated[float, schema.Rule("a number", lambda value: not math.isnan(value))]


@dataclasses.dataclass(frozen=True)
class Best:
    """The content of `model_dir/best.json`: the best checkpoint so far.

    Attributes:
      metric: The name of the metric that is compared.
      value: The metric's value.
      step: The checkpoint's global step.
      export: Path of the SavedModel that was exported from the checkpoint; "" without one.
      metrics: All metrics of its evaluation, by name.
      ended: Why training ended, if this checkpoint is therefore the model; else "".
      last_step: The global step at which training ended; 0 before.
    """

    metric: str
    value: _NotNan
    step: int
    export: schema.Path
    metrics: Mapping[str, bool | int | float] = dataclasses.field(default_factory=dict)
    ended: str = ""
    last_step: int = 0


def latest(model_dir: str, known: str = "") -> str:
    """Returns the path of the latest checkpoint; "" if there is none, or none can be read now.

    Where the file `checkpoint` is damaged, the latest is the newest whole checkpoint. (By contrast,
    `tf.train.latest_checkpoint` trusts the file's cached size, and lists all of model_dir.)

    Args:
      known: A checkpoint that was found before, whose files need no test.
    """
    for _ in range(_TRIES):
        try:
            path = named(model_dir)
            if path is None:
                # TensorFlow opens the file before it exists, and some shared disks remember that it
                # was missing: the file is listed, and cannot be opened; see `read_text`.
                file = posixpath.join(model_dir, STATE_FILE)
                is_listed = not storage.is_object_store(file) and shared_files.is_listed(file)
                return max(paths_in(model_dir), key=step_of, default="") if is_listed else ""
            is_there = path == known or any(map(tf.io.gfile.exists, (f"{path}.index", path)))
            return path if is_there else ""
        except (text_format.ParseError, tf.errors.OpError) as error:
            logging.log_every_n_seconds(
                logging.WARNING, "cannot read the file %s of %s now: %s", _LOG_SECS, STATE_FILE,
                model_dir, errors.first_line(error))
            time.sleep(_TRY_SECS)
    return next((path for path in reversed(paths_in(model_dir)) if is_whole(path)), "")


def latest_step(model_dir: str) -> int:
    """Returns the global step in the latest checkpoint's name; 0 if there is none."""
    return step_of(latest(model_dir))


def named(model_dir: str) -> str | None:
    """Returns the checkpoint that TensorFlow's file names, missing or not; None without the file.

    Raises:
      ParseError: The file is damaged, or names no checkpoint.
    """
    # The message's type has no public name in TensorFlow, but a function that returns one has.
    state = tf.compat.v1.train.generate_checkpoint_state_proto("/", "/any", ["/any"])
    state.Clear()
    text = shared_files.read_text(posixpath.join(model_dir, STATE_FILE))
    if text is None:
        return None
    text_format.Parse(text, state)
    path: str = state.model_checkpoint_path
    if not path:
        raise text_format.ParseError("the file names no checkpoint")
    return path if storage.scheme(path) else posixpath.join(model_dir, path)


def is_whole(path: str) -> bool:
    """Returns whether a checkpoint exists, and its files are as long as its variables need."""
    try:
        reader = tf.train.load_checkpoint(path)
        shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    except (tf.errors.OpError, ValueError, RuntimeError):
        return False
    # A string's length is unknown before it is read, and counts as 0.
    needed = sum(math.prod(shape) * dtypes[name].size for name, shape in shapes.items()
                 if dtypes[name] != tf.string)
    return needed <= _size_of_files(f"{shared_files.escape(path)}.data-*")


def step_of(path: str) -> int:
    """Returns the global step in a checkpoint's name."""
    match = _STEP.search(path)
    return int(match.group(1)) if match else 0


def latest_best(model_dir: str) -> str:
    """Returns the path of the copy of the best checkpoint; "" if there is none."""
    return latest(_best_dir(model_dir))


def latest_average(model_dir: str) -> str:
    """Returns the path of the mean of checkpoints; "" if there is none."""
    return latest(average_dir(model_dir))


def average_dir(model_dir: str) -> str:
    """Returns the folder of the mean of checkpoints."""
    return posixpath.join(model_dir, _AVERAGE_DIR)


def read_best(model_dir: str, warn_of: shared_files.Warn | None = None) -> Best | None:
    """Returns the content of `best.json`; None if there is no file, or it is damaged."""
    return shared_files.read_or_warn(
        functools.partial(schema.parsed, Best), posixpath.join(model_dir, _BEST_FILE),
        f"The best value so far is not known: training with {errors.Setting('exporters', ['best'])}"
        f" takes its next evaluation for the best, and replaces {_best_dir(model_dir)}. Restore the"
        " file before then, or remove it.", warn_of)


def copy_best(model_dir: str, checkpoint_path: str) -> None:
    """Copies a checkpoint beside the best one so far; NotFoundError if it was deleted meanwhile."""
    folder = _best_dir(model_dir)
    shared_files.make_folder(folder)
    for source in tf.io.gfile.glob(f"{shared_files.escape(checkpoint_path)}.*"):
        with contextlib.suppress(tf.errors.NotFoundError):
            tf.io.gfile.copy(source, posixpath.join(folder, posixpath.basename(source)),
                             overwrite=True)
    if not is_whole(posixpath.join(folder, posixpath.basename(checkpoint_path))):
        remove_others_than_best(model_dir)
        raise tf.errors.NotFoundError(None, None, f"{checkpoint_path} was deleted meanwhile")


def write_best(model_dir: str, best: Best, checkpoint_path: str) -> None:
    """Makes a checkpoint that was copied to `model_dir/best_checkpoint` the best one."""
    name = posixpath.basename(checkpoint_path)
    shared_files.write_text(posixpath.join(_best_dir(model_dir), STATE_FILE),
                            f'model_checkpoint_path: "{name}"\n')
    write_best_file(model_dir, best)
    remove_others_than_best(model_dir)


def write_best_file(model_dir: str, best: Best) -> None:
    """Writes `model_dir/best.json`, of the same checkpoint as before."""
    shared_files.write_text(posixpath.join(model_dir, _BEST_FILE),
                            json.dumps(dataclasses.asdict(best)) + "\n")


def remove_best(model_dir: str) -> None:
    """Removes the copy of the best checkpoint, and `best.json`."""
    for path in (posixpath.join(model_dir, _BEST_FILE),
                 *tf.io.gfile.glob(f"{shared_files.escape(_best_dir(model_dir))}/*")):
        with contextlib.suppress(tf.errors.NotFoundError):
            tf.io.gfile.remove(path)


def remove_others_than_best(model_dir: str) -> None:
    """Removes the copies of checkpoints that are no longer the best."""
    folder, best = _best_dir(model_dir), posixpath.basename(latest_best(model_dir))
    for path in tf.io.gfile.glob(f"{shared_files.escape(folder)}/*"):
        name = posixpath.basename(path)
        if name != STATE_FILE and not (best and name.startswith(f"{best}.")):
            with contextlib.suppress(tf.errors.NotFoundError):
                tf.io.gfile.remove(path)


def read_result(model_dir: str, warn_of: shared_files.Warn | None = None) -> result.Result | None:
    """Returns the content of `result.json`; None if there is no file, or it is damaged."""
    return shared_files.read_or_warn(
        result.from_json, posixpath.join(model_dir, _RESULT_FILE),
        "The file counts as missing, and the next training writes it again.", warn_of)


def write_result(model_dir: str, ended: result.Result) -> None:
    """Writes `model_dir/result.json`."""
    shared_files.write_text(posixpath.join(model_dir, _RESULT_FILE), result.to_json(ended))


def has_result_since(model_dir: str, secs: float) -> bool:
    """Returns whether `result.json` was written at or after `secs` since the epoch."""
    path = posixpath.join(model_dir, _RESULT_FILE)
    try:
        # TensorFlow 2.15 rounds to whole seconds.
        return bool(tf.io.gfile.stat(path).mtime_nsec >= int(secs) * 1_000_000_000)
    except tf.errors.OpError:
        return False


def paths_in(folder: str) -> list[str]:
    """Returns the paths of the checkpoints in a folder, oldest first."""
    pattern = posixpath.join(shared_files.escape(folder), "model.ckpt-*.index")
    paths = [path.removesuffix(".index") for path in tf.io.gfile.glob(pattern)]
    return sorted(paths, key=step_of)


def exports_in(model_dir: str) -> list[str]:
    """Returns the paths of the exports in a model_dir, which their numbers sort by age."""
    pattern = posixpath.join(shared_files.escape(model_dir), "export", "*", "[0-9]*")
    return sorted(path.rstrip("/") for path in tf.io.gfile.glob(pattern))


def all_of(model_dir: str) -> dict[int, int]:
    """Returns the sizes of all checkpoints in bytes, by global step."""
    return {step_of(path): _size_of_files(f"{shared_files.escape(path)}.*")
            for path in paths_in(model_dir)}


def _size_of_files(pattern: str) -> int:
    """Returns the bytes of all files of a pattern; files that vanish meanwhile count as 0."""
    size = 0
    for path in tf.io.gfile.glob(pattern):
        with contextlib.suppress(tf.errors.NotFoundError):
            size += int(tf.io.gfile.stat(path).length)
    return size


def _best_dir(model_dir: str) -> str:
    return posixpath.join(model_dir, _BEST_DIR)
