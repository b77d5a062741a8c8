"""Digits of noise: MNIST as IDX files and as TensorFlow Datasets keep it."""

from __future__ import annotations

import gzip
import pathlib
import struct

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

_TRAIN, _TEST = 256, 64


def make(root: pathlib.Path) -> None:
    """Makes the folders mnist/, of gzipped IDX, and tensorflow_datasets/mnist."""
    numbers = np.random.RandomState(0)
    sets = {name: (numbers.randint(0, 256, (count, 28, 28)).astype(np.uint8),
                   numbers.randint(0, 10, count).astype(np.uint8))
            for name, count in (("train", _TRAIN), ("t10k", _TEST))}
    for name, (images, labels) in sets.items():
        _idx(root / "mnist" / f"{name}-images-idx3-ubyte.gz", 0x803, images)
        _idx(root / "mnist" / f"{name}-labels-idx1-ubyte.gz", 0x801, labels)
    if not (root / "tensorflow_datasets" / "mnist").exists():
        tfds.dataset_builders.store_as_tfds_dataset(
            name="mnist", version="3.0.1", data_dir=root / "tensorflow_datasets",
            features=tfds.features.FeaturesDict({
                "image": tfds.features.Image(shape=(28, 28, 1)),
                "label": tfds.features.ClassLabel(num_classes=10)}),
            split_datasets={"train": _rows(*sets["train"]), "test": _rows(*sets["t10k"])})


def _rows(images: np.ndarray, labels: np.ndarray) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(
        {"image": images[..., None], "label": labels.astype(np.int64)})


def _idx(path: pathlib.Path, magic: int, array: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(f">{1 + array.ndim}i", magic, *array.shape) + array.tobytes())
