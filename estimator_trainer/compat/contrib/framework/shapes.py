"""Checks of types and shapes, at once where they are known and by operations where they are not.

Source: tensorflow/contrib/framework/python/framework/tensor_util.py of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf


def assert_scalar_int(tensor: Any, name: Any = None) -> Any:
    """Returns the tensor.

    Raises:
      ValueError: the tensor is no scalar integer.
    """
    tensor = tf.convert_to_tensor(tensor)
    if not tensor.dtype.base_dtype.is_integer:
        raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
    return tf.compat.v1.assert_scalar(tensor, name)


def reduce_sum_n(tensors: Any, name: Any = None) -> Any:
    """Returns the sum of all numbers of several tensors, a scalar.

    Raises:
      ValueError: there are no tensors.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.compat.v1.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tf.reduce_sum(each, name=f"{each.op.name}/sum") for each in tensors]
        return sums[0] if len(sums) == 1 else tf.add_n(sums, name=scope)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: Any = None) -> Any:
    """Returns both, the one of higher rank without its last dimension of 1."""
    from tensorflow.python.ops import confusion_matrix
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions,
                                                                        name=name)
    return predictions, labels


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """Returns a tensor, whose shape has to be that of another.

    Raises:
      ValueError: the known shapes differ.
    """
    shape = expected_tensor.shape
    return with_shape(shape.as_list() if shape.is_fully_defined() else tf.shape(expected_tensor),
                      tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """Returns a tensor, whose shape has to be the one given; 1 number becomes a scalar for [].

    Args:
      expected_shape: A list, an array of int32, a TensorShape or a tensor of int32.
      tensor: The tensor.

    Raises:
      ValueError: the shape is another, as far as it is known, or the arguments are of other types.
    """
    if isinstance(tensor, tf.sparse.SparseTensor):
        raise ValueError("SparseTensor not supported.")
    is_tensor = tf.is_tensor(expected_shape)
    if not is_tensor and not isinstance(expected_shape, tf.TensorShape):
        expected_shape = _as_array(expected_shape)
    _check_shape(expected_shape, tensor)
    is_scalar = not is_tensor and len(expected_shape) == 0
    if is_tensor or not tensor.shape.is_fully_defined():
        return tf.reshape(tensor, []) if is_scalar else _asserted(expected_shape, tensor)
    if tensor.shape.is_compatible_with(expected_shape):
        return tensor
    if is_scalar and tensor.shape.is_compatible_with([1]):
        return tf.reshape(tensor, [])
    raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected_shape}, got "
                     f"{tensor.shape}.")


def _as_array(shape: Any) -> Any:
    if isinstance(shape, np.ndarray):
        return shape
    array = np.asarray(shape)
    return array.astype(np.int32) if array.dtype == np.int64 or not array.size else array


def _check_shape(shape: Any, tensor: Any) -> None:
    is_array = isinstance(shape, np.ndarray)
    if is_array and shape.ndim > 1:
        raise ValueError(f"Invalid rank {shape.ndim} for shape {shape} expected of tensor "
                         f"{tensor.name}.")
    if (is_array or tf.is_tensor(shape)) and shape.dtype != np.int32 and shape.dtype != tf.int32:
        raise ValueError(f"Invalid dtype {shape.dtype} for shape {shape} expected of tensor "
                         f"{tensor.name}.")


def _asserted(shape: Any, tensor: Any) -> Any:
    expected = shape
    if isinstance(shape, tf.TensorShape):
        expected = [-1 if size is None else size for size in shape.as_list()]
    found = tf.shape(tensor)
    is_right = tf.equal(tf.size(expected), tf.rank(tensor)) & tf.reduce_all(
        tf.equal(expected, -1) | tf.equal(expected, found))
    with tf.control_dependencies([tf.debugging.Assert(is_right, [
            f"Wrong shape for {tensor.name} [expected] [actual].", expected, found])]):
        result = tf.identity(tensor)
    if not tf.is_tensor(shape):
        result.set_shape([None if size == -1 else size for size in expected])
    return result
