"""Writes an image set as TFRecord files; each is written completely or not at all."""

from __future__ import annotations

import itertools
import os
from typing import Iterable
import uuid

import numpy as np
import tensorflow as tf

from input_fns.convert.sources import ImageSet
from input_fns.reading import dataset_json
from input_fns.reading.errors import DataParamError


def write(images: ImageSet, folder: str, shards: int) -> list[str]:
    """Writes SPLIT-00000-of-0000N.tfrecord for every split, then dataset.json.

    The records keep their order from the first file to the last; the files' sizes differ by at
    most one record.

    Args:
      images: The images to write.
      folder: The folder to write to; created if it does not exist.
      shards: N, the number of files of each split.

    Returns:
      The names of the files in the folder.

    Raises:
      DataParamError: A split is smaller than `shards`, or the folder holds other such files.
    """
    names = {split: [dataset_json.file_name(split, i, shards) for i in range(shards)]
             for split in images.splits}
    _check(images, folder, shards, {name for parts in names.values() for name in parts})
    if not _is_whole_at_once(folder):
        tf.io.gfile.makedirs(folder)
    for split, parts in names.items():
        records = iter(images.splits[split].records)
        count = images.splits[split].count
        for i, name in enumerate(parts):
            part = itertools.islice(records, (i + 1) * count // shards - i * count // shards)
            serialized = (_example(*record).SerializeToString() for record in part)
            _write_whole(folder, name, serialized)
    facts = {"num_examples": {split: part.count for split, part in images.splits.items()},
             "num_classes": images.num_classes, "image_shape": list(images.image_shape),
             **({"class_names": list(images.class_names)} if images.class_names else {})}
    path = _temporary(folder, dataset_json.NAME)
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(dataset_json.dump(facts))
    _give_name(path, os.path.join(folder, dataset_json.NAME))
    return [*itertools.chain.from_iterable(names.values()), dataset_json.NAME]


def _write_whole(folder: str, name: str, records: Iterable[bytes]) -> None:
    path = _temporary(folder, name)
    try:
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)
        _give_name(path, os.path.join(folder, name))
    except BaseException:
        if tf.io.gfile.exists(path):
            tf.io.gfile.remove(path)
        raise


def _is_whole_at_once(folder: str) -> bool:
    """Returns whether the storage is an object store: it shows only whole files, has no folders."""
    return folder.startswith(("gs://", "s3://", "az://"))


def _give_name(path: str, name: str) -> None:
    if path != name:
        tf.io.gfile.rename(path, name, overwrite=True)


def _temporary(folder: str, name: str) -> str:
    """Returns a path to write a file to until it is whole; no pattern of data files matches it."""
    if _is_whole_at_once(folder):
        return os.path.join(folder, name)
    return os.path.join(folder, f".{name}.{uuid.uuid4().hex[:8]}.tmp")


def _example(key: str, image: np.ndarray, label: int) -> tf.train.Example:
    features = {
        "image_raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
        "pixels": tf.train.Feature(int64_list=tf.train.Int64List(value=[image.size])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        "key": tf.train.Feature(bytes_list=tf.train.BytesList(value=[key.encode()])),
    }
    return tf.train.Example(features=tf.train.Features(feature=features))


def _check(images: ImageSet, folder: str, shards: int, names: set[str]) -> None:
    smallest = min(part.count for part in images.splits.values())
    if not 1 <= shards <= smallest:
        raise DataParamError(f"shards is {shards}; expected 1 to {smallest}, the records of the "
                             "smallest split. For example: --shards=1")
    held = set(tf.io.gfile.listdir(folder)) if tf.io.gfile.isdir(folder) else set()
    others = sorted(name for name in held - names if dataset_json.is_file_name(name))
    if others:
        raise DataParamError(
            f"output is {folder!r}, which holds {others[0]}, of another conversion, and one "
            f"pattern would match both; expected a folder without. For example: "
            f"--output={folder.rstrip('/')}-{shards}")
