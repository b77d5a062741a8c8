"""Linear operators and norms for the solvers.

The API is that of `tensorflow/contrib/solvers/python/ops/util.py` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf


class LinearOperator(NamedTuple):
    """A matrix, as the functions that multiply it and its adjoint by a column."""

    shape: Any
    dtype: Any
    apply: Any
    apply_adjoint: Any


def create_operator(matrix: Any) -> LinearOperator:
    """Returns the operator of a matrix, [m, n]."""
    return LinearOperator(_shape(matrix), matrix.dtype,
                          lambda v: tf.matmul(matrix, v, adjoint_a=False),
                          lambda v: tf.matmul(matrix, v, adjoint_a=True))


def identity_operator(matrix: Any) -> LinearOperator:
    """Returns the identity, with the shape and type of a matrix."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


def _shape(matrix: Any) -> Any:
    shape = matrix.shape
    return shape.as_list() if shape.is_fully_defined() else tf.shape(matrix)


def dot(x: Any, y: Any) -> Any:
    """Returns the inner product of two tensors, a number."""
    return tf.reduce_sum(tf.math.conj(x) * y)


def l2norm_squared(v: Any) -> Any:
    """Returns the sum of squares, a number."""
    return tf.constant(2, v.dtype.base_dtype) * tf.nn.l2_loss(v)


def l2norm(v: Any) -> Any:
    """Returns the square root of the sum of squares, a number."""
    return tf.sqrt(l2norm_squared(v))


def l2normalize(v: Any) -> Any:
    """Returns a tensor divided by its norm, and the norm."""
    norm = l2norm(v)
    return v / norm, norm


def column_of_zeros(operator: Any, dtype: Any) -> Any:
    """Returns the zeros that an operator can be applied to, [n, 1]."""
    return tf.expand_dims(tf.zeros(operator.shape[1:], dtype.base_dtype), -1)
