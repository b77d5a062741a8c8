"""Transformations for `Dataset.apply` that were in `tf.contrib.data` alone.

Follows the API of `tensorflow/contrib/data/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.util import nest

from estimator_trainer.compat.contrib.data import sources

_V1 = tf.compat.v1
_Transformation = Callable[[Any], Any]


def batch_and_drop_remainder(batch_size: Any) -> _Transformation:
    """Returns a transformation: whole batches alone."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any,
                                    padding_values: Any = None) -> _Transformation:
    """Returns a transformation: whole padded batches alone."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values,
                                                drop_remainder=True)


def sloppy_interleave(map_func: Callable[..., Any], cycle_length: Any,
                      block_length: Any = 1) -> _Transformation:
    """Returns a transformation: elements of several datasets, in the order in which they come."""
    transformation: _Transformation = _V1.data.experimental.parallel_interleave(
        map_func, cycle_length, block_length, sloppy=True)
    return transformation


def sliding_window_batch(window_size: Any, stride: Any = None, window_shift: Any = None,
                         window_stride: Any = 1) -> _Transformation:
    """Returns a transformation: each window of the elements as a batch; only whole windows.

    Args:
      window_size: Elements in a window.
      stride: The old name of `window_shift`.
      window_shift: How many elements the next window starts later; 1 by default.
      window_stride: The step between the elements of a window.

    Raises:
      ValueError: Both `stride` and `window_shift` are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("stride and window_shift are given; expected one of them")
    shift = stride if window_shift is None else window_shift
    return lambda dataset: sources.SlidingWindowDataset(
        dataset, window_size, 1 if shift is None else shift, window_stride)


def assert_element_shape(expected_shapes: Any) -> _Transformation:
    """Returns a transformation that gives its elements static shapes, and checks them.

    Args:
      expected_shapes: A structure of TensorShapes; what they leave open is not checked.

    Raises:
      ValueError: when it is applied, if a static shape is not the expected one.
    """
    def check(*elements: Any) -> Any:
        shapes = nest.flatten(expected_shapes)
        checked: Any = [each if shape.rank is None else _V1.ensure_shape(each, shape)
                        for each, shape in zip(nest.flatten(elements), shapes)]
        checked = nest.pack_sequence_as(elements, checked)
        return checked if len(checked) > 1 else checked[0]

    def apply(dataset: Any) -> Any:
        known = _V1.data.get_output_shapes(dataset)
        for shape, expected in zip(nest.flatten(known),
                                   nest.flatten_up_to(known, expected_shapes)):
            shape.assert_is_compatible_with(expected)
        return dataset.map(check)

    return apply


def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """Returns the result of a `tf.data.experimental.Reducer` on all elements.

    Raises:
      TypeError: `dataset` is no dataset.
    """
    if not isinstance(dataset, dataset_ops.DatasetV2):
        raise TypeError(f"dataset is {dataset!r}; expected a tf.data.Dataset")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)


def read_batch_features(file_pattern: Any, batch_size: Any, features: Any,
                        reader: Any = _V1.data.TFRecordDataset, reader_args: Any = None,
                        randomize_input: bool = True, num_epochs: Any = None,
                        capacity: int = 10000) -> Any:
    """Returns the next batch of the Examples in files, as `tf.io.parse_example` parses them.

    Args:
      file_pattern: File names, or patterns of them.
      batch_size: Examples in a batch.
      features: {name: FixedLenFeature or VarLenFeature}.
      reader: Makes a dataset of serialized Examples of file names and `reader_args`.
      reader_args: More arguments of `reader`.
      randomize_input: Whether the order is random.
      num_epochs: How often the files are read; without end by default.
      capacity: How many Examples are shuffled at a time.
    """
    dataset = _V1.data.experimental.make_batched_features_dataset(
        file_pattern, batch_size, features, reader=reader, reader_args=reader_args,
        shuffle=randomize_input, num_epochs=num_epochs, shuffle_buffer_size=capacity)
    return _V1.data.make_one_shot_iterator(dataset).get_next()
