"""TFRecord files of numbered tf.Examples, for the tests of the input plug-in `tfrecord`."""

from __future__ import annotations

import pathlib
from typing import Any, Iterable

import tensorflow as tf

from tests.support import reading

SHAPE = [2, 3, 1]
ROWS = 23


def feature(value: Any) -> tf.train.Feature:
    """Returns bytes, a float, an int or a list of ints as a feature."""
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value, float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    values = value if isinstance(value, list) else [value]
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(**features: Any) -> bytes:
    """Returns a stored tf.Example of such features."""
    return tf.train.Example(features=tf.train.Features(
        feature={name: feature(value) for name, value in features.items()})).SerializeToString()


def row(number: int) -> bytes:
    """Returns the record of a row: an image of SHAPE, a class and a key."""
    pixels = bytes([number % 256, 0, 51, 102, 204, 255])
    return example(image_raw=pixels, pixels=6, label=number % 10, key=b"row %d" % number)


def write(path: pathlib.Path, records: Iterable[bytes], compression: str = "") -> None:
    """Writes a file of records."""
    with tf.io.TFRecordWriter(str(path), options=compression) as writer:
        for record in records:
            writer.write(record)


def write_files(folder: pathlib.Path, files: int, rows: int = ROWS) -> str:
    """Writes numbered rows to files of unequal sizes, in order; returns their pattern."""
    for i, part in enumerate(reading.parts_of(rows, files)):
        write(folder / f"part-{i}", map(row, part))
    return str(folder / "part-*")


def rows_of(dataset: tf.data.Dataset) -> list[int]:
    """Returns the numbers of the rows that a dataset yields."""
    batches = (batch[0] if isinstance(batch, tuple) else batch for batch in dataset)
    return [int(key.split()[1]) for features in batches for key in features["key"].numpy()]
