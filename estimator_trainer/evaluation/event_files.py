"""The event files that training and evaluations leave for TensorBoard."""

import math
import posixpath
import time
from typing import Any, Iterator, Mapping

from absl import logging
from google.protobuf import message  # type: ignore[import-untyped]
import numpy as np
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import shared_files
from estimator_trainer.patches import private_api

_MIRROR_SECS = 60


def events(folder: str) -> Iterator[Any]:
    """Yields the events of the files in a folder, file by file, up to where each is damaged."""
    for path in sorted(tf.io.gfile.glob(_pattern(folder))):
        try:
            yield from tf.compat.v1.train.summary_iterator(path)
        except (tf.errors.DataLossError, tf.errors.NotFoundError):
            continue  # A process was killed while writing the last event, or the file is gone.


def _of_evaluations(model_dir: str) -> list[str]:
    return sorted(tf.io.gfile.glob(posixpath.join(shared_files.escape(model_dir), "eval*")))


def _pattern(folder: str) -> str:
    return posixpath.join(shared_files.escape(folder), "events.out.tfevents.*")


def close_deleted(model_dir: str) -> None:
    """Closes event files that this process has open in a model_dir, where they were deleted.

    `FileWriterCache` keeps the writer of each folder as long as the process lives. A notebook
    that deletes a model_dir and trains into it again would write to the deleted files.
    """
    writers = getattr(tf.compat.v1.summary.FileWriterCache, private_api.EVENT_WRITERS)
    within = posixpath.join(model_dir, "")
    for folder in [each for each in writers if posixpath.join(each, "").startswith(within)]:
        if not tf.io.gfile.glob(_pattern(folder)):
            writers.pop(folder).close()


class Mirror:
    """A copy of the event files of a model_dir and of its evaluations, in another directory."""

    def __init__(self, model_dir: str, folder: str):
        self._model_dir, self._folder = model_dir, folder
        self._sizes: dict[str, int] = {}
        self._copied_at = -math.inf

    def copy_sometimes(self) -> None:
        """Copies what is new, unless that was done a short time ago."""
        if time.monotonic() > self._copied_at + _MIRROR_SECS:
            self.copy()

    def copy(self) -> None:
        """Copies the files that have grown; a failure is logged, since training needs no copy."""
        try:
            for folder in [self._model_dir, *_of_evaluations(self._model_dir)]:
                for path in tf.io.gfile.glob(_pattern(folder)):
                    self._copy_one(path)
        except tf.errors.OpError as error:
            logging.warning("cannot copy events to %s: %s", self._folder, errors.first_line(error))
        self._copied_at = time.monotonic()

    def _copy_one(self, path: str) -> None:
        size = tf.io.gfile.stat(path).length
        if self._sizes.get(path) != size:
            copy = posixpath.join(self._folder, posixpath.relpath(path, self._model_dir))
            tf.io.gfile.makedirs(posixpath.dirname(copy))
            tf.io.gfile.copy(path, copy, overwrite=True)
            self._sizes[path] = size


def write(folder: str, metrics: Mapping[str, Any], checkpoint_path: str) -> None:
    """Adds the events of an evaluation to a folder, as `Estimator.evaluate` does."""
    summary = tf.compat.v1.Summary()
    for name, value in metrics.items():
        if name != "global_step":
            try:
                summary.value.extend(_values(name, value))
            except (TypeError, message.DecodeError):
                logging.warning("metric %s leaves no event: it is neither a number, nor an array,"
                                " nor a summary", name)
    path = tf.compat.v1.Summary()
    path.value.add(tag="checkpoint_path", tensor=tf.make_tensor_proto(checkpoint_path))
    writer = tf.compat.v1.summary.FileWriterCache.get(folder)
    writer.add_summary(summary, metrics["global_step"])
    writer.add_summary(path, metrics["global_step"])
    # Once for both: in a bucket each flush uploads the whole file.
    writer.flush()


def _values(name: str, value: Any) -> list[Any]:
    """Returns an event's values; TypeError, DecodeError: the Estimator leaves the metric out."""
    summary = tf.compat.v1.Summary()
    if isinstance(value, bytes):
        summary.ParseFromString(value)
        for number, each in enumerate(summary.value):
            each.tag = f"{name}/{number}"
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=name, node_name=name, tensor=tf.make_tensor_proto(value))
    elif isinstance(value, (float, np.float32, int, np.int32, np.int64)):
        summary.value.add(tag=name, simple_value=float(value))
    else:
        raise TypeError(type(value))
    return list(summary.value)


def read(model_dir: str) -> list[dict[str, Any]]:
    """Returns the metrics of each evaluated step, `global_step` included, in the order of steps.

    A step that was evaluated twice has the later metrics. A named evaluation set has separate
    entries, with its name as `eval_name`.
    """
    return [metrics for _, metrics in read_with_times(model_dir)]


def read_with_times(model_dir: str) -> list[tuple[float, dict[str, Any]]]:
    """Returns the time of each evaluation, in seconds since 1970, with its metrics as of `read`."""
    found: dict[tuple[int, str], tuple[float, dict[str, Any]]] = {}
    for folder in _of_evaluations(model_dir):
        name = posixpath.basename(folder.rstrip("/")).removeprefix("eval").lstrip("_")
        for event in events(folder):
            metrics = {value.tag: value.simple_value for value in event.summary.value
                       if value.HasField("simple_value")}
            if metrics:
                step = int(event.step)
                found[step, name] = event.wall_time, {
                    "global_step": step, **({"eval_name": name} if name else {}),
                    **dict(sorted(metrics.items()))}
    return [found[key] for key in sorted(found)]
