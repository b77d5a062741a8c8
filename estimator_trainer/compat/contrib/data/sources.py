"""Datasets of `tf.contrib.data` whose kernels TensorFlow still has.

Follows the APIs of `readers.py` and `sliding.py` in `tensorflow/contrib/data/python/ops/` of
TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.util import nest
from tensorflow.python.ops import gen_experimental_dataset_ops as kernels


class LMDBDataset(dataset_ops.DatasetSource):
    """The pairs of a key and a value, strings of shape [], in files of LMDB."""

    def __init__(self, filenames: Any) -> None:
        """Takes one file name or several."""
        self._filenames = tf.convert_to_tensor(filenames, tf.string, name="filenames")
        super().__init__(kernels.lmdb_dataset(self._filenames, **self._flat_structure))

    @property
    def element_spec(self) -> Any:
        """The type and shape of an element."""
        return tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.string)


class SlidingWindowDataset(dataset_ops.UnaryDataset):
    """The whole windows of a dataset, each a batch."""

    def __init__(self, dataset: Any, size: Any, shift: Any, stride: Any) -> None:
        """Takes the elements in a window, the step between windows, and that between elements."""
        self._element_spec = nest.map_structure(lambda spec: spec._batch(None),
                                                dataset_ops.get_structure(dataset))
        size, shift, stride = (tf.convert_to_tensor(each, tf.int64)
                               for each in (size, shift, stride))
        super().__init__(dataset, kernels.sliding_window_dataset(
            dataset._variant_tensor, window_size=size, window_shift=shift, window_stride=stride,
            **self._flat_structure))

    @property
    def element_spec(self) -> Any:
        """The type and shape of an element."""
        return self._element_spec
