"""Reads labelled images to convert, from a TFDS dataset or from MNIST's IDX files.

The IDX format: http://yann.lecun.com/exdb/mnist (big-endian: magic number, lengths, bytes).
"""

from __future__ import annotations

import dataclasses
import functools
import gzip
import math
import os.path
from typing import Any, Iterable, Iterator, Mapping
import zlib

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns import digits, tfds as tfds_plugin
from input_fns.reading.errors import DataFileError, DataParamError
from input_fns.reading.tfds_data import known_params
from input_fns.reading.tfds_prepare import prepared

Record = tuple[str, np.ndarray, int]  # key, uint8 image, class

_IDX_PREFIXES = {"train": "train", "test": "t10k"}
_IMAGES, _LABELS = ("images-idx3-ubyte", 0x803), ("labels-idx1-ubyte", 0x801)


@dataclasses.dataclass(frozen=True)
class Split:
    """One part of an image set.

    Attributes:
      count: Number of records.
      records: The records in order.
    """

    count: int
    records: Iterable[Record]


@dataclasses.dataclass(frozen=True)
class ImageSet:
    """A set of labelled images.

    Attributes:
      splits: Parts of the set by name, such as "train" and "test".
      num_classes: Number of classes; labels are 0 to num_classes - 1.
      image_shape: (height, width, channels) of every image.
      class_names: Names of the classes in their order; none if not known.
    """

    splits: Mapping[str, Split]
    num_classes: int
    image_shape: tuple[int, ...]
    class_names: tuple[str, ...] = ()


def from_tfds(name: str, data_dir: str) -> ImageSet:
    """Returns the images of a TFDS dataset, or of the bundled `digits`; prepares it if needed.

    Raises:
      DataError: There is no dataset of that name, or it cannot be prepared.
      DataParamError: The dataset has something other than images of one shape with a class each.
    """
    make = functools.partial(digits.Digits, data_dir=data_dir or None)
    if name != "digits":
        make = functools.partial(tfds_plugin.builder, name, data_dir)
    info = make().info
    keys = (info.supervised_keys or ("", ""))[:2]
    image, label = (dict(info.features).get(key) for key in keys)
    if not _is_image_of_one_shape(image) or not isinstance(label, tfds.features.ClassLabel):
        raise DataParamError(
            f"dataset is {name!r}, whose records are {dict(info.features)}; expected uint8 images "
            "of one shape with a class each. For example: --dataset=mnist")
    ready = prepared(make)
    splits = {split: Split(found.num_examples, _TfdsRecords(ready, split, *keys))
              for split, found in ready.info.splits.items()}
    return ImageSet(splits, label.num_classes, tuple(ready.info.features[keys[0]].shape),
                    tuple(known_params(ready, keys[1], "train").get("class_names", ())))


def from_idx(folder: str) -> ImageSet:
    """Returns the images of four IDX files, gzipped or not.

    Raises:
      DataParamError: A file is missing.
      DataFileError: A file is not an IDX file, is truncated, or does not match another.
    """
    splits, shapes, labels = {}, set(), [0]
    for split, prefix in _IDX_PREFIXES.items():
        images_path, images = _read_idx(folder, prefix, *_IMAGES)
        labels_path, classes = _read_idx(folder, prefix, *_LABELS)
        if len(images) != len(classes):
            raise DataFileError(f"{images_path} holds {len(images)} images and {labels_path} "
                                f"{len(classes)} labels; expected a label for each image")
        keyed = [f"{split}__{row}" for row in range(len(images))]
        splits[split] = Split(len(images), list(zip(keyed, images[..., None], classes.tolist())))
        shapes.add((*images.shape[1:], 1))
        labels += classes.tolist()
    if len(shapes) > 1:
        raise DataFileError(f"the images in {folder} are of the shapes {sorted(shapes)}; expected "
                            "one shape for training and test")
    return ImageSet(splits, max(labels) + 1, shapes.pop())


class _TfdsRecords:
    """Iterates over the records of a split in their stored order, any number of times."""

    def __init__(self, builder: tfds.core.DatasetBuilder, split: str, image: str, label: str):
        self._builder, self._split, self._image, self._label = builder, split, image, label

    def __iter__(self) -> Iterator[Record]:
        config = tfds.ReadConfig(add_tfds_id=True, interleave_cycle_length=1, try_autocache=False)
        dataset = self._builder.as_dataset(split=self._split, read_config=config)
        for record in dataset.as_numpy_iterator():
            yield record["tfds_id"].decode(), record[self._image], int(record[self._label])


def _is_image_of_one_shape(feature: Any) -> bool:
    return (isinstance(feature, tfds.features.Image) and feature.tf_dtype == tf.uint8 and
            None not in feature.shape)


def _read_idx(folder: str, prefix: str, name: str, magic: int) -> tuple[str, np.ndarray]:
    """Returns the path of a file and its content, uint8 [images or labels, ...]."""
    names = [f"{prefix}-{name}{ending}" for ending in ("", ".gz")]
    path = next(filter(tf.io.gfile.exists, (os.path.join(folder, n) for n in names)), "")
    if not path:
        held = sorted(tf.io.gfile.listdir(folder)) if tf.io.gfile.isdir(folder) else []
        raise DataParamError(
            f"idx is {folder!r}, which holds {', '.join(held[:5]) or 'no file'}; expected "
            f"{names[0]} or {names[1]}. For example: --idx=/data/mnist")
    content = _content(path)
    head = 4 + 4 * (magic & 0xff)  # the magic number's last byte counts the lengths
    if content[:4] != magic.to_bytes(4, "big") or len(content) < head:
        raise DataFileError(f"{path} is no IDX file of uint8 {name.partition('-')[0]}: it begins "
                            f"with {content[:4]!r}; expected {magic.to_bytes(4, 'big')!r}")
    lengths = np.frombuffer(content[4:head], ">u4").tolist()
    if len(content) - head != math.prod(lengths):
        raise DataFileError(f"{path} has {len(content) - head} bytes of data; its head says "
                            f"{math.prod(lengths)} ({'x'.join(map(str, lengths))})")
    return path, np.frombuffer(content, np.uint8, offset=head).reshape(lengths)


def _content(path: str) -> bytes:
    with tf.io.gfile.GFile(path, "rb") as file:
        content = file.read()
    try:
        return gzip.decompress(content) if path.endswith(".gz") else content
    except (EOFError, OSError, zlib.error) as error:
        raise DataFileError(f"{path} is truncated or no gzip file: {error}") from error
