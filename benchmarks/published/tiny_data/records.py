"""Files of tf.train.Example."""

from __future__ import annotations

import pathlib
from typing import Any, Callable, Sequence

import tensorflow as tf


def ints(values: Sequence[int]) -> Any:
    """Returns a feature of int64."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(values: Sequence[float]) -> Any:
    """Returns a feature of float32."""
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def raw(value: bytes) -> Any:
    """Returns a feature of one string."""
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def write(path: pathlib.Path, example: Callable[[int], dict[str, Any]], count: int,
          compression: str = "") -> None:
    """Writes `count` examples, made by `example` from their number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for number in range(count):
            features = tf.train.Features(feature=example(number))
            writer.write(tf.train.Example(features=features).SerializeToString())
