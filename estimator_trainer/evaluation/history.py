"""The history of a model_dir's evaluations, read from the event files that they left."""

from __future__ import annotations

import posixpath
from typing import Any

import tensorflow as tf

from estimator_trainer.coordination import small_files
from estimator_trainer.evaluation import event_files


def read(model_dir: str) -> list[dict[str, Any]]:
    """Returns the metrics of each evaluated step, `global_step` included, in the order of steps.

    A step that was evaluated twice has its later metrics. An evaluation set that has a name has
    entries of its own, with that name as `eval_name`.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    folders = tf.io.gfile.glob(posixpath.join(small_files.escape(model_dir), "eval*"))
    for folder in sorted(folders):
        name = posixpath.basename(folder.rstrip("/")).removeprefix("eval").lstrip("_")
        for event in event_files.events(folder):
            metrics = {value.tag: value.simple_value for value in event.summary.value
                       if value.HasField("simple_value")}
            if metrics:
                step = int(event.step)
                found[step, name] = {"global_step": step, **({"eval_name": name} if name else {}),
                                     **dict(sorted(metrics.items()))}
    return [found[key] for key in sorted(found)]
