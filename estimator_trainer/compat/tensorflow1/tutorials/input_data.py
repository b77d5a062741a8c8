"""MNIST's four files as arrays, as tutorials of TensorFlow 1 read them.

    from tensorflow.examples.tutorials.mnist import input_data
    mnist = input_data.read_data_sets("/data/mnist", one_hot=True)
    images, labels = mnist.train.next_batch(100)

TensorFlow 1 fetched files that were not there; here they have to be there.

Source: tensorflow/contrib/learn/python/learn/datasets/mnist.py of TensorFlow 1.15
"""

from __future__ import annotations

import gzip
import os
from typing import Any, NamedTuple, Optional
import zlib

import numpy as np
import tensorflow as tf

from estimator_trainer.errors import ConfigError

# The last byte of a file's magic number says how many lengths follow it.
_MAGIC = {"images-idx3-ubyte": 0x803, "labels-idx1-ubyte": 0x801}
_CLASSES = 10


class DataSet:
    """Images and labels, and their batches.

    Attributes:
      images: [num_examples, 784] or [num_examples, 28, 28, 1], float32 in [0, 1] or uint8.
      labels: uint8 [num_examples], or float64 [num_examples, 10] if they are one-hot.
      num_examples: How many there are.
      epochs_completed: How often `next_batch` has gone through them.
    """

    def __init__(self, images: np.ndarray, labels: np.ndarray, fake_data: bool = False,
                 one_hot: bool = False, dtype: Any = tf.float32, reshape: bool = True,
                 seed: Optional[int] = None):
        """Takes images of [n, rows, columns, 1], uint8.

        Raises:
          ConfigError: Fake data is asked for.
          TypeError: `dtype` is neither tf.float32 nor tf.uint8.
        """
        del one_hot
        _refuse_fakes(fake_data)
        # NumPy's own random numbers start anew, from the graph's seed where there is none here.
        of_graph, of_set = tf.compat.v1.random.get_seed(seed)
        np.random.seed(of_graph if seed is None else of_set)
        if tf.as_dtype(dtype).base_dtype not in (tf.uint8, tf.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        if reshape:
            images = images.reshape(len(images), -1)
        if tf.as_dtype(dtype) == tf.float32:
            images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self.images, self.labels = images, labels
        self.num_examples, self.epochs_completed = len(images), 0
        self._index = 0

    def next_batch(self, batch_size: int, fake_data: bool = False,
                   shuffle: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Returns the next images and labels; each epoch has an order of its own.

        Raises:
          ConfigError: fake data is asked for.
        """
        _refuse_fakes(fake_data)
        if self._index == 0 and self.epochs_completed == 0 and shuffle:
            self._shuffle()
        start, self._index = self._index, self._index + batch_size
        if self._index <= self.num_examples:
            return self.images[start:self._index], self.labels[start:self._index]
        rest = self.images[start:], self.labels[start:]
        self.epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index = batch_size - len(rest[0])
        return (np.concatenate([rest[0], self.images[:self._index]]),
                np.concatenate([rest[1], self.labels[:self._index]]))

    def _shuffle(self) -> None:
        order = np.random.permutation(self.num_examples)
        self.images, self.labels = self.images[order], self.labels[order]


class Datasets(NamedTuple):
    """The three parts of MNIST."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(train_dir: str, fake_data: bool = False, one_hot: bool = False,
                   dtype: Any = tf.float32, reshape: bool = True, validation_size: int = 5000,
                   seed: Optional[int] = None, **fetching: str) -> Datasets:
    """Returns MNIST, of whose training images the first `validation_size` are kept apart.

    Args:
      train_dir: Folder of the four files, gzipped or not, local or in a bucket.
      fake_data: Must be False.
      one_hot: Whether labels are one-hot.
      dtype: tf.float32, pixels in [0, 1], or tf.uint8.
      reshape: Whether an image is 784 numbers in a row.
      validation_size: How many training images become `validation`.
      seed: Seed of the order of the batches; the graph's without.
      **fetching: `source_url`, which is not used, since nothing is fetched.

    Raises:
      ConfigError: A file is not there, or is none of MNIST.
    """
    del fetching
    _refuse_fakes(fake_data)
    parts = {split: (_images(train_dir, split), _labels(train_dir, split, one_hot))
             for split in ("train", "t10k")}
    images, labels = parts["train"]
    if not 0 <= validation_size <= len(images):
        raise ConfigError(f"validation_size is {validation_size} (from read_data_sets); expected 0"
                          f" to {len(images)}, the number of training images")
    kept, rest = slice(validation_size), slice(validation_size, None)
    return Datasets(*(DataSet(*each, dtype=dtype, reshape=reshape, seed=seed) for each in (
        (images[rest], labels[rest]), (images[kept], labels[kept]), parts["t10k"])))


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """Returns `read_data_sets` of a folder."""
    return read_data_sets(train_dir)


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Datasets:
    """Returns "mnist", from the folder MNIST-data.

    Raises:
      ConfigError: Another dataset is asked for.
    """
    del size, test_with_fake_data
    if name != "mnist":
        raise ConfigError(f"name is {name!r} (from tf.contrib.learn.datasets.load_dataset);"
                          " expected 'mnist'. For others, use tensorflow_datasets")
    return load_mnist()


def _images(folder: str, split: str) -> np.ndarray:
    return _content(folder, f"{split}-images-idx3-ubyte")[..., None]


def _labels(folder: str, split: str, one_hot: bool) -> np.ndarray:
    labels = _content(folder, f"{split}-labels-idx1-ubyte")
    return np.eye(_CLASSES)[labels] if one_hot else labels


def _content(folder: str, name: str) -> np.ndarray:
    """Returns the numbers of a file, uint8 [images, rows, columns] or [labels]."""
    path = next(filter(tf.io.gfile.exists, (os.path.join(folder, name + ending)
                                            for ending in (".gz", ""))), "")
    if not path:
        raise ConfigError(f"train_dir is {folder!r} (from read_data_sets), and holds no {name}.gz;"
                          " expected a folder of MNIST's four files, which are not fetched here")
    with tf.io.gfile.GFile(path, "rb") as file:
        content = file.read()
    try:
        content = gzip.decompress(content) if path.endswith(".gz") else content
        magic = _MAGIC[name.partition("-")[2]]
        lengths = np.frombuffer(content[4:4 + 4 * (magic & 0xff)], ">u4").tolist()
        if content[:4] == magic.to_bytes(4, "big"):
            return np.frombuffer(content, np.uint8, offset=4 + 4 * len(lengths)).reshape(lengths)
    except (EOFError, OSError, ValueError, zlib.error):
        pass  # The sentence below is for these too.
    raise ConfigError(f"{path} is no file of MNIST's, or is truncated; expected IDX, uint8")


def _refuse_fakes(fake_data: bool) -> None:
    if fake_data:
        raise ConfigError("fake_data is True (from read_data_sets); expected False")
