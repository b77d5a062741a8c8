"""The event files that training and evaluations leave for TensorBoard."""

from __future__ import annotations

import posixpath
from typing import Any, Iterator

import tensorflow as tf

from estimator_trainer.coordination import small_files


def events(folder: str) -> Iterator[Any]:
    """Yields the events of the files in a folder, file by file, up to where each is damaged."""
    pattern = posixpath.join(small_files.escape(folder), "events.out.tfevents.*")
    for path in sorted(tf.io.gfile.glob(pattern)):
        try:
            yield from tf.compat.v1.train.summary_iterator(path)
        except (tf.errors.DataLossError, tf.errors.NotFoundError):
            continue  # A process was killed while it wrote the last event, or the file is gone.
