"""The history of a model_dir's evaluations, read from the event files that they left."""

from __future__ import annotations

import posixpath
from typing import Any

import tensorflow as tf

from estimator_trainer.coordination import small_files


def read(model_dir: str) -> list[dict[str, Any]]:
    """Returns the metrics of each evaluated step, `global_step` included, in the order of steps.

    A step that was evaluated twice has its later metrics. An evaluation set that has a name has
    entries of its own, with that name as `eval_name`.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    folders = tf.io.gfile.glob(posixpath.join(small_files.escape(model_dir), "eval*"))
    for folder in sorted(folders):
        name = posixpath.basename(folder.rstrip("/")).removeprefix("eval").lstrip("_")
        for path in sorted(tf.io.gfile.glob(posixpath.join(small_files.escape(folder),
                                                           "events.out.tfevents.*"))):
            for step, metrics in _events(path):
                found[step, name] = {"global_step": step, **({"eval_name": name} if name else {}),
                                     **metrics}
    return [found[key] for key in sorted(found)]


def _events(path: str) -> list[tuple[int, dict[str, float]]]:
    """Returns the scalars of each event of a file, up to where it is damaged."""
    found = []
    try:
        for event in tf.compat.v1.train.summary_iterator(path):
            metrics = {value.tag: value.simple_value for value in event.summary.value
                       if value.HasField("simple_value")}
            if metrics:
                found.append((int(event.step), dict(sorted(metrics.items()))))
    except tf.errors.DataLossError:
        pass  # A process was killed while it wrote the last event.
    return found
