"""How the tests of input_fns read a dataset: as one of several pipelines, or in a graph."""

from __future__ import annotations

import pathlib
from typing import Any, Callable

import pytest
import tensorflow as tf


def context(pipelines: int = 1, pipeline_id: int = 0,
            replicas: int = 1) -> tf.distribute.InputContext:
    """Returns the context of one of several pipelines, each for so many replicas in sync."""
    return tf.distribute.InputContext(num_input_pipelines=pipelines,
                                      input_pipeline_id=pipeline_id,
                                      num_replicas_in_sync=replicas)


def parts_of(rows: int, files: int) -> list[range]:
    """Returns which rows each of so many files holds: all in order, in unequal parts."""
    ends = [rows * (i + 1) ** 2 // files ** 2 for i in range(files)]
    return [range(start, end) for start, end in zip([0, *ends], ends)]


def folders_of(write_files: Callable[[pathlib.Path, int], str],
               factory: pytest.TempPathFactory) -> dict[int, str]:
    """Returns {number of files: pattern of so many files with all rows}."""
    return {files: write_files(factory.mktemp(f"files{files}"), files) for files in (1, 3, 4)}


def read_in_a_graph(make_dataset: Callable[[], tf.data.Dataset], feature: str) -> list[Any]:
    """Returns a feature of every record of the dataset that is made in a graph."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        batch = tf.compat.v1.data.make_one_shot_iterator(make_dataset()).get_next()
        got: list[Any] = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                read = session.run(batch)
                got.extend((read[0] if isinstance(read, tuple) else read)[feature])
    return got
