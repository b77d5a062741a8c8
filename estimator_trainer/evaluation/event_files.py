"""The event files that training and evaluations leave for TensorBoard."""

from __future__ import annotations

import posixpath
from typing import Any, Iterator

import tensorflow as tf

from estimator_trainer.coordination import shared_files


def events(folder: str) -> Iterator[Any]:
    """Yields the events of the files in a folder, file by file, up to where each is damaged."""
    pattern = posixpath.join(shared_files.escape(folder), "events.out.tfevents.*")
    for path in sorted(tf.io.gfile.glob(pattern)):
        try:
            yield from tf.compat.v1.train.summary_iterator(path)
        except (tf.errors.DataLossError, tf.errors.NotFoundError):
            continue  # A process was killed while it wrote the last event, or the file is gone.


def read(model_dir: str) -> list[dict[str, Any]]:
    """Returns the metrics of each evaluated step, `global_step` included, in the order of steps.

    A step that was evaluated twice has its later metrics. An evaluation set that has a name has
    entries of its own, with that name as `eval_name`.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    folders = tf.io.gfile.glob(posixpath.join(shared_files.escape(model_dir), "eval*"))
    for folder in sorted(folders):
        name = posixpath.basename(folder.rstrip("/")).removeprefix("eval").lstrip("_")
        for event in events(folder):
            metrics = {value.tag: value.simple_value for value in event.summary.value
                       if value.HasField("simple_value")}
            if metrics:
                step = int(event.step)
                found[step, name] = {"global_step": step, **({"eval_name": name} if name else {}),
                                     **dict(sorted(metrics.items()))}
    return [found[key] for key in sorted(found)]
