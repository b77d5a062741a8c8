"""Reads the TFRecords, with the input pipeline of a careful tf.data user."""

from __future__ import annotations

import pathlib

import tensorflow as tf

from benchmarks.suite.peers import work


def examples(records: pathlib.Path, split: str) -> tf.data.Dataset:
    """Returns the examples as `tfds.load` does: uint8 [28, 28, 1] images and int64 labels."""
    features = {"image_raw": tf.io.FixedLenFeature([], tf.string),
                "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        example = tf.io.parse_single_example(record, features)
        return (tf.reshape(tf.io.decode_raw(example["image_raw"], tf.uint8), [28, 28, 1]),
                example["label"])

    return tf.data.TFRecordDataset(sorted(map(str, records.glob(f"{split}-*")))).map(
        parse, tf.data.AUTOTUNE)


def training(todo: work.Work) -> tf.data.Dataset:
    """Returns batches without end: float32 images in [0, 1] and int64 labels.

    The images are kept in memory as bytes, and scaled batch by batch, in advance.
    """
    return (examples(todo.records, "train").cache().shuffle(10000).repeat()
            .batch(todo.batch_size, drop_remainder=True)
            .map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, label),
                 tf.data.AUTOTUNE)
            .prefetch(tf.data.AUTOTUNE))


def threads() -> int:
    """Returns the number of threads that share an op; TensorFlow's 0 means one per core."""
    return tf.config.threading.get_intra_op_parallelism_threads() or work.cores()
