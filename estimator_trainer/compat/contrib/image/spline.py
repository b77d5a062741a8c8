"""Interpolates between points by polyharmonic splines.

The API is that of `tensorflow/contrib/image/python/ops/interpolate_spline.py` of TensorFlow 1.15;
https://en.wikipedia.org/wiki/Polyharmonic_spline has the equations.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
# Added to no distance: the smallest squared distance whose root and logarithm are taken.
_SMALLEST = 1e-10


def interpolate_spline(train_points: Any, train_values: Any, query_points: Any, order: int,
                       regularization_weight: float = 0.0,
                       name: str = "interpolate_spline") -> Any:
    """Returns the values at some points of a function that is known at others.

    Args:
      train_points: [batch, n, d] floats.
      train_values: [batch, n, k] floats.
      query_points: [batch, m, d] floats.
      order: Order of the spline: 1 is linear, 2 the thin plate's.
      regularization_weight: How much the smoothness counts against the fit.
      name: A name for the ops.

    Returns:
      [batch, m, k].

    Raises:
      ValueError: when d or k is unknown.
    """
    with v1.name_scope(name):
        train_points = tf.convert_to_tensor(train_points)
        train_values = tf.convert_to_tensor(train_values)
        query_points = tf.convert_to_tensor(query_points)
        with v1.name_scope("solve"):
            weights, linear = _solved(train_points, train_values, order, regularization_weight)
        with v1.name_scope("predict"):
            distances = _squared_distances(query_points, train_points)
            return (tf.matmul(_phi(distances, order), weights)
                    + tf.matmul(_with_ones(query_points, train_points.dtype), linear))


def _solved(points: Any, values: Any, order: int, regularization_weight: float) -> Any:
    """Returns the weights of the points, [batch, n, k], and of the linear part, [batch, d + 1, k].

    Both solve the system [[A, B], [B^T, 0]] [w, v] = [values, 0] with A the radial functions of
    the distances of the points, and B the points with a 1.
    """
    for size, what in ((points.shape[-1], "input points (d)"),
                       (values.shape[-1], "output values (k)")):
        if tf.compat.dimension_value(size) is None:
            raise ValueError(f"The dimensionality of the {what} must be statically-inferrable.")
    batch, count, _ = tf.unstack(tf.shape(points), num=3)
    radial = _phi(_squared_distances(points, points), order)
    if regularization_weight > 0:
        radial += regularization_weight * tf.eye(count, dtype=points.dtype)[None]
    linear = _with_ones(points, points.dtype)
    columns = int(linear.shape[2])
    left = tf.concat([radial, tf.transpose(linear, [0, 2, 1])], 1)
    right = tf.concat([linear, tf.zeros([batch, columns, columns], points.dtype)], 1)
    wanted = tf.concat(
        [values, tf.zeros([batch, columns, int(values.shape[-1])], points.dtype)], 1)
    solution = tf.linalg.solve(tf.concat([left, right], 2), wanted)
    return solution[:, :count, :], solution[:, count:, :]


def _with_ones(points: Any, dtype: Any) -> Any:
    return tf.concat([points, v1.ones_like(points[..., :1], dtype)], 2)


def _squared_distances(x: Any, y: Any) -> Any:
    """Returns the squared distances of x, [batch, n, d], and y, [batch, m, d]: [batch, n, m]."""
    products = tf.matmul(x, y, adjoint_b=True)
    return (tf.reduce_sum(tf.square(x), 2)[:, :, None] - 2 * products
            + tf.reduce_sum(tf.square(y), 2)[:, None, :])


def _phi(squared: Any, order: int) -> Any:
    """Returns the radial function of squared distances."""
    with v1.name_scope("phi"):
        above_0 = tf.maximum(squared, _SMALLEST)
        if order == 1:
            return tf.sqrt(above_0)
        if order == 2:
            return 0.5 * squared * tf.math.log(above_0)
        if order == 4:
            return 0.5 * tf.square(squared) * tf.math.log(above_0)
        power = tf.pow(above_0, 0.5 * order)
        return 0.5 * power * tf.math.log(above_0) if order % 2 == 0 else power
